"""Linear regression with held-out likelihood: fitted without a fold, tested on it, for each fold in turn.

The likelihood of a time is normal around its prediction, with the spread of the residuals that the fit was left with. Two sets
of predictors are compared word by word; sentences are what resamples draw and what the permutation test turns around.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dtg.evaluation.intervals import ratio_interval
from dtg.evaluation.tasks.reading.predictors import Design

Floats = NDArray[np.float64]
PERMUTATIONS = 10_000
TINY = 1e-12


def least_squares(matrix: Floats, times: Floats) -> tuple[Floats, Floats, Floats]:
    """Coefficients, their standard errors, and residuals; columns that say nothing new get 0."""
    scale = np.sqrt((matrix**2).mean(axis=0))
    scale[scale < TINY] = 1.0
    scaled = matrix / scale
    coefficients, _, rank, _ = np.linalg.lstsq(scaled, times, rcond=1e-10)
    residuals = times - scaled @ coefficients
    spread = float(residuals @ residuals) / max(1, len(times) - int(rank))
    variance = np.diag(np.linalg.pinv(scaled.T @ scaled)) * spread
    return coefficients / scale, np.sqrt(np.maximum(variance, 0.0)) / scale, residuals


def held_out(design: Design, names: Sequence[str]) -> Floats:
    """(words,) the log-likelihood of each time by a fit without its fold, in nats."""
    matrix, found = design.matrix(names), np.empty_like(design.times)
    for fold in np.unique(design.fold):
        test = design.fold == fold
        coefficients, _, residuals = least_squares(matrix[~test], design.times[~test])
        spread = max(float(residuals @ residuals) / max(1, len(residuals) - matrix.shape[1]), TINY)
        error = design.times[test] - matrix[test] @ coefficients
        found[test] = -0.5 * (np.log(2 * np.pi * spread) + error**2 / spread)
    return found


@dataclass(frozen=True, slots=True)
class Gain:
    """What one set of predictors gains over another, in nats per word."""

    value: float
    low: float
    high: float
    p: float
    words: int
    folds: int  # in how many folds it is above 0
    of_folds: int

    def as_dict(self) -> dict[str, Any]:
        return {
            "gain": self.value,
            "interval": [self.low, self.high],
            "p": self.p,
            "words": self.words,
            "folds_above_0": self.folds,
            "folds": self.of_folds,
        }


def gain(differences: Floats, item: NDArray[np.int64], fold: NDArray[np.int64], seed: int = 0) -> Gain:
    """The mean difference of log-likelihoods, with its interval and p value."""
    numbers = np.unique(item, return_inverse=True)[1]
    of_items = np.bincount(numbers, weights=differences).astype(np.float64)
    sizes = np.bincount(numbers).astype(np.float64)
    low, high = ratio_interval(of_items, sizes, seed=seed)
    which = np.unique(fold, return_inverse=True)[1]
    means = np.bincount(which, weights=differences) / np.bincount(which)
    p = sign_flip(of_items, seed)
    return Gain(float(differences.mean()), low, high, p, len(differences), int((means > 0).sum()), len(means))


def sign_flip(values: Floats, seed: int = 0, permutations: int = PERMUTATIONS) -> float:
    """The chance of a sum at least as far from 0 if each value could as well have the other sign; two-sided."""
    generator = np.random.default_rng(seed)
    observed = abs(float(values.sum()))
    reached, at_once = 0, max(1, 4_000_000 // len(values))
    for first in range(0, permutations, at_once):
        some = min(at_once, permutations - first)
        signs = generator.integers(0, 2, size=(some, len(values)), dtype=np.int8) * 2 - 1
        reached += int((np.abs(signs @ values) >= observed * (1 - 1e-12)).sum())
    return (reached + 1) / (permutations + 1)


def folds_of(stories: Sequence[str], sentences: Sequence[str], most: int = 10) -> list[int]:
    """A fold for each word: its story, or its sentence if there is but one story; of more than `most`, some together."""
    if len(set(stories)) == 1:
        stories = sentences
    order = {story: number for number, story in enumerate(dict.fromkeys(stories))}
    count = len(order)
    return [order[story] if count <= most else order[story] * most // count for story in stories]
