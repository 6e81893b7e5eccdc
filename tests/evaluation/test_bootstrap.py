"""Intervals by resampling: against a slow twin, and against distributions whose interval is known."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dtg.errors import InputError
from dtg.evaluation import intervals
from dtg.evaluation.intervals import mean_interval, ratio_interval


def slow_ratios(numerators: list[float], denominators: list[float], samples: int, seed: int) -> list[float]:
    """One resample after the other, one sentence after the other."""
    generator, ratios = np.random.default_rng(seed), []
    for _ in range(samples):
        places = generator.integers(len(numerators), size=len(numerators)).tolist()
        below = sum(denominators[place] for place in places)
        if below:
            ratios.append(sum(numerators[place] for place in places) / below)
    return sorted(ratios)


@pytest.mark.parametrize("at_once", [7, 30, intervals.DRAWS_AT_ONCE])
def test_same_as_the_slow_twin(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals, "DRAWS_AT_ONCE", at_once)
    numerators, denominators = [3.0, 0.0, 5.0, 0.0, 9.0, 2.0, 1.0], [4.0, 2.0, 5.0, 0.0, 12.0, 7.0, 1.0]
    ratios = slow_ratios(numerators, denominators, 101, seed=3)
    low, high = ratio_interval(numerators, denominators, samples=101, seed=3, level=0.8)
    assert low == pytest.approx(ratios[10])  # of 101 ratios, 10 are below the lower tenth
    assert high == pytest.approx(ratios[-11])


def test_the_bootstrap_distribution_of_three_values_is_met() -> None:
    """All 27 resamples of three values are equally probable; the quantiles of their means are known."""
    means = sorted(sum(some) / 3 for some in product([0.0, 1.0, 5.0], repeat=3))
    low, high = mean_interval([0.0, 1.0, 5.0], samples=100_000, level=0.8)
    assert (low, high) == pytest.approx((means[2], means[-3]))  # a tenth of 27 is within the third from each end


def test_intervals_cover_the_true_mean_about_as_often_as_they_say() -> None:
    generator = np.random.default_rng(0)
    covered = 0
    for seed in range(400):
        low, high = mean_interval(generator.normal(size=60), samples=200, seed=seed, level=0.9)
        covered += low <= 0 <= high
    assert 0.85 * 400 <= covered <= 0.94 * 400


def test_the_width_is_that_of_the_normal_approximation() -> None:
    values = np.random.default_rng(1).normal(3, 2, size=400)
    low, high = mean_interval(values, samples=4000)
    assert (high - low) / 2 == pytest.approx(1.96 * values.std() / 20, rel=0.05)
    assert (high + low) / 2 == pytest.approx(values.mean(), abs=0.02)


def test_same_seed_same_interval() -> None:
    values = np.random.default_rng(2).random(50)
    assert mean_interval(values, seed=4) == mean_interval(values, seed=4) != mean_interval(values, seed=5)


@pytest.mark.parametrize(
    ("numerators", "denominators", "options", "message"),
    [
        ([], [], {}, "at least one number"),
        ([1.0], [1.0, 2.0], {}, "1 numerators but 2 denominators"),
        ([1.0, float("nan")], [1.0, 1.0], {}, "number 2 is not"),
        ([1.0], [0.0], {}, "one of them more than 0"),
        ([1.0, 1.0], [2.0, -1.0], {}, "0 or more"),
        ([1.0], [1.0], {"samples": 0}, "samples must be at least 1"),
        ([1.0], [1.0], {"level": 1.0}, "level between 0 and 1"),
    ],
)
def test_mistakes_are_named(
    numerators: list[float], denominators: list[float], options: dict[str, float], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        ratio_interval(numerators, denominators, **options)  # type: ignore[arg-type]
