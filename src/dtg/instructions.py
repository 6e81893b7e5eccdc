"""Matrix instructions (AMX) that a virtual machine offers without describing them: kept from oneDNN, which would crash.

Some hypervisors pass on the flags of AMX but leave the processor's table of tile shapes (CPUID leaf 0x1D) empty. oneDNN then
configures no tiles, and its first product in bfloat16 ends the process with an illegal instruction.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import sys
from pathlib import Path

LIMIT = "ONEDNN_MAX_CPU_ISA"  # read once, when oneDNN is first used
WITHOUT_AMX = "AVX512_CORE_BF16"
# push rbx; mov eax, 0x1d; xor ecx, ecx; cpuid; pop rbx; ret: the number of tile palettes, as the function's result
PALETTES = bytes.fromhex("53 b81d000000 31c9 0fa2 5b c3")


def avoid_broken_amx() -> None:
    """Keep oneDNN from AMX where it is offered without tile shapes; a limit that the user has set is left alone."""
    if LIMIT not in os.environ and claims_amx() and tile_palettes() == 0:
        os.environ[LIMIT] = WITHOUT_AMX


def claims_amx() -> bool:
    """Whether the processor's flags list AMX tiles."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return False
    try:
        with Path("/proc/cpuinfo").open() as lines:
            return any("amx_tile" in line.split() for line in lines if line.startswith("flags"))
    except OSError:
        return False


def tile_palettes() -> int | None:
    """The highest palette of tile shapes that the processor knows; None where it cannot be asked."""
    try:
        page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except OSError:  # memory that is both writable and executable is not to be had everywhere
        return None
    page.write(PALETTES)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return int(ctypes.CFUNCTYPE(ctypes.c_uint32)(address)())
