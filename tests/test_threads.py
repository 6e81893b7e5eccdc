"""Threads sleep while they wait, unless the user says otherwise; said before torch is there to hear it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = """
import os, sys
import dtg.cli
assert "torch" not in sys.modules
print(os.environ.get("GOMP_SPINCOUNT"))
"""


@pytest.mark.parametrize(
    ("given", "expected"),
    [({}, "1000"), ({"GOMP_SPINCOUNT": "7"}, "7"), ({"OMP_WAIT_POLICY": "ACTIVE"}, "None")],
)
def test_threads_sleep_while_they_wait(given: dict[str, str], expected: str) -> None:
    others = {name: value for name, value in os.environ.items() if not name.startswith(("GOMP_", "OMP_"))}
    command = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(command, env=others | given, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == expected
