"""Samplers of `SpanCRF` against the probabilities of enumerated trees, by chi-square with fixed seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

import pytest
import torch
from torch import Tensor

from dtg.parser import SpanCRF
from tests.parser.span_trees import every_nodes, every_tree, full, random_spans, row_numbers, tree_scores, trees_of
from tests.parser.test_crf_sampling import assert_fits, first_two_draws


def probabilities(scores: Tensor) -> dict[Hashable, float]:
    trees = every_tree(len(scores), scores.shape[2])
    return dict(zip(trees, tree_scores(scores).softmax(0).tolist(), strict=True))


@pytest.mark.parametrize(("words", "labels"), [(2, 2), (3, 2), (5, 2), (2, 5)])
def test_independent_samples_come_as_often_as_they_should(words: int, labels: int) -> None:
    scores = random_spans(1, words, labels, seed=30 + words, scale=1.5)
    found = SpanCRF(scores, full(scores)).sample(10_000, torch.Generator().manual_seed(words))
    assert_fits(Counter(trees_of(found.nodes[0])), probabilities(scores[0]))


@pytest.mark.parametrize(("words", "labels"), [(2, 2), (2, 5)])
def test_the_first_two_draws_without_replacement_follow_the_sequential_distribution(words: int, labels: int) -> None:
    scores = random_spans(1, words, labels, seed=40 + words, scale=1.5)
    many = scores.expand(10_000, -1, -1, -1)
    drawn = SpanCRF(many, full(many)).sample_without_replacement(3, torch.Generator().manual_seed(words))
    pairs = zip(trees_of(drawn.nodes[:, 0]), trees_of(drawn.nodes[:, 1]), strict=True)
    assert_fits(Counter(pairs), first_two_draws(probabilities(scores[0])))


@pytest.mark.parametrize("words", range(1, 6))
def test_draws_without_replacement_are_different_and_in_the_end_all(words: int) -> None:
    scores = random_spans(2, words, seed=50 + words, scale=2.0)
    crf = SpanCRF(scores, full(scores))
    trees = every_tree(words, 2)
    drawn = crf.sample_without_replacement(len(trees) + 1, torch.Generator().manual_seed(1))
    assert drawn.counts.tolist() == [len(trees)] * 2
    for b in range(2):
        found, expected = row_numbers(drawn.nodes[b, : len(trees)]), row_numbers(every_nodes(words, 2))
        assert torch.equal(found.sort().values, expected.sort().values)
        assert (drawn.log_times[b, : len(trees)].diff() >= 0).all()


def test_times_of_arrival_give_unbiased_weights() -> None:
    """Horvitz-Thompson: given the k-th time t, the first k - 1 trees weighted by p / (1 - exp(-p t)) sum to 1 on average."""
    scores = random_spans(1, 4, seed=60, scale=1.5)
    many = scores.expand(4_000, -1, -1, -1)
    drawn = SpanCRF(many, full(many)).sample_without_replacement(20, torch.Generator().manual_seed(60))
    p, time = drawn.log_probabilities.exp()[:, :-1], drawn.log_times.exp()
    sums = (p / -torch.expm1(-p * time[:, -1:])).sum(1)
    assert (sums.mean() - 1).abs() < 4 * sums.std() / 4_000**0.5


def test_the_same_seed_draws_the_same_trees() -> None:
    scores = random_spans(2, 8, 4, seed=62)
    crf = SpanCRF(scores, full(scores))
    for draw in (crf.sample, crf.sample_without_replacement):
        first, again, other = (draw(30, torch.Generator().manual_seed(seed)) for seed in (1, 1, 2))
        assert torch.equal(first.nodes, again.nodes)
        assert not torch.equal(first.nodes, other.nodes)
