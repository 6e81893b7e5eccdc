"""Phrase-structure trees from span scores: milliseconds for sums, lists and samples: `python -m benchmarks.span_crf`.

Scores are random, with more for the constituents of one random tree, as a parser that is fairly sure of itself gives them. The
twin is the grammar written cell by cell (`tests/parser/span_trees.py`).
"""

from __future__ import annotations

import argparse
import random
from functools import partial

import torch
from torch import Tensor

from benchmarks.crf import COLUMNS
from benchmarks.rows import best_of
from dtg.parser import SpanCRF
from tests.parser.span_trees import full, log_partition_by_cells

LABELS = 85  # as many as the Penn Treebank, GUM and MASC have, chains included


def parser_like(batch: int, words: int, labels: int = LABELS, *, margin: float = 9.0, seed: int = 1) -> Tensor:
    """(batch, words, words, labels) scores that favour one random tree each, and no constituent elsewhere."""
    chance, generator = random.Random(seed), torch.Generator().manual_seed(seed)
    scores = torch.randn(batch, words, words, labels, generator=generator) - margin
    for sentence in scores:
        pending = [(0, words - 1)]
        while pending:
            first, last = pending.pop()
            sentence[first, last, chance.randrange(labels)] += 2 * margin
            if first < last:
                cut = chance.randrange(first, last)
                pending += [(first, cut), (cut + 1, last)]
    return scores


def partition_and_gradient(scores: Tensor) -> None:
    scores = scores.detach().requires_grad_()
    torch.autograd.grad(SpanCRF(scores, full(scores)).log_partition().sum(), scores)


def best(scores: Tensor, k: int) -> None:
    SpanCRF(scores, full(scores)).k_best(k)


def samples(scores: Tensor, k: int) -> None:
    SpanCRF(scores, full(scores)).sample(k, torch.Generator().manual_seed(1))


def distinct_samples(scores: Tensor, k: int) -> None:
    SpanCRF(scores, full(scores)).sample_without_replacement(k, torch.Generator().manual_seed(1))


def twin_partition_and_gradient(scores: Tensor) -> None:
    for sentence in scores.detach():
        sentence.requires_grad_()
        torch.autograd.grad(log_partition_by_cells(sentence), sentence)


def report(name: str, scores: Tensor, seconds: float, twin: float | None = None) -> None:
    batch, words = scores.shape[:2]
    ratio = "" if twin is None else f"{1e3 * twin:>11.1f}{twin / seconds:>9.1f}"
    print(f"{name:<32}{batch:>10}{words:>7}{1e3 * seconds:>10.1f}{1e3 * seconds / batch:>13.2f}{ratio}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    k, repeats = options.trees, options.repeats
    print(f"{torch.get_num_threads()} threads, torch {torch.__version__}, {LABELS} labels")
    print(f"{'':<32}{COLUMNS}{'twin, ms':>11}{'ratio':>9}")
    some = parser_like(8, 8)
    twin = best_of(1, partial(twin_partition_and_gradient, some))
    report("log Z and gradient", some, best_of(repeats, partial(partition_and_gradient, some)), twin)
    for batch, words in ((32, 20), (32, 40), (8, 80), (1, 150)):
        some = parser_like(batch, words)
        report("log Z and gradient", some, best_of(repeats, partial(partition_and_gradient, some)))
    for name, work, trees in (
        ("best tree", best, 1),
        (f"{k} best", best, k),
        (f"{k} independent", samples, k),
        (f"{k} distinct", distinct_samples, k),
    ):
        for batch, words in ((1, 20), (32, 20), (1, 40), (32, 40)):
            some = parser_like(batch, words)
            report(name, some, best_of(repeats, partial(work, some, trees)))


if __name__ == "__main__":
    main()
