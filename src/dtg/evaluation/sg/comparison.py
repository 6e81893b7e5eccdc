"""Two models on the same items: results of both in, who gets what right and how likely that is by chance out.

McNemar's test looks at the items on which the models differ. If neither were better, each of those would be as likely to
be the first model's as the second's; the p value is the exact chance of a split at least as uneven. It says nothing
about other seeds of the same models. The p values of circuits are not corrected for there being several.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dtg.errors import InputError
from dtg.evaluation.bootstrap import mean_interval
from dtg.evaluation.mcnemar import mcnemar
from dtg.evaluation.sg.circuits import CIRCUITS
from dtg.evaluation.sg.scores import LEVEL, SAMPLES
from dtg.evaluation.sg.verdicts import ItemResult, Rule


@dataclass(frozen=True, slots=True)
class Overlap:
    """The paper's overlap table for some items, with the difference of the two shares of right items."""

    name: str
    both: int
    only_first: int
    only_second: int
    neither: int
    difference: float  # first minus second
    low: float
    high: float
    p_value: float

    def as_dict(self) -> dict[str, Any]:
        """For JSON; the difference and its interval in percent."""
        return {
            "both": self.both,
            "only_first": self.only_first,
            "only_second": self.only_second,
            "neither": self.neither,
            "difference": 100 * self.difference,
            "interval": [100 * self.low, 100 * self.high],
            "p": self.p_value,
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two models compared on all items, and on those of each circuit."""

    rule: Rule
    overall: Overlap
    circuits: tuple[Overlap, ...]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "overall": self.overall.as_dict(),
            "circuits": {circuit.name: circuit.as_dict() for circuit in self.circuits},
        }


def compare(
    first: Iterable[ItemResult], second: Iterable[ItemResult], rule: Rule = "all", *, seed: int = 0
) -> Comparison:
    """Two models' results, which must be of the same items."""
    paired = [(a.circuit, a.holds(rule), b.holds(rule)) for a, b in pair(first, second)]

    def overlap(name: str, pairs: Sequence[tuple[str | None, bool, bool]]) -> Overlap:
        differences = [int(a) - int(b) for _, a, b in pairs]
        low, high = mean_interval(differences, samples=SAMPLES, seed=seed, level=LEVEL)
        only_first, only_second = differences.count(1), differences.count(-1)
        both = sum(a and b for _, a, b in pairs)
        return Overlap(
            name,
            both,
            only_first,
            only_second,
            len(pairs) - both - only_first - only_second,
            (only_first - only_second) / len(pairs),
            low,
            high,
            mcnemar(only_first, only_second),
        )

    in_circuits = {circuit: [each for each in paired if each[0] == circuit] for circuit in CIRCUITS}
    return Comparison(
        rule,
        overlap("all items", paired),
        tuple(overlap(circuit, some) for circuit, some in in_circuits.items() if some),
    )


def pair(first: Iterable[ItemResult], second: Iterable[ItemResult]) -> list[tuple[ItemResult, ItemResult]]:
    """The results of the same items side by side, in the order of the first."""
    ours, theirs = ({(result.suite, result.item): result for result in results} for results in (first, second))
    if not ours:
        raise InputError("there are no items to compare.")
    for suite, item in (*ours, *theirs):
        for which, results in (("first", ours), ("second", theirs)):
            if (suite, item) not in results:
                raise InputError(
                    f"suite {suite}, item {item} is not among the results of the {which} model. "
                    "Models are compared on the same items: score both on the same suites."
                )
    return [(result, theirs[key]) for key, result in ours.items()]
