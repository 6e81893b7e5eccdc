"""How the C library's allocator treats large blocks: nothing in, and it keeps what is freed, for the next tensor of that size.

Left alone, glibc gives every block of many megabytes back to the system and asks for it anew, and the system fills it with
zeros each time. A step of training makes hundreds of such blocks. On a GPU torch has an allocator of its own.
"""

from __future__ import annotations

import ctypes
import platform

TRIM_THRESHOLD, TOP_PAD, MMAP_THRESHOLD = -1, -2, -3  # what malloc.h calls M_...
LARGEST, PAD = 2**31 - 1, 64 * 2**20


def keep_freed_memory() -> bool:
    """Have this process keep memory that it frees; false where the C library is another than glibc, which is left alone."""
    if platform.libc_ver()[0] != "glibc":
        return False
    set_option = ctypes.CDLL(None).mallopt
    settings = ((MMAP_THRESHOLD, LARGEST), (TRIM_THRESHOLD, LARGEST), (TOP_PAD, PAD))
    accepted = [set_option(option, value) for option, value in settings]
    return all(accepted)
