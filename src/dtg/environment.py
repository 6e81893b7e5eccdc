"""What dtg sets for its process: how torch's threads wait for each other, and what the C allocator does with freed memory."""

from __future__ import annotations

import ctypes
import os
import platform

# Iterations of the waiting loop, about a microsecond: what GNU OpenMP itself takes where it sees more threads than cores.
SPIN_COUNT = "1000"
TRIM_THRESHOLD, TOP_PAD, MMAP_THRESHOLD = -1, -2, -3  # what malloc.h calls M_...
LARGEST, PAD = 2**31 - 1, 64 * 2**20


def sleep_while_waiting() -> None:
    """Let torch's threads sleep soon when they wait, if torch is imported later and uses GNU OpenMP.

    Threads that share an operation wait for the slowest. By default they spin, which is fastest where every thread has a
    core to itself, and slow where another program uses one of them (benchmarks/busy_core.py). What the user has set stays.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", SPIN_COUNT)


def keep_freed_memory() -> bool:
    """Let this process keep the memory it frees; false where the C library is not glibc, which is left alone.

    By default glibc returns every block of many megabytes to the system and requests it again, and the system fills it with
    zeros each time. A training step makes hundreds of such blocks. On a GPU, torch has an allocator of its own.
    """
    if platform.libc_ver()[0] != "glibc":
        return False
    set_option = ctypes.CDLL(None).mallopt
    settings = ((MMAP_THRESHOLD, LARGEST), (TRIM_THRESHOLD, LARGEST), (TOP_PAD, PAD))
    accepted = [set_option(option, value) for option, value in settings]
    return all(accepted)
