"""Samplers against the probabilities of enumerated trees, by chi-square with fixed seeds."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Mapping

import pytest
import torch
from torch import Tensor

from dtg.parser import ProjectiveCRF
from tests.parser.cells import distinct_by_cells, enumerate_trees, full, random_scores


def assert_fits(observed: Mapping[Hashable, int], expected: Mapping[Hashable, float]) -> None:
    """Pearson's test, four standard deviations wide; cells expected less than five times are put together."""
    total = sum(observed.values())
    assert sum(expected.values()) == pytest.approx(1.0)
    assert set(observed) <= set(expected)
    rare = [key for key, p in expected.items() if p * total < 5]
    cells = [(observed.get(key, 0), p * total) for key, p in expected.items() if p * total >= 5]
    if rare:
        cells.append((sum(observed.get(key, 0) for key in rare), sum(expected[key] for key in rare) * total))
    statistic = sum((seen - wanted) ** 2 / wanted for seen, wanted in cells)
    freedom = len(cells) - 1
    assert freedom > 3
    assert statistic < freedom + 4 * (2 * freedom) ** 0.5


def probabilities(scores: Tensor) -> dict[Hashable, float]:
    trees, values = enumerate_trees(scores)
    return {tuple(tree): p for tree, p in zip(trees.tolist(), values.softmax(0).tolist(), strict=True)}


def first_two_draws(p: Mapping[Hashable, float]) -> dict[Hashable, float]:
    return {(i, j): p[i] * p[j] / (1 - p[i]) for i in p for j in p if i != j}


def trees_of(heads: Tensor) -> list[tuple[int, ...]]:
    return [tuple(tree) for tree in heads.tolist()]


@pytest.mark.parametrize("words", [3, 4, 5, 6])
def test_independent_samples_come_as_often_as_they_should(words: int) -> None:
    scores = random_scores(1, words, seed=30 + words, scale=1.5)
    found = ProjectiveCRF(scores, full(scores)).sample(20_000, torch.Generator().manual_seed(words))
    assert_fits(Counter(trees_of(found.heads[0])), probabilities(scores[0]))


@pytest.mark.parametrize(("words", "scale"), [(3, 1.0), (3, 3.0), (4, 1.5)])
@pytest.mark.parametrize("k", [2, 5])
def test_the_first_two_draws_without_replacement_follow_the_sequential_distribution(
    words: int, scale: float, k: int
) -> None:
    repeats = 20_000
    scores = random_scores(1, words, seed=40 + words, scale=scale)
    many = scores.expand(repeats, -1, -1)
    drawn = ProjectiveCRF(many, full(many)).sample_without_replacement(k, torch.Generator().manual_seed(words + k))
    pairs = zip(trees_of(drawn.heads[:, 0]), trees_of(drawn.heads[:, 1]), strict=True)
    assert_fits(Counter(pairs), first_two_draws(probabilities(scores[0])))


@pytest.mark.parametrize("words", [5, 6])
def test_second_and_third_draws_come_as_often_as_they_should(words: int) -> None:
    scores = random_scores(1, words, seed=50 + words, scale=2.5)
    many = scores.expand(20_000, -1, -1)
    drawn = ProjectiveCRF(many, full(many)).sample_without_replacement(3, torch.Generator().manual_seed(words))
    p = probabilities(scores[0])
    values = torch.tensor(list(p.values()), dtype=torch.float64)
    pair = values[:, None] * values / (1 - values[:, None])  # first i, then j
    pair.fill_diagonal_(0)
    left = 1 - values[:, None] - values
    left.fill_diagonal_(1)
    weights = pair / left
    # third: the sum over pairs without the tree itself
    third = values * (weights.sum() - weights.sum(0) - weights.sum(1))
    for position, expected in ((1, pair.sum(0)), (2, third)):
        assert_fits(Counter(trees_of(drawn.heads[:, position])), dict(zip(p, expected.tolist(), strict=True)))


def test_times_of_arrival_give_unbiased_weights() -> None:
    """Horvitz-Thompson: given the k-th time t, the first k - 1 trees weighted by p / (1 - exp(-p t)) sum to 1 on average."""
    scores = random_scores(1, 6, seed=60, scale=1.5)
    many = scores.expand(5_000, -1, -1)
    drawn = ProjectiveCRF(many, full(many)).sample_without_replacement(20, torch.Generator().manual_seed(60))
    p, time = drawn.log_probabilities.exp()[:, :-1], drawn.log_times.exp()
    sums = (p / -torch.expm1(-p * time[:, -1:])).sum(1)
    assert (sums.mean() - 1).abs() < 4 * sums.std() / 5_000**0.5
    assert (time[:, 0].mean() - 1).abs() < 4 / 5_000**0.5  # the first arrives at rate 1


def test_draws_from_a_peaked_distribution_are_distinct_and_mostly_its_best_trees() -> None:
    scores = random_scores(1, 15, seed=61, scale=8.0)
    crf = ProjectiveCRF(scores, full(scores))
    drawn, best = crf.sample_without_replacement(300, torch.Generator().manual_seed(61)), crf.k_best(300)
    assert len(set(trees_of(drawn.heads[0]))) == 300
    assert len({*trees_of(drawn.heads[0])} & {*trees_of(best.heads[0])}) > 150
    assert torch.allclose(crf.log_probability(drawn.heads), drawn.log_probabilities)


def test_the_same_seed_draws_the_same_trees() -> None:
    scores = random_scores(2, 8, seed=62)
    crf = ProjectiveCRF(scores, full(scores))
    for draw in (crf.sample, crf.sample_without_replacement):
        first, again, other = (draw(30, torch.Generator().manual_seed(seed)) for seed in (1, 1, 2))
        assert torch.equal(first.heads, again.heads)
        assert not torch.equal(first.heads, other.heads)


def test_the_twin_draws_the_same_distribution() -> None:
    """The twin of the benchmark: independent draws, repeats passed over."""
    scores = random_scores(1, 3, seed=63)
    chance = random.Random(63)
    pairs = Counter[Hashable](tuple(distinct_by_cells(scores[0], 2, chance)) for _ in range(3_000))
    assert_fits(pairs, first_two_draws(probabilities(scores[0])))
