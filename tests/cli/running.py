"""The command line run as a user runs it: in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def dtg(*arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from dtg.cli import main; main()", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done
