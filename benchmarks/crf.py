"""Trees from arc scores: seconds for sums, lists and samples, beside slow twins in the same run: `python -m benchmarks.crf`.

Scores are random, with six more for the arcs of one tree, as a parser that is fairly sure of itself gives them.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from benchmarks.rows import best_of
from dtg.parser import ProjectiveCRF
from tests.parser.cells import distinct_by_cells, full, k_best_by_cells, log_partition_by_cells, random_scores
from tests.twins import random_projective_heads

SHORT = 8  # words of the sentence that twins are given
COLUMNS = f"{'sentences':>10}{'words':>7}{'ms':>10}{'ms/sentence':>13}"


def parser_like(batch: int, words: int, *, margin: float = 6.0, seed: int = 1) -> Tensor:
    """(batch, words, words + 1) single-precision scores that favour one random tree each."""
    chance = random.Random(seed)
    scores = random_scores(batch, words, seed, dtype=torch.float32)
    heads = torch.tensor([random_projective_heads(words, chance, chain=0.7) for _ in range(batch)])
    return scores.scatter_add_(2, heads.unsqueeze(2), torch.full((batch, words, 1), margin))


def partition_and_gradient(scores: Tensor) -> None:
    scores = scores.detach().requires_grad_()
    torch.autograd.grad(ProjectiveCRF(scores, full(scores)).log_partition().sum(), scores)


def best(scores: Tensor, k: int) -> None:
    ProjectiveCRF(scores, full(scores)).k_best(k)


def samples(scores: Tensor, k: int) -> None:
    ProjectiveCRF(scores, full(scores)).sample(k, torch.Generator().manual_seed(1))


def distinct_samples(scores: Tensor, k: int) -> None:
    ProjectiveCRF(scores, full(scores)).sample_without_replacement(k, torch.Generator().manual_seed(1))


def twin_partition_and_gradient(scores: Tensor) -> None:
    for sentence in scores.detach():
        sentence.requires_grad_()
        torch.autograd.grad(log_partition_by_cells(sentence), sentence)


def twin_best(scores: Tensor, k: int) -> None:
    for sentence in scores:
        k_best_by_cells(sentence, k)


def twin_distinct_samples(scores: Tensor, k: int) -> None:
    for sentence in scores:
        distinct_by_cells(sentence, k, random.Random(1))


def report(name: str, scores: Tensor, seconds: float, twin: float | None = None) -> None:
    batch, words, _ = scores.shape
    ratio = "" if twin is None else f"{1e3 * twin:>11.1f}{twin / seconds:>9.1f}"
    print(f"{name:<32}{batch:>10}{words:>7}{1e3 * seconds:>10.1f}{1e3 * seconds / batch:>13.2f}{ratio}")


def against_twins(k: int, repeats: int) -> None:
    """Short sentences, which the twins can do; they draw distinct trees by passing over repeats, so from flat scores too."""
    print(f"{'against cell-by-cell twins':<32}{COLUMNS}{'twin, ms':>11}{'ratio':>9}")
    some, flat = parser_like(8, SHORT), parser_like(8, SHORT, margin=0.0)
    work: list[tuple[str, Tensor, Callable[[Tensor], None], Callable[[Tensor], None]]] = [
        ("log Z and gradient", some, partition_and_gradient, twin_partition_and_gradient),
        (f"{k} best", some, partial(best, k=k), partial(twin_best, k=k)),
        (f"{k} distinct, flat scores", flat, partial(distinct_samples, k=k), partial(twin_distinct_samples, k=k)),
    ]
    for name, scores, fast, slow in work:
        report(name, scores, best_of(repeats, partial(fast, scores)), best_of(1, partial(slow, scores)))


def longer(k: int, repeats: int) -> None:
    """What training and evaluation ask for."""
    print(f"\n{'longer sentences':<32}{COLUMNS}")
    for batch, words in ((64, 25), (32, 20), (32, 40), (32, 80)):
        scores = parser_like(batch, words)
        report("log Z and gradient", scores, best_of(repeats, partial(partition_and_gradient, scores)))
    for name, work in (("best", best), ("independent", samples), ("distinct", distinct_samples)):
        for batch, words in ((1, 20), (32, 20), (1, 40), (32, 40)):
            scores = parser_like(batch, words)
            report(f"{k} {name}", scores, best_of(repeats, partial(work, scores, k)))
    scores = parser_like(1, 40)
    report("1000 best", scores, best_of(repeats, partial(best, scores, 1000)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print(f"{torch.get_num_threads()} threads, torch {torch.__version__}")
    against_twins(options.trees, options.repeats)
    longer(options.trees, options.repeats)


if __name__ == "__main__":
    main()
