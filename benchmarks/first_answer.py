"""How long a newcomer waits: `python -m benchmarks.first_answer`.

Every number is a fresh process's, the best and the worst of several: importing torch, then `dtg.load` and a first surprisal in
Python, then `dtg surprisal` with words that are split already and with a text.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time

TEXT = "The keys to the cabinet are on the table."
WORDS = "The keys to the cabinet are on the table ."
IN_PYTHON = f"""
import time
start = time.perf_counter()
import torch
print(time.perf_counter() - start)
import dtg
model = dtg.load("dtg-mini")
print(time.perf_counter() - start)
model.surprisal([{WORDS.split()!r}])
print(time.perf_counter() - start)
"""


def in_python() -> list[float]:
    """Seconds until torch is imported, the model is loaded, and there is an answer."""
    said = subprocess.run([sys.executable, "-c", IN_PYTHON], capture_output=True, text=True, check=True).stdout
    return [float(line) for line in said.split()]


def on_the_command_line(*arguments: str, **environment: str) -> float:
    """Seconds until `dtg surprisal` has ended."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "dtg", "surprisal", *arguments]
    subprocess.run(command, env=os.environ | environment, capture_output=True, check=True)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5)
    times = parser.parse_args().times
    rows = [[*in_python(), on_the_command_line(WORDS, "--tokenized"), on_the_command_line(TEXT)] for _ in range(times)]
    names = ("import torch", "... and dtg.load", "... and a surprisal", "dtg surprisal --tokenized", "dtg surprisal")
    for name, seconds in zip(names, zip(*rows, strict=True), strict=True):
        print(f"{name:<28}{min(seconds):>6.2f} to {max(seconds):.2f} s")


if __name__ == "__main__":
    main()
