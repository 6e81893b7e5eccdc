"""Uncertainty of BLiMP's accuracies: how the pairs of each paradigm came out in, bootstrap intervals of the two means out.

Pairs are resampled within their paradigm, for the paradigms are fixed and only the pairs are a sample of many. Of pairs that
can come out in a few ways only (right or not), a resample is a multinomial draw of how many did; so the 67,000
need not be drawn one by one. For a single paradigm this is `dtg.evaluation.bootstrap.mean_interval`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dtg.errors import InputError


@dataclass(frozen=True, slots=True)
class Resampling:
    """How intervals are made: the middle `level` of the results of so many resamples."""

    samples: int = 1000
    seed: int = 0
    level: float = 0.95

    def __post_init__(self) -> None:
        if self.samples < 1 or not 0 < self.level < 1:
            raise InputError(
                f"samples must be at least 1 and level between 0 and 1; they are {self.samples} and {self.level}."
            )


@dataclass(frozen=True, slots=True)
class Interval:
    """Where a mean may well be."""

    low: float
    high: float


def mean_intervals(counts: ArrayLike, values: ArrayLike, how: Resampling) -> tuple[Interval, Interval]:
    """The intervals of the mean over pairs and of the mean over paradigms.

    `counts` (paradigms, outcomes) says how many pairs of each paradigm came out how; `values` (outcomes,) what that counts.
    """
    came_out = np.asarray(counts, dtype=np.int64)
    sizes = came_out.sum(axis=1)
    assert sizes.all(), "a paradigm has pairs"
    generator = np.random.default_rng(how.seed)
    sums = np.stack(
        [  # (paradigms, samples)
            generator.multinomial(size, outcomes / size, size=how.samples) @ np.asarray(values, dtype=np.float64)
            for outcomes, size in zip(came_out, sizes, strict=True)
        ]
    )
    over_pairs, over_paradigms = sums.sum(axis=0) / sizes.sum(), (sums / sizes[:, None]).mean(axis=0)
    return middle(over_pairs, how.level), middle(over_paradigms, how.level)


def middle(results: np.ndarray, level: float) -> Interval:
    low, high = np.quantile(results, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))
