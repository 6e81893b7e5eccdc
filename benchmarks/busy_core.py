"""What a busy core costs: `python -m benchmarks.busy_core`.

`dtg surprisal` of one sentence in fresh processes, as it is and with threads that wait as GNU's OpenMP has them by default, on
a machine that has nothing else to do, and while another program keeps one core busy.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

SENTENCE = "The man who helped the women was in the house near the river."
DEFAULT = {"GOMP_SPINCOUNT": "300000"}  # of GNU's OpenMP where nothing is said
BUSY = [sys.executable, "-c", "while True: pass"]


def seconds(environment: dict[str, str]) -> float:
    start = time.perf_counter()
    command = [sys.executable, "-m", "dtg", "surprisal", SENTENCE]
    subprocess.run(command, env=os.environ | environment, capture_output=True, check=True)
    return time.perf_counter() - start


def show(name: str) -> None:
    ours, theirs = seconds({}), seconds(DEFAULT)
    print(f"{name:<16}{ours:>6.1f} s  {theirs:>6.1f} s by OpenMP's default  {theirs / ours:>5.1f}x")


def main() -> None:
    seconds({})  # files are read from the disk once
    show("quiet")
    other = subprocess.Popen(BUSY)
    try:
        show("one core busy")
    finally:
        other.kill()


if __name__ == "__main__":
    main()
