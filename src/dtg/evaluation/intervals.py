"""Confidence intervals: Wilson's for a proportion, the percentile bootstrap for means, ratios and totals over groups.

The bootstrap (Efron 1979) draws as many items as there are, with replacement, many times over; the interval is where the
middle 95 % of the results lie. Items are drawn within their group (a paradigm, a suite), because the groups are fixed and only
their items are a sample of many. Where a group has fewer than ten items that says too little (a group of one would never vary):
then items are drawn from all groups together. A single group's proportion has Wilson's interval (1927), which is right for
few items too.

This tells how much a result depends on which items were looked at, and nothing about other seeds of training (`seeds` does).
For a difference of two models on the same items, give the items' differences: that is the paired bootstrap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtg.errors import InputError

Floats = NDArray[np.float64]
Bounds = tuple[float, float]
DRAWS_AT_ONCE = 1_000_000  # bounds memory: draws of items held together
FEW = 10  # items of a group below which items are not drawn within their groups
SAMPLES, LEVEL = 1000, 0.95
SEEDS = "variance between models trained with different seeds"


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with its 95 % confidence interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, content: Mapping[str, Any], value: str = "accuracy", interval: str = "interval") -> Interval:
        """From a value and a list of two in results.json."""
        return cls(content[value], *content[interval])


@dataclass(frozen=True, slots=True)
class Resampling:
    """How bootstrap intervals are made: the middle `level` of the results of `samples` resamples."""

    samples: int = SAMPLES
    seed: int = 0
    level: float = LEVEL

    def __post_init__(self) -> None:
        if self.samples < 1 or not 0 < self.level < 1:
            raise InputError(
                f"samples must be at least 1 and level between 0 and 1; they are {self.samples} and {self.level}."
            )


def wilson(right: int, items: int, level: float = LEVEL) -> Bounds:
    """The interval of a proportion.

    >>> tuple(round(100 * bound, 1) for bound in wilson(3, 4))
    (30.1, 95.4)
    """
    if items < 1 or not 0 <= right <= items:
        raise InputError(f"a proportion is of at least one item; {right} of {items} were given.")
    z = NormalDist().inv_cdf((1 + level) / 2)
    share, pull = right / items, z * z / items
    middle = (share + pull / 2) / (1 + pull)
    half = z / (1 + pull) * float(np.sqrt(share * (1 - share) / items + pull / (4 * items)))
    return (0.0 if right == 0 else middle - half), (1.0 if right == items else middle + half)


def mean_interval(values: ArrayLike, *, samples: int = SAMPLES, seed: int = 0, level: float = LEVEL) -> Bounds:
    """The bootstrap interval of the mean of `values`, one of each item."""
    some = checked(values, "values")
    return ratio_interval(some, np.ones_like(some), samples=samples, seed=seed, level=level)


def ratio_interval(
    numerators: ArrayLike, denominators: ArrayLike, *, samples: int = SAMPLES, seed: int = 0, level: float = LEVEL
) -> Bounds:
    """The bootstrap interval of Σ numerators / Σ denominators, such as right heads over words; one pair for each sentence.

    A resample whose denominators sum to 0 has no ratio and does not count.
    """
    above, below = checked(numerators, "numerators"), checked(denominators, "denominators")
    if len(above) != len(below):
        raise InputError(f"there are {len(above):,} numerators but {len(below):,} denominators; each needs the other.")
    if (below < 0).any() or not below.any():
        raise InputError("denominators must be 0 or more, and one of them more than 0.")
    if samples < 1 or not 0 < level < 1:
        raise InputError(f"samples must be at least 1 and level between 0 and 1; they are {samples} and {level}.")
    sums = np.concatenate([drawn @ np.stack([above, below], axis=1) for drawn in resamples(len(above), samples, seed)])
    with_ratio = sums[sums[:, 1] > 0]
    if not len(with_ratio):
        raise InputError(
            f"no denominator is more than 0 in any of {samples:,} resamples; give more sentences or samples."
        )
    return middle(with_ratio[:, 0] / with_ratio[:, 1], level)


def resamples(count: int, samples: int, seed: int | Sequence[int]) -> Iterator[Floats]:
    """(some samples, count) how often each item is in each resample."""
    generator = np.random.default_rng(seed)
    at_once = max(1, DRAWS_AT_ONCE // count)
    for first in range(0, samples, at_once):
        some = min(at_once, samples - first)
        drawn = generator.integers(count, size=(some, count)) + count * np.arange(some)[:, None]
        yield np.bincount(drawn.ravel(), minlength=some * count).reshape(some, count).astype(np.float64)


def share_intervals(counts: ArrayLike, how: Resampling) -> tuple[Bounds, Bounds]:
    """The intervals of the share of right items and of the mean over groups of their shares.

    `counts` (groups, 2) says how many items of each group are right, and how many are not.
    """
    came_out = np.asarray(counts, dtype=np.int64)
    right, items = int(came_out[:, 0].sum()), int(came_out.sum())
    if len(came_out) == 1 or (is_small(came_out.sum(axis=1)) and right in (0, items)):
        bounds = wilson(right, items, how.level)
        return bounds, bounds
    return total_intervals(came_out, (1, 0), how)


def total_intervals(counts: ArrayLike, values: ArrayLike, how: Resampling) -> tuple[Bounds, Bounds]:
    """The bootstrap intervals of the mean over items and of the mean over groups of their means.

    `counts` (groups, outcomes) says how many items of each group came out how; `values` (outcomes,) what that counts.
    """
    came_out = np.asarray(counts, dtype=np.int64)
    if not is_small(came_out.sum(axis=1)):
        return mean_intervals(came_out, values, how)
    over_items, over_groups = pooled(came_out, values, np.ones(len(came_out)), how)
    return middle(over_items, how.level), middle(over_groups, how.level)


def mean_intervals(counts: ArrayLike, values: ArrayLike, how: Resampling) -> tuple[Bounds, Bounds]:
    """The same with items always drawn within their groups.

    Of items that come out in a few ways only, a resample is a multinomial draw of how many did; so BLiMP's 67,000 pairs need
    not be drawn one by one. For a single group this is `mean_interval`.
    """
    came_out = np.asarray(counts, dtype=np.int64)
    sizes = came_out.sum(axis=1)
    assert sizes.all(), "a group has items"
    generator = np.random.default_rng(how.seed)
    sums = np.stack(
        [  # (groups, samples)
            generator.multinomial(size, outcomes / size, size=how.samples) @ np.asarray(values, dtype=np.float64)
            for outcomes, size in zip(came_out, sizes, strict=True)
        ]
    )
    over_items, over_groups = sums.sum(axis=0) / sizes.sum(), (sums / sizes[:, None]).mean(axis=0)
    return middle(over_items, how.level), middle(over_groups, how.level)


def pooled(counts: ArrayLike, values: ArrayLike, weights: ArrayLike, how: Resampling) -> tuple[Floats, Floats]:
    """(samples,) the mean over items, and over groups by `weights`, of items drawn from all groups together.

    A group of which a resample has no item does not count in it.
    """
    came_out = np.asarray(counts, dtype=np.int64)
    items = came_out.sum()
    generator = np.random.default_rng(how.seed)
    drawn = generator.multinomial(items, came_out.ravel() / items, size=how.samples).reshape(-1, *came_out.shape)
    sums = drawn @ np.asarray(values, dtype=np.float64)  # (samples, groups)
    sizes = drawn.sum(axis=2)
    there = np.where(sizes > 0, np.asarray(weights, dtype=np.float64), 0.0)
    means = sums / np.maximum(sizes, 1)
    return sums.sum(axis=1) / items, (means * there).sum(axis=1) / there.sum(axis=1)


def weighted_shares(right: Sequence[Floats], seed: int) -> Floats:
    """(samples, groups) the share of right items in each resample of each group's items, for `weighted_interval`."""
    return np.stack(
        [
            np.concatenate([drawn @ some for drawn in resamples(len(some), SAMPLES, seed + place)]) / len(some)
            for place, some in enumerate(right)
        ],
        axis=1,
    )


