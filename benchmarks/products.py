"""Products with fixed weights by MKL and by oneDNN: `python -m benchmarks.products`.

First the products themselves, at the sizes of the bundled models; then the search, which uses one or the other (see
`dtg.model.fixed_weight`). Both ways alternate in one process; the least CPU time of each counts, on one thread.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from unittest.mock import patch

import torch

import dtg
from dtg.model import fixed_weight
from dtg.model.fixed_weight import FixedWeight
from dtg.search.options import Accuracy

SIZES = ((256, 512), (256, 1024), (1024, 256), (256, 8192))  # inputs and outputs
ROWS = (16, 128, 1024)
SENTENCES = (
    "The man who helped the women in the house near the river was here yesterday .",
    "While the man hunted the deer ran into the woods behind the old church .",
    "Nobody knows what the new teacher said about the books that her students had left at home .",
    "The price of the tickets for the last concert of the season was higher than we had expected .",
)


def least(repeats: int, *work: Callable[[], object]) -> list[float]:
    """CPU seconds of each, the least of several turns."""
    found = [float("inf")] * len(work)
    for _ in range(repeats):
        for number, act in enumerate(work):
            began = time.process_time()
            act()
            found[number] = min(found[number], time.process_time() - began)
    return found


def by(is_packed: bool) -> AbstractContextManager[object]:
    """Weights that are fixed meanwhile are for oneDNN, or for MKL."""
    return patch.object(fixed_weight, "mkl_is_slow", lambda: is_packed)


def products(repeats: int) -> None:
    print("inputs  outputs   rows    MKL  oneDNN, GFLOP/s  ratio")
    for inputs, outputs in SIZES:
        weight, both = torch.randn(outputs, inputs), []
        for is_packed in (False, True):
            with by(is_packed):
                both.append(FixedWeight(weight))
        for count in ROWS:
            rows, times = torch.randn(count, inputs), max(1, 20_000_000 // (count * outputs))
            mkl, onednn = least(repeats, *(partial(multiply, one, rows, times) for one in both))
            rate = 2e-9 * count * inputs * outputs * times
            print(f"{inputs:>6}{outputs:>9}{count:>7}{rate / mkl:>7.0f}{rate / onednn:>8.0f}{mkl / onednn:>16.2f}")


def multiply(weight: FixedWeight, rows: torch.Tensor, times: int) -> None:
    for _ in range(times):
        weight(rows)


def search(repeats: int) -> None:
    model = dtg.load("dtg-small")
    words = sum(len(sentence.split()) for sentence in SENTENCES)
    print("\naccuracy    MKL  oneDNN, words per CPU second  ratio")

    def searched(accuracy: Accuracy, is_packed: bool) -> None:
        with by(is_packed):
            model.surprisal(SENTENCES, accuracy=accuracy)

    accuracies: tuple[Accuracy, ...] = ("fast", "default")
    for accuracy in accuracies:
        mkl, onednn = least(repeats, partial(searched, accuracy, False), partial(searched, accuracy, True))
        print(f"{accuracy:<9}{words / mkl:>6.1f}{words / onednn:>8.1f}{mkl / onednn:>28.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}; dtg uses {'oneDNN' if fixed_weight.mkl_is_slow() else 'MKL'} here")
    with torch.inference_mode():
        products(repeats)
        search(repeats)


if __name__ == "__main__":
    main()
