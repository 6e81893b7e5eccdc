"""`Descent` and the selection of derivations on another grammar than Eisner's: binary bracketings of words.

A bracketing of words i..j splits them once between p and p + 1, and both sides again; its score is the sum of the scores of its
spans. The root choice is the sentence's first split. It stands for the charts of any other parser.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cache

import pytest
import torch
from torch import Tensor

from dtg.parser.crf.descent import ChartItems, Derivations, Descent, Parts
from dtg.parser.crf.eisner import Reduce
from dtg.parser.crf.selection import best_derivations, distinct_derivations, independent_derivations

Spans = frozenset[tuple[int, int]]  # of two words or more
CATALAN = {2: 1, 3: 2, 4: 5, 5: 14, 6: 42}


@cache
def bracketings(first: int, last: int) -> tuple[Spans, ...]:
    if first == last:
        return (frozenset(),)
    return tuple(
        left | right | {(first, last)}
        for split in range(first, last)
        for left in bracketings(first, split)
        for right in bracketings(split + 1, last)
    )


@dataclass(frozen=True, slots=True)
class Brackets(ChartItems):
    """The span over words i..j is item i * words + j; `done` comes after all."""

    words: int

    @classmethod
    def of(cls, scores: Tensor, reduce: Reduce) -> Brackets:
        """From (batch, words, words) scores of spans by first and last word."""
        batch, words, _ = scores.shape
        inside = torch.zeros_like(scores)
        first_values, second_values = torch.zeros(2, batch, words * words + 1, words, dtype=scores.dtype)
        for width in range(1, words):
            for i in range(words - width):
                j = i + width
                for p in range(i, j):
                    first_values[:, i * words + j, p] = inside[:, i, p] + scores[:, i, j]
                    second_values[:, i * words + j, p] = inside[:, p + 1, j]
                item = i * words + j
                inside[:, i, j] = reduce(first_values[:, item, i:j] + second_values[:, item, i:j], 1)
        number = torch.arange(words * words + 1)
        first, last = number // words, number % words
        first[-1] = last[-1] = 0
        whole = first_values[:, words - 1] + second_values[:, words - 1]
        return cls(
            batch=batch,
            steps=words,
            done=words * words,
            roots=whole[:, : words - 1] - inside[:, 0, -1:],
            counts=(last - first).clamp(min=1),
            first_split=first,
            values=torch.cat([inside.flatten(1), inside.new_zeros(batch, 1)], 1).T.flatten(),
            stride=(words * words + 1) * words,
            first_values=first_values.flatten(),
            first_begin=number * words + first,
            second_values=second_values.flatten(),
            second_begin=number * words + first,
            words=words,
        )

    def root_parts(self, root: Tensor) -> Parts:
        whole = torch.full_like(root.flatten(), self.words - 1)
        return self.parts(whole, root.flatten())

    def parts(self, item: Tensor, split: Tensor) -> Parts:
        first, last = item // self.words, item % self.words
        is_done = item == self.done
        return Parts(
            first * self.words + split,
            (first < split) & ~is_done,
            (split + 1) * self.words + last,
            (split + 1 < last) & ~is_done,
        )

    def trees(self, descent: Descent, derivations: Derivations) -> list[list[Spans]]:
        """The spans that the decisions split, for each row of each sentence."""
        rows = derivations.item.shape[0]
        found: list[set[tuple[int, int]]] = [{(0, self.words - 1)} for _ in range(rows)]
        for item, _ in descent.decisions(derivations):
            if item is not None:
                for row, number in enumerate(item.tolist()):
                    if number != self.done:
                        found[row].add(divmod(number, self.words))
        trees = [frozenset(spans) for spans in found]
        each = rows // self.batch
        return [trees[sentence * each : (sentence + 1) * each] for sentence in range(self.batch)]


def random_scores(words: int) -> Tensor:
    return torch.randn(3, words, words, generator=torch.Generator().manual_seed(words), dtype=torch.float64)


def log_probabilities(scores: Tensor) -> dict[Spans, float]:
    totals = {
        tree: sum(float(scores[span]) for span in tree if span[0] < span[1]) for tree in bracketings(0, len(scores) - 1)
    }
    log_z = math.log(sum(map(math.exp, totals.values())))
    return {tree: total - log_z for tree, total in totals.items()}


@pytest.mark.parametrize("words", CATALAN)
def test_the_k_best_equal_enumeration(words: int) -> None:
    scores = random_scores(words)
    for k in (1, 3, 1000):
        items = Brackets.of(scores, torch.amax)
        descent = Descent(items, k)
        derivations, exists = best_derivations(descent, k)
        for sentence, trees in enumerate(items.trees(descent, derivations)):
            log_p = log_probabilities(scores[sentence])
            expected = sorted(log_p, key=lambda tree: -log_p[tree])[:k]
            assert len(log_p) == CATALAN[words] and bool(exists[sentence, : len(expected)].all())
            assert {tree for tree, is_there in zip(trees, exists[sentence], strict=True) if is_there} == set(expected)


def test_samples_have_the_distribution() -> None:
    scores, k = random_scores(4), 8_000
    items = Brackets.of(scores, torch.logsumexp)
    descent = Descent(items, k)
    derivations = independent_derivations(descent, k, torch.Generator().manual_seed(1))
    for sentence, trees in enumerate(items.trees(descent, derivations)):
        counts = Counter(trees)
        for tree, log_p in log_probabilities(scores[sentence]).items():
            p = math.exp(log_p)
            assert abs(counts[tree] - k * p) < 4 * math.sqrt(k * p * (1 - p))


@pytest.mark.parametrize("words", CATALAN)
def test_draws_without_replacement_are_different_and_in_the_end_all(words: int) -> None:
    items = Brackets.of(random_scores(words), torch.logsumexp)
    for k in (2, 1000):
        descent = Descent(items, k)
        derivations, times = distinct_derivations(descent, k, torch.Generator().manual_seed(2))
        assert bool((times < torch.inf).all())
        for trees in items.trees(descent, derivations):
            assert len(set(trees)) == len(trees) == min(k, CATALAN[words])
