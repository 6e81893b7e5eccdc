"""What a busy core costs: `python -m benchmarks.busy_core`.

`dtg surprisal` of one sentence in fresh processes, as it is and with threads that wait as GNU's OpenMP has them by default, on
a machine that has nothing else to do, and while another program keeps one core busy.
"""

from __future__ import annotations

import subprocess
import sys

from benchmarks.first_answer import on_the_command_line

SENTENCE = "The man who helped the women was in the house near the river."
DEFAULT = "300000"  # of GNU's OpenMP where nothing is said
BUSY = [sys.executable, "-c", "while True: pass"]


def show(name: str) -> None:
    ours, theirs = on_the_command_line(SENTENCE), on_the_command_line(SENTENCE, GOMP_SPINCOUNT=DEFAULT)
    print(f"{name:<16}{ours:>6.1f} s  {theirs:>6.1f} s by OpenMP's default  {theirs / ours:>5.1f}x")


def main() -> None:
    on_the_command_line(SENTENCE)  # files are read from the disk once
    show("quiet")
    other = subprocess.Popen(BUSY)
    try:
        show("one core busy")
    finally:
        other.kill()


if __name__ == "__main__":
    main()
