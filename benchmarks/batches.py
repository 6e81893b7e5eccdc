"""What batches of ever other lengths cost: `python -m benchmarks.batches`.

In training hardly two sentences' products have the same sizes. oneDNN generates code for each size, and forgets it when its
cache is full; the C library searches for a free block of each size. Each line is a process of its own that takes the same
steps on different batches: CPU time, which other programs disturb less than the time of the clock.
"""

from __future__ import annotations

import argparse
import ctypes.util
import os
import random
import resource
import subprocess
import sys
import time
from typing import Any

from dtg.environment import KEPT_PRIMITIVES, PRIMITIVES

DEFAULT = "1024"  # pieces of code that oneDNN keeps where nothing is said
JEMALLOC = {
    "LD_PRELOAD": ctypes.util.find_library("jemalloc"),
    "MALLOC_CONF": "thp:always",
}


def steps(family: str, precision: str, first: int, count: int) -> None:
    """Print the CPU seconds of a step, and the process's memory in GB."""
    import torch

    from benchmarks.rows import as_family_reads, newswire_like
    from benchmarks.training import SMALL, model_and_batch, step_of
    from dtg.environment import keep_freed_memory

    keep_freed_memory()
    torch.set_num_threads(1)
    model, _ = model_and_batch(family, SMALL, 8192, 1, "cpu")
    chance = random.Random(0)
    batches = []
    for number in range(first + count):
        trees, pieces = newswire_like(64, chance.uniform(8, 30), number)
        numbers = [[[p - p % 4 + (k == 0) for k, p in enumerate(word)] for word in words] for words in pieces]
        batches.append(model.encode(as_family_reads(model.family, trees), numbers))
    work: list[Any] = [step_of(model, batch, precision) for batch in batches]
    for step in work[:first]:
        step()
    began = time.process_time()
    for step in work[first:]:
        step()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print((time.process_time() - began) / count, memory)


def run(arguments: argparse.Namespace, environment: dict[str, Any]) -> tuple[float, float]:
    command = [sys.executable, "-m", "benchmarks.batches", "--inside"]
    for name in ("family", "precision", "first", "count"):
        command += [f"--{name}", str(getattr(arguments, name))]
    found = subprocess.run(command, env=os.environ | environment, check=True, capture_output=True, text=True).stdout
    seconds, memory = found.split()[-2:]
    return float(seconds), float(memory)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", default="dtg")
    parser.add_argument("--precision", default="bf16", choices=["no", "bf16"])
    parser.add_argument("--first", type=int, default=12, help="steps that do not count")
    parser.add_argument("--count", type=int, default=16, help="steps that do")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        steps(given.family, given.precision, given.first, given.count)
        return
    variants: dict[str, dict[str, Any]] = {
        f"oneDNN keeps {DEFAULT}": {PRIMITIVES: DEFAULT},
        "as dtg train has it": {PRIMITIVES: KEPT_PRIMITIVES},
        "with jemalloc": {PRIMITIVES: KEPT_PRIMITIVES, **JEMALLOC},
    }
    base = None
    for name, environment in variants.items():
        if None in environment.values():
            print(f"{name:<20} is not installed here")
            continue
        seconds, memory = run(given, environment)
        base = base or seconds
        print(f"{name:<20}{seconds:8.3f} s of CPU time a step  {base / seconds:5.2f}x  {memory:5.1f} GB", flush=True)


if __name__ == "__main__":
    main()
