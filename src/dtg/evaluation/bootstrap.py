"""Uncertainty by resampling: values of sentences (or items) in, an interval for their mean or ratio out.

The percentile bootstrap (Efron 1979): draw as many sentences as there are, with replacement, many times over; the interval
is where the middle `level` of the results lie. It tells how much the result depends on which sentences were looked at,
and nothing about other seeds of training.

For a difference of two systems on the same sentences, give the sentences' differences: that is the paired bootstrap.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtg.errors import InputError

Floats = NDArray[np.float64]
DRAWS_AT_ONCE = 1_000_000  # bounds memory: draws of sentences held together


def mean_interval(values: ArrayLike, *, samples: int = 1000, seed: int = 0, level: float = 0.95) -> tuple[float, float]:
    """The interval of the mean of `values`, one of each sentence."""
    some = checked(values, "values")
    return ratio_interval(some, np.ones_like(some), samples=samples, seed=seed, level=level)


def ratio_interval(
    numerators: ArrayLike, denominators: ArrayLike, *, samples: int = 1000, seed: int = 0, level: float = 0.95
) -> tuple[float, float]:
    """The interval of Σ numerators / Σ denominators, such as right heads over words; one pair for each sentence.

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
    ratios = with_ratio[:, 0] / with_ratio[:, 1]
    low, high = np.quantile(ratios, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def resamples(count: int, samples: int, seed: int) -> Iterator[Floats]:
    """(some samples, count) how often each sentence is in each resample."""
    generator = np.random.default_rng(seed)
    at_once = max(1, DRAWS_AT_ONCE // count)
    for first in range(0, samples, at_once):
        some = min(at_once, samples - first)
        drawn = generator.integers(count, size=(some, count)) + count * np.arange(some)[:, None]
        yield np.bincount(drawn.ravel(), minlength=some * count).reshape(some, count).astype(np.float64)


def checked(values: ArrayLike, what: str) -> Floats:
    """Numbers, one for each sentence."""
    some = np.asarray(values, dtype=np.float64)
    if some.ndim != 1 or not some.size:
        raise InputError(f"{what} must be a list of at least one number; its shape is {some.shape}.")
    if not np.isfinite(some).all():
        raise InputError(f"{what} must be finite numbers; number {int(np.argmin(np.isfinite(some))) + 1} is not.")
    return some
