"""Slow twins of `SpanCRF`: every tree of a few words, and the partition function by plain recursion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product

import torch
from torch import Tensor

Tree = tuple[tuple[int, int, int], ...]  # (first word, last word, label) in preorder; words from 1


def bracketings(first: int, last: int) -> Iterator[frozenset[tuple[int, int]]]:
    """Every set of spans within first..last that do not cross, that of all words among them; a word may have one or not."""
    if first == last:
        yield frozenset({(first, last)})
        return
    for children in sequences(first, last):
        if len(children) > 1:
            for below in product(*(child_bracketings(*child) for child in children)):
                yield frozenset({(first, last)}).union(*below)


def child_bracketings(first: int, last: int) -> Iterator[frozenset[tuple[int, int]]]:
    if first == last:
        yield frozenset()
    yield from bracketings(first, last)


def sequences(first: int, last: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """The ways to cut words into pieces."""
    yield ((first, last),)
    for cut in range(first, last):
        for rest in sequences(cut + 1, last):
            yield ((first, cut), *rest)


@cache
def every_tree(words: int, labels: int) -> tuple[Tree, ...]:
    """Each tree once."""
    found = []
    for spans in bracketings(1, words):
        ordered = sorted(spans, key=lambda span: (span[0], -span[1]))
        for chosen in product(range(labels), repeat=len(ordered)):
            found.append(tuple((*span, label) for span, label in zip(ordered, chosen, strict=True)))
    assert len(set(found)) == len(found)
    return tuple(found)


def tree_scores(scores: Tensor) -> Tensor:
    """(trees,) of (words, words, labels) scores, in the order of `every_tree`."""
    first, last, label = every_nodes(len(scores), scores.shape[2]).unbind(2)
    return torch.where(first > 0, scores[first - 1, last - 1, label], 0).sum(1)


@cache
def every_nodes(words: int, labels: int) -> Tensor:
    """`every_tree` as a tensor."""
    return nodes_tensor(every_tree(words, labels), words)


def nodes_tensor(trees: Sequence[Tree], words: int) -> Tensor:
    """(trees, 2 * words - 1, 3)"""
    none = ((-1, -1, -1),)
    return torch.tensor([tree + none * (2 * words - 1 - len(tree)) for tree in trees])


def row_numbers(nodes: Tensor) -> Tensor:
    """(rows,) a number for each of (rows, nodes, 3) trees, the same for the same."""
    weights = torch.randint(1 << 40, nodes.shape[1:], generator=torch.Generator().manual_seed(0))
    return (nodes * weights).sum((1, 2))


def trees_of(nodes: Tensor) -> list[Tree]:
    """(rows, nodes, 3) as tuples, without the padding."""
    return [tuple(tuple(node) for node in row if node[0] > 0) for row in nodes.tolist()]


def log_partition_by_cells(scores: Tensor) -> Tensor:
    """A scalar that autograd can go through, by the grammar: a constituent is a label and two children or more."""

    @cache
    def constituent(i: int, j: int) -> Tensor:
        labels = scores[i, j].logsumexp(0)
        return labels if i == j else labels + torch.stack(list(at_least_two(i, j))).logsumexp(0)

    @cache
    def child(i: int, j: int) -> Tensor:
        return torch.logaddexp(constituent(i, j), scores.new_zeros(())) if i == j else constituent(i, j)

    @cache
    def children(i: int, j: int) -> Tensor:
        """One or more."""
        return torch.stack([child(i, j), *at_least_two(i, j)]).logsumexp(0)

    def at_least_two(i: int, j: int) -> Iterator[Tensor]:
        return (child(i, p) + children(p + 1, j) for p in range(i, j))

    return constituent(0, len(scores) - 1)


def random_spans(batch: int, words: int, labels: int = 2, *, seed: int, scale: float = 1.0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(batch, words, words, labels, generator=generator, dtype=torch.float64) * scale


def full(scores: Tensor) -> Tensor:
    return torch.full((scores.shape[0],), scores.shape[1])
