"""Two models on the same items: which of them gets what right, by how much they differ, and how likely that is by chance.

McNemar's test looks at the items on which only one model is right. If neither were better, each of those would fall to
either side like a coin; p is the exact, two-sided chance of a split at least as uneven. It says nothing about other seeds of
the same models, and p values of groups are not corrected for there being several of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dtg.errors import InputError
from dtg.evaluation.intervals import Resampling, mean_interval, ratio_interval, total_intervals
from dtg.evaluation.rendering import Block, Table, TextBlock, p_value, signed

Key = TypeVar("Key", bound=Hashable)
ONLY = ("only_first", "only_second")


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """How one item came out: `group` is what comparisons are broken down by, `stratum` what resamples keep."""

    is_right: bool
    group: str | None = None
    stratum: str | None = None


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Two models on the same items: the overlap table of some of them, and the difference of the shares of right ones."""

    group: str
    both: int
    only_first: int
    only_second: int
    neither: int
    low: float
    high: float

    @property
    def items(self) -> int:
        return self.both + self.only_first + self.only_second + self.neither

    @property
    def difference(self) -> float:
        """The first model's share minus the second's."""
        return (self.only_first - self.only_second) / self.items

    @property
    def p(self) -> float:
        return mcnemar(self.only_first, self.only_second)

    def as_dict(self, only: tuple[str, str] = ONLY) -> dict[str, Any]:
        """For JSON; the difference and its interval in percent."""
        return {
            "both": self.both,
            only[0]: self.only_first,
            only[1]: self.only_second,
            "neither": self.neither,
            "difference": 100 * self.difference,
            "interval": [100 * self.low, 100 * self.high],
            "p": self.p,
        }


def paired_tests(
    first: Mapping[Key, ItemOutcome],
    second: Mapping[Key, ItemOutcome],
    everything: str,
    groups: Sequence[str],
    how: Resampling | None = None,
) -> list[PairedTest]:
    """Of all items, called `everything`, and of those of each group that has any. Both models must have the same items."""
    pairs = [(outcome, second[key]) for key, outcome in first.items()]
    if not pairs:
        raise InputError("there are no items to compare.")
    in_groups = {group: [pair for pair in pairs if pair[0].group == group] for group in groups}
    return [paired_test(name, some, how) for name, some in {everything: pairs, **in_groups}.items() if some]


def paired_test(
    group: str, pairs: Sequence[tuple[ItemOutcome, ItemOutcome]], how: Resampling | None = None
) -> PairedTest:
    """Items drawn within their strata where they have some, and otherwise all alike."""
    how = how or Resampling()
    ways = [(True, False), (False, True), (True, True), (False, False)]
    counts: dict[str | None, list[int]] = {}  # of each stratum: only the first, only the second, both, neither
    for one, other in pairs:
        counts.setdefault(one.stratum, [0, 0, 0, 0])[ways.index((one.is_right, other.is_right))] += 1
    only_first, only_second, both, neither = (sum(column) for column in zip(*counts.values(), strict=True))
    if set(counts) == {None}:
        differences = [int(one.is_right) - int(other.is_right) for one, other in pairs]
        bounds = mean_interval(differences, samples=how.samples, seed=how.seed, level=how.level)
    else:
        bounds, _ = total_intervals(list(counts.values()), (1, -1, 0, 0), how)
    return PairedTest(group, both, only_first, only_second, neither, *bounds)


def paired_difference(values: ArrayLike, weights: ArrayLike, seed: int = 0) -> tuple[float, float, float]:
    """Σ values / Σ weights, such as bits over words, with the interval of the paired bootstrap over items."""
    above, below = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    return float(above.sum() / below.sum()), *ratio_interval(above, below, seed=seed)


def mcnemar(only_a: int, only_b: int) -> float:
    """The probability that n = only_a + only_b fair coins fall at least as unevenly; 1 if n is 0."""
    if only_a < 0 or only_b < 0:
        raise InputError(f"McNemar's test takes two counts of items; {only_a} and {only_b} were given.")
    coins = only_a + only_b
    ways, tail = 1, 0  # ways to choose k of the coins, exact however many there are
    for k in range(min(only_a, only_b) + 1):
        tail += ways
        ways = ways * (coins - k) // (k + 1)
    return min(1.0, 2 * tail / (1 << coins))  # both tails; they overlap where the split is even


def overlap_table(
    tests: Mapping[str, Mapping[str, Any]], title: str = "", only: tuple[str, str] = ONLY, label: str = ""
) -> Table:
    """The tests of some groups, as results.json has them; with a `label`, that is the first column."""
    header = [
        "difference",
        "95 % interval",
        "both right",
        "only the first",
        "only the second",
        "neither",
        "p (McNemar)",
    ]
    rows = [
        [
            *([label] if label else []),
            group,
            signed(one["difference"]),
            interval_text(one["interval"]),
            *(f"{one[count]:,}" for count in ("both", *only, "neither")),
            p_value(one["p"]),
        ]
        for group, one in tests.items()
    ]
    return Table([*([""] if label else []), title, *header], rows)


def overlap_summary(
    names: tuple[str, str], tests: Mapping[str, Mapping[str, Any]], only: tuple[str, str] = ONLY
) -> list[Block]:
    """The first test in words; the others as a table."""
    (_, one), *others = tests.items()
    first, second = names
    difference = f"{signed(one['difference'])} {interval_text(one['interval'])}; p {p_value(one['p'])} (McNemar)"
    right = f"right: both {one['both']:,}, only {first} {one[only[0]]:,}, only {second} {one[only[1]]:,}"
    lines = TextBlock([f"{first} − {second}: {difference}", f"{right}, neither {one['neither']:,}"])
    return [lines, *([overlap_table(dict(others), only=only)] if others else [])]


def interval_text(bounds: Sequence[float]) -> str:
    low, high = bounds
    return f"[{low:+.1f}, {high:+.1f}]"


def other_name(name: str, other: str, where: str) -> str:
    """What to call another model's results beside those of `name`: its own name, unless that is the same."""
    return other if other != name else f"{other} ({where})"
