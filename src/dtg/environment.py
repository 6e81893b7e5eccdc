"""What dtg sets for its process: how torch's threads wait, which instructions oneDNN uses, and how freed memory is kept."""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import sys
from pathlib import Path

# Iterations of the waiting loop, about a microsecond: what GNU OpenMP itself takes where it sees more threads than cores.
SPIN_COUNT = "1000"
ONEDNN_LIMIT = "ONEDNN_MAX_CPU_ISA"  # read once, when oneDNN is first used
WITHOUT_AMX = "AVX512_CORE_BF16"
CPUINFO = Path("/proc/cpuinfo")
# push rbx; mov eax, 0x1d; xor ecx, ecx; cpuid; pop rbx; ret: returns the number of tile palettes.
PALETTES = bytes.fromhex("53 b81d000000 31c9 0fa2 5b c3")
TRIM_THRESHOLD, TOP_PAD, MMAP_THRESHOLD = -1, -2, -3  # what malloc.h calls M_...
LARGEST, PAD = 2**31 - 1, 64 * 2**20


def sleep_while_waiting() -> None:
    """Let torch's threads sleep soon when they wait, if torch is imported later and uses GNU OpenMP.

    Threads that share an operation wait for the slowest. By default they spin, which is fastest where every thread has a
    core to itself, and slow where another program uses one of them (benchmarks/busy_core.py). What the user has set stays.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", SPIN_COUNT)


def avoid_broken_amx() -> None:
    """Keep oneDNN from using AMX where it is offered without tile shapes; a limit that the user has set stays.

    Some hypervisors pass on the flags of AMX (matrix instructions) but leave the processor's table of tile shapes (CPUID leaf
    0x1D) empty. oneDNN then configures no tiles, and its first product in bfloat16 ends the process with an illegal
    instruction.
    """
    if ONEDNN_LIMIT not in os.environ and claims_amx() and tile_palettes() == 0:
        os.environ[ONEDNN_LIMIT] = WITHOUT_AMX


def total_memory() -> int | None:
    """Bytes of memory that this process could have at most, of the machine or its container; None if that is not known."""
    try:
        found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None
    try:
        return min(found, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    except (OSError, ValueError):  # there is no container, or no limit
        return found


def has_fast_bfloat16() -> bool:
    """Whether the processor multiplies matrices markedly faster in bfloat16 than in float32; false where that is not known.

    With AMX it does, unless oneDNN is kept from using it. With AVX-512 alone AMD's does; Intel's instructions are no faster
    than two in float32. It is not measured: on a busy machine the same command would make another run from time to time.
    """
    maker, flags = processor()
    if "amx_bf16" in flags and "AMX" in os.environ.get(ONEDNN_LIMIT, "AMX"):
        return tile_palettes() != 0
    return maker == "AuthenticAMD" and "avx512_bf16" in flags


def claims_amx() -> bool:
    """Whether the processor's flags list AMX tiles."""
    return "amx_tile" in processor()[1]


def processor() -> tuple[str, frozenset[str]]:
    """Who made it, and its flags; empty where the system does not say so."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return "", frozenset()
    maker, flags = "", frozenset[str]()
    try:
        with CPUINFO.open() as lines:
            for line in lines:
                name, _, value = line.partition(":")
                if name.strip() == "vendor_id":
                    maker = value.strip()
                elif name.strip() == "flags":
                    flags = frozenset(value.split())
                if maker and flags:
                    break
    except OSError:
        pass
    return maker, flags


def tile_palettes() -> int | None:
    """The highest palette of tile shapes that the processor knows; None where it cannot be asked."""
    try:
        page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except OSError:  # not every system allows memory that is both writable and executable
        return None
    page.write(PALETTES)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return int(ctypes.CFUNCTYPE(ctypes.c_uint32)(address)())


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
