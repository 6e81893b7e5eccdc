"""Which items a model gets right: suites and the surprisals of their regions in, a verdict for each prediction out.

A suite may predict several things of an item. Two rules are in use for when the item as a whole is right: all predictions
hold (SyntaxGym's own metric), or the first does (the results of Hu et al. 2020 and the code released with the paper). They
differ for `fgd_hierarchy` and `nn-nv-rpl`, which have two predictions. Those of fgd_hierarchy exclude each other but for
the tolerance of `=`: where all must hold, hardly any of its items can be right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from dtg.errors import InputError
from dtg.evaluation.sg.circuits import circuit_of
from dtg.evaluation.sg.formulas import Verdict, judge
from dtg.evaluation.sg.suites import Item, Key, Suite
from dtg.io.settings import check_choice

Rule = Literal["all", "first"]
RULES: dict[Rule, str] = {
    "all": "an item is right if all predictions of its suite hold",
    "first": "an item is right if the first prediction of its suite holds",
}
CONTRADICTION = (
    "The two predictions of fgd_hierarchy exclude each other (one region is less surprising than another; both are the same), "
    "so that hardly any item can be right by all predictions, whatever the model."
)
RegionSurprisals = Mapping[Key, Sequence[float]]  # for each sentence the surprisals of its regions, in bits


@dataclass(frozen=True, slots=True)
class ItemResult:
    """What a model makes of one item: a verdict for each prediction of its suite."""

    suite: str
    item: int
    verdicts: tuple[Verdict, ...]

    @property
    def circuit(self) -> str | None:
        return circuit_of(self.suite)

    def holds(self, rule: Rule) -> bool:
        """Whether the item is right."""
        check_choice("rule", rule, RULES)
        return self.verdicts[0].holds if rule == "first" else all(verdict.holds for verdict in self.verdicts)

    def ties(self, rule: Rule) -> int:
        """How many strict comparisons, of the predictions that count, were between equal numbers."""
        return sum(verdict.ties for verdict in (self.verdicts[:1] if rule == "first" else self.verdicts))


def judge_items(suites: Iterable[Suite], surprisals: RegionSurprisals) -> tuple[ItemResult, ...]:
    """Every item of some suites, in their order."""
    return tuple(judge_item(suite, item, surprisals) for suite in suites for item in suite.items)


def judge_item(suite: Suite, item: Item, surprisals: RegionSurprisals) -> ItemResult:
    """The verdicts on one item."""
    by_region: dict[tuple[int, str], float] = {}
    for condition in item.conditions:
        key = Key(suite.name, item.number, condition.name)
        if key not in surprisals:
            raise InputError(f"there are no surprisals of {key}.")
        values = surprisals[key]
        if len(values) != len(suite.regions):
            raise InputError(
                f"{key}: {len(suite.regions)} regions are expected; there are surprisals of {len(values)}."
            )
        by_region.update({(number, condition.name): value for number, value in enumerate(values, start=1)})
    try:
        verdicts = tuple(judge(prediction.formula, by_region) for prediction in suite.predictions)
    except InputError as error:
        raise InputError(f"suite {suite.name}, item {item.number}: {error}") from None
    return ItemResult(suite.name, item.number, verdicts)
