"""How many items are right: the results of a model's items in, scores by suite and circuit and nine averages out.

A suite's score is the share of its items that are right, a circuit's the mean over its suites. Published results average
in three ways over three sets of suites (circuits.py):

    micro         the share of all items that are right
    suite mean    the mean over suites
    circuit mean  the mean over circuits; a suite that belongs to none does not count

All are means over suites with weights. Intervals are by bootstrap: items are drawn again within each suite, the suites
stay. A suite whose items are all right, or all wrong, has an interval without width.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dtg.errors import InputError
from dtg.evaluation.bootstrap import resamples
from dtg.evaluation.sg.circuits import CIRCUITS, SuiteSet, circuit_of, sets_of
from dtg.evaluation.sg.verdicts import ItemResult, Rule

Mean = Literal["micro", "suite mean", "circuit mean"]
MEANS: tuple[Mean, ...] = ("micro", "suite mean", "circuit mean")
Floats = NDArray[np.float64]
LEVEL, SAMPLES = 0.95, 1000
INTERVALS = (
    f"Intervals: {100 * LEVEL:g} %, by bootstrap over the items of each suite ({SAMPLES:,} resamples). They leave out the "
    "variance between models trained with different seeds."
)


@dataclass(frozen=True, slots=True)
class Score:
    """A share between 0 and 1, and the interval it lies in."""

    name: str
    value: float
    low: float
    high: float
    items: int
    right: int  # items
    ties: int  # strict comparisons between equal numbers

    def as_dict(self) -> dict[str, Any]:
        """For JSON; shares in percent."""
        return {
            "items": self.items,
            "right": self.right,
            "ties": self.ties,
            "accuracy": 100 * self.value,
            "interval": [100 * self.low, 100 * self.high],
        }


@dataclass(frozen=True, slots=True)
class Average:
    """One of the published ways to put a number on all of it."""

    suites: SuiteSet
    mean: Mean
    score: Score


@dataclass(frozen=True, slots=True)
class Scores:
    """Everything that is reported of one model; `predictions` are the shares of items each prediction holds of."""

    rule: Rule
    suites: tuple[Score, ...]
    predictions: dict[str, tuple[float, ...]]
    circuits: tuple[Score, ...]
    averages: tuple[Average, ...]

    def as_dict(self) -> dict[str, Any]:
        """For JSON; shares in percent."""
        return {
            "averages": [
                {"suites": one.suites.name, "meaning": one.suites.meaning, "mean": one.mean, **one.score.as_dict()}
                for one in self.averages
            ],
            "circuits": {one.name: one.as_dict() for one in self.circuits},
            "suites": {
                one.name: {
                    "circuit": circuit_of(one.name),
                    **one.as_dict(),
                    "predictions": [100 * share for share in self.predictions[one.name]],
                }
                for one in self.suites
            },
        }


def score_items(results: Iterable[ItemResult], rule: Rule = "all", *, seed: int = 0) -> Scores:
    """The scores of some items by suite, by circuit and together."""
    by_suite: dict[str, list[ItemResult]] = {}
    for result in results:
        by_suite.setdefault(result.suite, []).append(result)
    if not by_suite:
        raise InputError("there are no items to score.")
    names = tuple(by_suite)
    right = [np.array([result.holds(rule) for result in some], np.float64) for some in by_suite.values()]
    shares = np.array([some.mean() for some in right])  # (suites,)
    drawn = np.stack([drawn_shares(some, seed + place) for place, some in enumerate(right)], axis=1)

    def score(name: str, weights: Floats) -> Score:
        """Suites without weight do not count."""
        low, high = np.quantile(drawn @ weights, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        counted = [result for suite, weight in zip(names, weights, strict=True) if weight for result in by_suite[suite]]
        return Score(
            name,
            float(shares @ weights),
            float(low),
            float(high),
            len(counted),
            sum(result.holds(rule) for result in counted),
            sum(result.ties(rule) for result in counted),
        )

    in_circuits = {circuit: frozenset(name for name in names if circuit_of(name) == circuit) for circuit in CIRCUITS}
    sizes = [len(some) for some in right]
    weighted = [
        (some, mean, suite_weights(mean, names, sizes, some.suites)) for some in sets_of(names) for mean in MEANS
    ]
    return Scores(
        rule,
        tuple(score(name, weights) for name, weights in zip(names, np.eye(len(names)), strict=True)),
        {name: prediction_shares(some) for name, some in by_suite.items()},
        tuple(
            score(circuit, suite_weights("suite mean", names, sizes, some))
            for circuit, some in in_circuits.items()
            if some
        ),
        tuple(Average(some, mean, score(mean, weights)) for some, mean, weights in weighted if weights.any()),
    )


def suite_weights(mean: Mean, names: Sequence[str], sizes: Sequence[int], counted: frozenset[str]) -> Floats:
    """(suites,) what each suite's share counts in a mean over the suites in `counted`; 0 everywhere if none does."""
    in_circuit = Counter(circuit_of(name) for name in names if name in counted)

    def weight(name: str, size: int) -> float:
        circuit = circuit_of(name)
        if name not in counted or (mean == "circuit mean" and circuit is None):
            return 0
        return {"micro": size, "suite mean": 1, "circuit mean": 1 / in_circuit[circuit]}[mean]

    weights = np.array([weight(name, size) for name, size in zip(names, sizes, strict=True)], np.float64)
    return weights / (weights.sum() or 1)


def drawn_shares(right: Floats, seed: int) -> Floats:
    """(resamples,) the share of right items in each resample of one suite's items."""
    return np.concatenate([drawn @ right for drawn in resamples(len(right), SAMPLES, seed)]) / len(right)


def prediction_shares(results: Sequence[ItemResult]) -> tuple[float, ...]:
    """For each prediction of one suite the share of items that it holds of."""
    held = np.array([[verdict.holds for verdict in result.verdicts] for result in results])
    return tuple(held.mean(axis=0).tolist())
