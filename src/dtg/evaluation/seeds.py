"""The two-level bootstrap: how much a number depends on which items were looked at, and on which seeds were trained.

Each resample draws as many seeds of a system as there are and, as `intervals` does, as many items; all seeds are scored on the
same items, so that an item that is hard for all of them does not count as a difference between seeds. Seeds of two systems are
drawn independently: the first seed of one has no more to do with the first of another than with its second.

Of n seeds, resamples show only (n - 1)/n of the variance between seeds, half of it where there are two. A system with a single
seed has no such variance at all: then the interval is that over items.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dtg.errors import InputError
from dtg.evaluation.intervals import Floats, Interval, Resampling, is_small, middle, resamples

FIRST, SECOND = 1, 2  # whose seeds are drawn: each with random numbers of its own


@dataclass(frozen=True, slots=True)
class SeedScores:
    """What every seed, of one system or of several, counts on the same items: Σ above / Σ below is its number.

    With `over_groups` it is the mean over groups of items of their ratios, in which a group without any `below` does not count.
    """

    above: Floats  # (seeds, items)
    below: Floats  # (seeds, items)
    groups: NDArray[np.int64]  # (items,) from 0; items are drawn within their group
    over_groups: bool = False

    def __post_init__(self) -> None:
        if self.above.ndim != 2 or self.above.shape != self.below.shape or self.above.shape[1:] != self.groups.shape:
            raise InputError(
                f"a number for each item of each seed is expected, and a group for each item; the shapes are "
                f"{self.above.shape}, {self.below.shape} and {self.groups.shape}."
            )
        if not self.groups.size or (self.below < 0).any() or not self.below.any(axis=1).all():
            raise InputError("there must be items, denominators of 0 or more, and one above 0 for each seed.")

    def numbers(self) -> Floats:
        """(seeds,) of all items."""
        sums = self.no_sums(1)
        self.add(sums, np.ones((1, len(self.groups))), np.arange(len(self.groups)))
        found: Floats = self.ratios(sums)[0]
        return found

    def drawn(self, how: Resampling) -> Floats:
        """(samples, seeds) of the items of each resample; NaN for a resample in which a seed has no number."""
        sums = self.no_sums(how.samples)
        for place, block in enumerate(self.blocks()):
            first = 0
            for counts in resamples(len(block), how.samples, how.seed + place):
                self.add(sums[first : first + len(counts)], counts, block)
                first += len(counts)
        return self.ratios(sums)

    def no_sums(self, samples: int) -> Floats:
        """(samples, 2, seeds, groups) for Σ above and Σ below."""
        return np.zeros((samples, 2, len(self.above), self.groups.max() + 1))

    def blocks(self) -> list[NDArray[np.int64]]:
        """The items that are drawn together: those of a group or, where a group has few, all of them."""
        if is_small(np.bincount(self.groups)):
            return [np.arange(len(self.groups))]
        return [np.flatnonzero(self.groups == group) for group in np.unique(self.groups)]

    def add(self, sums: Floats, counts: Floats, items: NDArray[np.int64]) -> None:
        """Add these items, each as often as `counts` (samples, items) says."""
        for group in np.unique(self.groups[items]):
            inside = self.groups[items] == group
            for place, values in enumerate((self.above, self.below)):
                sums[:, place, :, group] += counts[:, inside] @ values[:, items[inside]].T

    def ratios(self, sums: Floats) -> Floats:
        """(samples, seeds) the numbers that the sums amount to."""
        above, below = sums[:, 0], sums[:, 1]  # (samples, seeds, groups)
        if self.over_groups:
            there = (below > 0).astype(np.float64)
            above, below = above / np.where(below > 0, below, 1.0) * there, there
        counted: Floats = below.sum(axis=2)
        counted[counted == 0] = np.nan
        found: Floats = above.sum(axis=2) / counted
        return found


@dataclass(frozen=True, slots=True)
class Spread:
    """The mean over seeds with its interval over seeds and items, and the seeds that are lowest and highest."""

    mean: Interval
    lowest: float
    highest: float


@dataclass(frozen=True, slots=True)
class SeedDifference:
    """One system minus another: the spread over all pairs of a seed of each, and in how many of them it has the same sign."""

    spread: Spread
    holds: int
    pairs: int


def spread(numbers: Floats, drawn: Floats, how: Resampling) -> Spread:
    """Of a system whose seeds have these `numbers` (seeds,), and in resamples of the items those `drawn` (samples, seeds)."""
    means = mean_of_seeds(drawn, how, FIRST)
    return Spread(between(float(numbers.mean()), means, how), float(numbers.min()), float(numbers.max()))


def difference(first: Floats, second: Floats, drawn: tuple[Floats, Floats], how: Resampling) -> SeedDifference:
    """Of two systems: the numbers of the seeds of each, and of both in the same resamples of the items."""
    value = float(first.mean() - second.mean())
    means = mean_of_seeds(drawn[0], how, FIRST) - mean_of_seeds(drawn[1], how, SECOND)
    pairs = first[:, None] - second  # (seeds of the first, seeds of the second)
    holds = int((np.sign(pairs) == np.sign(value)).sum()) if value else 0
    return SeedDifference(Spread(between(value, means, how), float(pairs.min()), float(pairs.max())), holds, pairs.size)


def mean_of_seeds(drawn: Floats, how: Resampling, whose: int) -> Floats:
    """(samples,) the mean over seeds that are drawn anew for each resample."""
    counts = np.concatenate(list(resamples(drawn.shape[1], how.samples, (how.seed, whose))))
    means: Floats = (drawn * counts).sum(axis=1) / drawn.shape[1]
    return means


def between(value: float, results: Floats, how: Resampling) -> Interval:
    """A value with the interval of the resamples that have one."""
    known = results[np.isfinite(results)]
    if not len(known):
        raise InputError(f"none of {how.samples:,} resamples has a number; give more items or samples.")
    return Interval(value, *middle(known, how.level))