def weighted_interval(
    right: Sequence[Floats], weights: Floats, drawn: Floats, seed: int, *, over_items: bool
) -> Bounds:
    """The interval of a mean over groups by `weights`; groups without weight do not count.

    `right` has a 1 for each right item of each group and a 0 for each other; `drawn` are their `weighted_shares`. With
    `over_items` the mean is the share of all items.
    """
    counted = np.flatnonzero(weights).tolist()
    counts = np.array([(right[place].sum(), len(right[place]) - right[place].sum()) for place in counted], np.int64)
    total, items = int(counts[:, 0].sum()), int(counts.sum())
    if len(counted) == 1 or (is_small(counts.sum(axis=1)) and total in (0, items)):
        return wilson(total, items)
    if not is_small(counts.sum(axis=1)):
        return middle(drawn @ weights)
    by_item, by_group = pooled(counts, (1, 0), weights[counted], Resampling(seed=seed))
    return middle(by_item if over_items else by_group)


def is_small(sizes: NDArray[np.int64]) -> bool:
    """Whether items are to be drawn from all groups together; a single group is all there is."""
    return len(sizes) > 1 and bool((sizes < FEW).any())


def middle(results: Floats, level: float = LEVEL) -> Bounds:
    low, high = np.quantile(results, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def checked(values: ArrayLike, what: str) -> Floats:
    """Numbers, one for each item."""
    some = np.asarray(values, dtype=np.float64)
    if some.ndim != 1 or not some.size:
        raise InputError(f"{what} must be a list of at least one number; its shape is {some.shape}.")
    if not np.isfinite(some).all():
        raise InputError(f"{what} must be finite numbers; number {int(np.argmin(np.isfinite(some))) + 1} is not.")
    return some
