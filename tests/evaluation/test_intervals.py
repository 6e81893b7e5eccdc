"""Intervals that are right for few items: Wilson's against the literature, totals over small groups against resampling."""

from __future__ import annotations

import random

import numpy as np
import pytest

from dtg.errors import InputError
from dtg.evaluation.intervals import (
    Resampling,
    mean_intervals,
    share_intervals,
    total_intervals,
    weighted_interval,
    weighted_shares,
    wilson,
)


@pytest.mark.parametrize(
    ("right", "items", "low", "high"),
    [  # Newcombe 1998, Table I, without continuity correction
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_as_published(right: int, items: int, low: float, high: float) -> None:
    assert wilson(right, items) == pytest.approx((low, high), abs=5e-5)
    mirrored = wilson(items - right, items)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=5e-5)
    with pytest.raises(InputError, match="3 of 2 were given"):
        wilson(3, 2)


def test_three_of_four_is_uncertain() -> None:
    """Four groups of one item: resampling within groups would say [75, 75]."""
    counts = [(1, 0), (1, 0), (1, 0), (0, 1)]
    assert mean_intervals(counts, (1, 0), Resampling())[0] == (0.75, 0.75)
    for low, high in share_intervals(counts, Resampling()):
        assert low < 0.6 < 0.9 < high
    one = share_intervals([(3, 1)], Resampling())
    assert one == (wilson(3, 4), wilson(3, 4))
    assert share_intervals([(2, 0), (3, 0)], Resampling())[0] == wilson(5, 5)  # all right, and few


def test_groups_of_ten_are_resampled_within() -> None:
    large, how = [(7, 3), (2, 8)], Resampling()
    assert share_intervals(large, how) == total_intervals(large, (1, 0), how) == mean_intervals(large, (1, 0), how)
    assert share_intervals([*large, (1, 1)], how) != mean_intervals([*large, (1, 1)], (1, 0), how)


def test_small_groups_are_resampled_together() -> None:
    """The slow twin draws every item of every resample from all groups."""
    groups = [[1] * 6 + [0] * 3, [1, 0], [0] * 5 + [1] * 7]
    items = [(place, value) for place, values in enumerate(groups) for value in values]
    chance, over_items, over_groups = random.Random(3), [], []
    for _ in range(4000):
        drawn = chance.choices(items, k=len(items))
        over_items.append(sum(value for _, value in drawn) / len(items))
        means = [[value for place, value in drawn if place == group] for group in range(len(groups))]
        over_groups.append(np.mean([np.mean(some) for some in means if some]))
    counts = [(sum(values), len(values) - sum(values)) for values in groups]
    for found, twin in zip(share_intervals(counts, Resampling(4000)), (over_items, over_groups), strict=True):
        assert found == pytest.approx(np.quantile(twin, [0.025, 0.975]), abs=0.03)


def test_weighted_means() -> None:
    right = [np.array([1.0] * 8 + [0.0] * 4), np.array([1.0] * 3 + [0.0] * 9), np.array([1.0])]
    drawn = weighted_shares(right, seed=0)
    assert weighted_interval(right, np.array([0.0, 1.0, 0.0]), drawn, 0, over_items=False) == wilson(3, 12)
    two = np.array([0.5, 0.5, 0.0])
    expected = np.quantile(drawn @ two, [0.025, 0.975])
    assert weighted_interval(right, two, drawn, 0, over_items=False) == pytest.approx(tuple(expected))
    low, high = weighted_interval(right, np.array([12, 12, 1]) / 25, drawn, 0, over_items=True)
    assert low < 12 / 25 < high
