"""What dtg sets for its process: threads sleep while they wait, and freed memory is kept."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

MEMORY_SCRIPT = """
import resource, sys, torch
from dtg.environment import keep_freed_memory
if "keep" in sys.argv:
    assert keep_freed_memory()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    torch.zeros(10_000_000)  # 40 MB, about 10,000 pages
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
THREADS_SCRIPT = """
import os, sys
import dtg.cli
assert "torch" not in sys.modules
print(os.environ.get("GOMP_SPINCOUNT"))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")
def test_large_blocks_come_from_the_system_once() -> None:
    pages = [
        int(
            subprocess.run(
                [sys.executable, "-c", MEMORY_SCRIPT, *more], capture_output=True, text=True, check=True
            ).stdout
        )
        for more in ((), ("keep",))
    ]
    assert pages[0] > 4 * pages[1]


@pytest.mark.parametrize(
    ("given", "expected"),
    [({}, "1000"), ({"GOMP_SPINCOUNT": "7"}, "7"), ({"OMP_WAIT_POLICY": "ACTIVE"}, "None")],
)
def test_threads_sleep_while_they_wait(given: dict[str, str], expected: str) -> None:
    others = {name: value for name, value in os.environ.items() if not name.startswith(("GOMP_", "OMP_"))}
    command = [sys.executable, "-c", THREADS_SCRIPT]
    done = subprocess.run(command, env=others | given, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == expected
