"""Memory that is freed is kept: large blocks come from the system once."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

SCRIPT = """
import resource, sys, torch
from dtg.memory import keep_freed_memory
if "keep" in sys.argv:
    assert keep_freed_memory()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    torch.zeros(10_000_000)  # 40 MB, about 10,000 pages
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")
def test_large_blocks_come_from_the_system_once() -> None:
    pages = [
        int(subprocess.run([sys.executable, "-c", SCRIPT, *more], capture_output=True, text=True, check=True).stdout)
        for more in ((), ("keep",))
    ]
    assert pages[0] > 4 * pages[1]
