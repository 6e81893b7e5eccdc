"""The two-level bootstrap: against a slow twin, cases that are counted by hand, and what is known of variances."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dtg.errors import InputError
from dtg.evaluation import intervals
from dtg.evaluation.intervals import Floats, Resampling, mean_interval
from dtg.evaluation.seeds import FIRST, SECOND, SeedScores, difference, mean_of_seeds, spread

HOW = Resampling(samples=201, seed=5, level=0.9)


def scores(above: object, below: object = None, groups: object = None, *, over_groups: bool = False) -> SeedScores:
    top = np.array(above, dtype=np.float64)
    bottom = np.ones_like(top) if below is None else np.array(below, dtype=np.float64)
    which = np.zeros(top.shape[1], np.int64) if groups is None else np.array(groups, np.int64)
    return SeedScores(top, bottom, which, over_groups)


def slow_number(found: SeedScores, seed: int, items: list[int]) -> float:
    """Of one seed on these items, some of them several times."""
    ratios = []
    for group in sorted({int(found.groups[item]) for item in items}) if found.over_groups else [None]:
        some = [item for item in items if group is None or found.groups[item] == group]
        below = sum(float(found.below[seed, item]) for item in some)
        if below:
            ratios.append(sum(float(found.above[seed, item]) for item in some) / below)
    return sum(ratios) / len(ratios) if ratios else float("nan")


def slow_items(found: SeedScores) -> list[list[int]]:
    """Those of each resample: drawn within their groups or, where a group has fewer than ten, from all of them."""
    groups = sorted(set(found.groups.tolist()))
    members = [[item for item, group in enumerate(found.groups) if group == each] for each in groups]
    if len(groups) > 1 and any(len(some) < 10 for some in members):
        members = [list(range(len(found.groups)))]
    resampled: list[list[int]] = [[] for _ in range(HOW.samples)]
    for place, some in enumerate(members):
        generator = np.random.default_rng(HOW.seed + place)
        for items in resampled:
            items += [some[drawn] for drawn in generator.integers(len(some), size=len(some)).tolist()]
    return resampled


def slow_means(found: SeedScores, seeds: list[int], whose: int) -> list[float]:
    """One resample after the other, one seed after the other, one item after the other."""
    generator, means = np.random.default_rng((HOW.seed, whose)), []
    for items in slow_items(found):
        drawn = [seeds[place] for place in generator.integers(len(seeds), size=len(seeds)).tolist()]
        means.append(sum(slow_number(found, seed, items) for seed in drawn) / len(drawn))
    return means


def made_up(sizes: list[int], *, over_groups: bool) -> SeedScores:
    """Four seeds; the denominators differ between seeds, and some are 0."""
    generator = np.random.default_rng(0)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    below = generator.integers(0, 4, size=(4, len(groups))).astype(np.float64)
    below[:, 0] = 1
    return scores(generator.random(below.shape) * below, below, generator.permutation(groups), over_groups=over_groups)


@pytest.mark.parametrize("at_once", [40, intervals.DRAWS_AT_ONCE])
@pytest.mark.parametrize("sizes", [[11], [10, 12], [3, 2, 12]], ids=["one group", "large groups", "small groups"])
@pytest.mark.parametrize("over_groups", [False, True])
def test_same_as_the_slow_twin(
    sizes: list[int], over_groups: bool, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intervals, "DRAWS_AT_ONCE", at_once)
    found = made_up(sizes, over_groups=over_groups)
    numbers, drawn = found.numbers(), found.drawn(HOW)
    every = list(range(len(found.groups)))
    assert numbers == pytest.approx([slow_number(found, seed, every) for seed in range(4)])

    one = spread(numbers[:3], drawn[:, :3], HOW)
    means = slow_means(found, [0, 1, 2], FIRST)
    assert (one.mean.low, one.mean.high) == pytest.approx(sorted(means)[10:-10:180])  # a twentieth of 201 is 10
    assert one.mean.value == pytest.approx(sum(numbers[:3]) / 3)

    two = difference(numbers[:2], numbers[2:], (drawn[:, :2], drawn[:, 2:]), HOW)
    theirs = slow_means(found, [2, 3], SECOND)
    differences = [a - b for a, b in zip(slow_means(found, [0, 1], FIRST), theirs, strict=True)]
    assert (two.spread.mean.low, two.spread.mean.high) == pytest.approx(sorted(differences)[10:-10:180])


def test_a_resample_without_a_number_does_not_count() -> None:
    """Of two items one has no denominator; a quarter of the resamples have only that one."""
    found = scores([[1.0, 0.0]], [[2.0, 0.0]])
    drawn = found.drawn(Resampling(samples=2000))
    assert np.isnan(drawn).mean() == pytest.approx(0.25, abs=0.03)
    assert spread(found.numbers(), drawn, Resampling(samples=2000)).mean.low == 0.5


def test_two_seeds_and_two_items_counted_by_hand() -> None:
    """Seed a is right on both items, seed b on the first only.

    Seeds drawn:  aa (1/4)  ab or ba (1/2)  bb (1/4)
    Items drawn:  11 (1/4)  12 or 21 (1/2)  22 (1/4)

        aa: 1 whatever the items.   ab: 1, 3/4, 1/2.   bb: 1, 1/2, 0.

    So the mean is 0 in 1/16 of all resamples, 1/2 in 1/8 + 1/8, 3/4 in 1/4, and 1 in 1/4 + 1/8 + 1/16.
    """
    found = scores([[1, 1], [1, 0]])
    assert found.numbers().tolist() == [1.0, 0.5]
    how = Resampling(samples=20_000)
    values, counts = np.unique(mean_of_seeds(found.drawn(how), how, FIRST), return_counts=True)
    assert values.tolist() == [0.0, 0.5, 0.75, 1.0]
    assert counts / 20_000 == pytest.approx([1 / 16, 1 / 4, 1 / 4, 7 / 16], abs=0.01)
    for level, ends in ((0.98, (0.0, 1.0)), (0.8, (0.5, 1.0)), (0.3, (0.75, 1.0))):  # 0 is below 1/16
        how = Resampling(samples=20_000, level=level)
        one = spread(found.numbers(), found.drawn(how), how)
        assert (one.mean.value, one.mean.low, one.mean.high) == (0.75, *ends)
        assert (one.lowest, one.highest) == (0.5, 1.0)


def test_a_difference_counted_by_hand() -> None:
    """Seeds of 75 % and 100 % against seeds of 50 % and 75 %: three of four pairs are above 0, one is even."""
    found = scores([[1, 1, 1, 0], [1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 1, 0]])
    numbers, drawn = found.numbers(), found.drawn(HOW)
    two = difference(numbers[:2], numbers[2:], (drawn[:, :2], drawn[:, 2:]), HOW)
    assert (two.spread.mean.value, two.spread.lowest, two.spread.highest) == (0.25, 0.0, 0.5)
    assert (two.holds, two.pairs) == (3, 4)
    back = difference(numbers[2:], numbers[:2], (drawn[:, 2:], drawn[:, :2]), HOW)
    assert (back.spread.mean.value, back.holds, back.pairs) == (-0.25, 3, 4)
    same = difference(numbers[:1], numbers[3:], (drawn[:, :1], drawn[:, 3:]), HOW)
    assert (same.spread.mean.value, same.holds, same.pairs) == (0.0, 0, 1)


def test_a_mean_over_groups_counted_by_hand() -> None:
    found = scores([[1, 1, 0, 0, 0]], groups=[0, 1, 1, 1, 1], over_groups=True)
    assert found.numbers().tolist() == [(1 + 1 / 4) / 2]
    assert scores([[1, 1, 0, 0, 0]], groups=[0, 1, 1, 1, 1]).numbers().tolist() == [2 / 5]


def test_one_seed_has_the_interval_over_items() -> None:
    values = np.random.default_rng(1).random(40)
    found = scores([values])
    one = spread(found.numbers(), found.drawn(HOW), HOW)
    bounds = mean_interval(values, samples=HOW.samples, seed=HOW.seed, level=HOW.level)
    assert (one.mean.low, one.mean.high) == pytest.approx(bounds)
    assert one.lowest == one.highest == one.mean.value


def test_items_are_the_same_for_all_seeds() -> None:
    """Items that differ much, of seeds that do not: a difference of systems is as certain as if there were no items."""
    values = np.random.default_rng(2).normal(0, 100, size=50)
    found = scores([values, values, values - 1, values - 1])
    numbers, drawn = found.numbers(), found.drawn(HOW)
    two = difference(numbers[:2], numbers[2:], (drawn[:, :2], drawn[:, 2:]), HOW).spread.mean
    assert (two.low, two.high) == pytest.approx((1.0, 1.0))


def variance(found: SeedScores, how: Resampling) -> float:
    """From the width of the interval of a bell curve."""
    one = spread(found.numbers(), found.drawn(how), how).mean
    return ((one.high - one.low) / (2 * 1.96)) ** 2


def test_both_levels_count() -> None:
    """The variance is that of the means of items over the number of items, plus that of seeds over the number of seeds."""
    how, generator = Resampling(samples=4000), np.random.default_rng(3)
    items, seeds = generator.normal(0, 3, size=300), generator.normal(0, 0.4, size=12)
    values: Floats = items + seeds[:, None]
    expected = items.var() / 300 + seeds.var() / 12
    assert variance(scores(values), how) == pytest.approx(expected, rel=0.12)
    assert variance(scores([items]), how) == pytest.approx(items.var() / 300, rel=0.12)


def test_seeds_and_items_are_drawn_independently() -> None:
    """As many seeds as items: with the same random numbers for both, means of seeds and of items would go together."""
    values = np.arange(20.0) + np.arange(20.0)[:, None]
    how = Resampling(samples=4000)
    assert variance(scores(values), how) == pytest.approx(2 * np.arange(20.0).var() / 20, rel=0.12)
    assert variance(scores(values), how) == variance(scores(values), how)


def test_all_resamples_of_two_seeds_and_three_items_are_met() -> None:
    values = [[0.0, 1.0, 5.0], [2.0, 2.0, 2.5]]
    means = sorted(
        sum(values[seed][item] for seed in seeds for item in items) / 6
        for seeds in product(range(2), repeat=2)
        for items in product(range(3), repeat=3)
    )
    how = Resampling(samples=100_000, level=0.8)
    one = spread(scores(values).numbers(), scores(values).drawn(how), how).mean
    assert (one.low, one.high) == pytest.approx((means[10], means[-11]))  # of 108, a tenth is within the eleventh


def test_scores_that_cannot_be_are_refused() -> None:
    with pytest.raises(InputError, match=r"the shapes are \(1, 2\), \(1, 2\) and \(3,\)"):
        scores([[1, 2]], groups=[0, 0, 0])
    with pytest.raises(InputError, match="one above 0 for each seed"):
        scores([[1, 2], [0, 0]], [[1, 1], [0, 0]])
