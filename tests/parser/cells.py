"""Slow twins of `ProjectiveCRF`, cell by cell with plain recursion, and every tree of short sentences.

`scores` are of one sentence, (words, words + 1); a span is (kind, i, j) over words counted from 1.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from tests.twins import every_projective_tree

Span = tuple[str, int, int]


class Split(NamedTuple):
    """One way to take a span apart: two smaller spans, and the arc it makes, if any."""

    first: Span
    second: Span
    arc: tuple[int, int] | None  # (head, dependent)


def splits(span: Span) -> Iterator[Split]:
    kind, i, j = span
    for p in range(i, j):
        if kind == "left":
            yield Split(("left", i, p), ("open", p, j), (j, p))
        elif kind == "right":
            yield Split(("open", i, p + 1), ("right", p + 1, j), (i, p + 1))
        else:
            yield Split(("right", i, p), ("left", p + 1, j), None)


def log_partition_by_cells(scores: Tensor) -> Tensor:
    """A scalar that autograd can go through."""
    words = scores.shape[0]

    @cache
    def value(span: Span) -> Tensor:
        if span[1] == span[2]:
            return scores.new_zeros(())
        found = []
        for first, second, arc in splits(span):
            total = value(first) + value(second)
            found.append(total if arc is None else total + scores[arc[1] - 1, arc[0]])
        return torch.stack(found).logsumexp(0)

    roots = [scores[r - 1, 0] + value(("left", 1, r)) + value(("right", r, words)) for r in range(1, words + 1)]
    return torch.stack(roots).logsumexp(0)


def k_best_by_cells(scores: Tensor, k: int) -> list[tuple[float, tuple[int, ...]]]:
    """The k best (score, heads): every cell keeps its own k best."""
    table, words = scores.tolist(), scores.shape[0]
    Found = list[tuple[float, dict[int, int]]]  # noqa: N806 - a type

    def join(first: Found, second: Found, arc: tuple[int, int] | None) -> Found:
        extra = table[arc[1] - 1][arc[0]] if arc else 0.0
        heads = {arc[1]: arc[0]} if arc else {}
        return [(a + b + extra, {**x, **y, **heads}) for a, x in first for b, y in second]

    def best(found: Found) -> Found:
        return heapq.nlargest(k, found, key=lambda pair: pair[0])

    @cache
    def cell(span: Span) -> Found:
        if span[1] == span[2]:
            return [(0.0, {})]
        return best([tree for first, second, arc in splits(span) for tree in join(cell(first), cell(second), arc)])

    roots = [t for r in range(1, words + 1) for t in join(cell(("left", 1, r)), cell(("right", r, words)), (0, r))]
    return [(score, tuple(heads[m] for m in range(1, words + 1))) for score, heads in best(roots)]


def distinct_by_cells(scores: Tensor, k: int, chance: random.Random) -> list[tuple[int, ...]]:
    """k distinct trees in the order drawn: draw independently, and pass over those drawn before."""
    table, words = scores.tolist(), scores.shape[0]

    @cache
    def options(span: Span) -> tuple[list[Split], list[float]]:
        found = list(splits(span))
        return found, [
            math.exp(table[s.arc[1] - 1][s.arc[0]] if s.arc else 0.0) * mass(s.first) * mass(s.second) for s in found
        ]

    @cache
    def mass(span: Span) -> float:
        return 1.0 if span[1] == span[2] else sum(options(span)[1])

    def draw() -> tuple[int, ...]:
        weights = [math.exp(table[r - 1][0]) * mass(("left", 1, r)) * mass(("right", r, words)) for r in numbers]
        root = chance.choices(numbers, weights)[0]
        heads, agenda = {root: 0}, [("left", 1, root), ("right", root, words)]
        while agenda:
            span = agenda.pop()
            if span[1] < span[2]:
                split = chance.choices(*options(span))[0]
                agenda += [split.first, split.second]
                if split.arc:
                    heads[split.arc[1]] = split.arc[0]
        return tuple(heads[m] for m in numbers)

    numbers, drawn = range(1, words + 1), dict[tuple[int, ...], None]()
    while len(drawn) < k:
        drawn.setdefault(draw())
    return list(drawn)


def enumerate_trees(scores: Tensor) -> tuple[Tensor, Tensor]:
    """(trees, words) the heads of every tree, and (trees,) their scores."""
    trees = torch.tensor(every_projective_tree(scores.shape[0]))
    return trees, scores[torch.arange(scores.shape[0]), trees].sum(1)


def random_scores(
    batch: int, words: int, seed: int, *, scale: float = 1.0, dtype: torch.dtype = torch.float64
) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return scale * torch.randn(batch, words, words + 1, generator=generator, dtype=dtype)


def full(scores: Tensor) -> Tensor:
    """Lengths that use all of the scores."""
    return torch.full(scores.shape[:1], scores.shape[1])
