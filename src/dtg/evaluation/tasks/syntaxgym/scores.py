"""Which items of SyntaxGym a model gets right, and the scores of suites, circuits and the averages in use.

A suite may predict several things of an item. Two rules are in use for when the item as a whole is right: all predictions
hold (SyntaxGym's own metric), or the first does (the results of Hu et al. 2020 and the code released with the paper). They
differ for `fgd_hierarchy` and `nn-nv-rpl`, which have two predictions. Those of fgd_hierarchy exclude each other but for
the tolerance of `=`: where all must hold, hardly any of its items can be right.

A suite's score is the share of its items that are right, a circuit's the mean over its suites. Published results average
in three ways over three sets of suites (SUITE_SETS):

    micro         the share of all items that are right
    suite mean    the mean over suites
    circuit mean  the mean over circuits; a suite that belongs to none does not count

The six circuits are those of Hu et al. (2020). Of their 34 suites `nn-nv-rpl`, which has a single item, belongs to none.

All are means over suites with weights; intervals.py says how their intervals are made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dtg.errors import InputError
from dtg.evaluation.comparison import ItemOutcome, PairedTest, paired_tests
from dtg.evaluation.intervals import FEW, LEVEL, SAMPLES, SEEDS, Floats, Resampling, weighted_interval, weighted_shares
from dtg.evaluation.tasks.syntaxgym.formulas import Verdict, judge
from dtg.evaluation.tasks.syntaxgym.suites import Aggregation, Key, Suite, SuiteItem
from dtg.io.settings import check_choice

Rule = Literal["all", "first"]
RULES: dict[Rule, str] = {
    "all": "an item is right if all predictions of its suite hold",
    "first": "an item is right if the first prediction of its suite holds",
}
RULE_TITLES: Mapping[str, str] = {"first": "first prediction", "all": "all predictions"}
CONTRADICTION = (
    "The two predictions of fgd_hierarchy exclude each other (one region is less surprising than another; both are the same), "
    "so that hardly any item can be right by all predictions, whatever the model."
)
INTERVALS = (
    f"Intervals: {100 * LEVEL:g} %; of a single suite Wilson's, of totals by bootstrap ({SAMPLES:,} resamples) over the items "
    f"of each suite, or over all items where a suite has fewer than {FEW}. They leave out the {SEEDS}."
)
MEANS = ("micro", "suite mean", "circuit mean")
RegionSurprisals = Mapping[Key, Sequence[float]]  # for each sentence the surprisals of its regions, in bits


CIRCUITS = {  # how the names of its suites begin
    "Agreement": ("number",),
    "Licensing": ("npi", "reflexive"),
    "Garden-path": ("npz", "mvrr"),
    "Gross syntactic state": ("subordination",),
    "Centre embedding": ("center",),
    "Long-distance": ("fgd", "cleft"),
}
PUBLISHED = frozenset(
    "center_embed center_embed_mod cleft cleft_modifier fgd-embed3 fgd-embed4 fgd_hierarchy fgd_object fgd_pp fgd_subject "
    "mvrr mvrr_mod nn-nv-rpl npi_orc_any npi_orc_ever npi_src_any npi_src_ever npz_ambig npz_ambig_mod npz_obj npz_obj_mod "
    "number_orc number_prep number_src reflexive_orc_fem reflexive_orc_masc reflexive_prep_fem reflexive_prep_masc "
    "reflexive_src_fem reflexive_src_masc subordination subordination_orc-orc subordination_pp-pp "
    "subordination_src-src".split()
)
SMALL = frozenset({"nn-nv-rpl"})
EMBEDDED = frozenset({"fgd-embed3", "fgd-embed4"})

PAPER_LIKELY = (
    "The paper's SG scores are most likely: 33 suites, suite mean, first prediction. They are no mean over items (its overlap "
    "table has 685/842 = 81.4 % where it reports 83.9), its released code prints a rate for each suite, of the first "
    "prediction only, and PLM beside it was scored without nn-nv-rpl."
)


@dataclass(frozen=True, slots=True)
class SuiteSet:
    """Suites that are averaged together; `meaning` says which they are."""

    name: str
    suites: frozenset[str]
    meaning: str


SUITE_SETS = (
    SuiteSet("34 suites", PUBLISHED, "all of Hu et al. (2020)"),
    SuiteSet("33 suites", PUBLISHED - SMALL, "without nn-nv-rpl, as Qian et al. (2021)"),
    SuiteSet("31 suites", PUBLISHED - SMALL - EMBEDDED, "without nn-nv-rpl and fgd-embed3/4, as Hu et al. (2020)"),
)


def circuit_of(suite: str) -> str | None:
    """The circuit that a suite belongs to, if any.

    >>> circuit_of("npz_ambig_mod"), circuit_of("nn-nv-rpl")
    ('Garden-path', None)
    """
    for circuit, beginnings in CIRCUITS.items():
        if suite.startswith(beginnings):
            return circuit
    return None


def sets_of(suites: Collection[str]) -> tuple[SuiteSet, ...]:
    """The published sets that are there as a whole; and where the suites are not the published 34, the set of them all."""
    whole = tuple(known for known in SUITE_SETS if known.suites <= set(suites))
    if set(suites) == PUBLISHED:
        return whole
    count = f"{len(suites)} suite" + ("" if len(suites) == 1 else "s")
    return (SuiteSet(f"{count} given", frozenset(suites), "all that were given"), *whole)


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


def region_surprisals(
    surprisals: Sequence[float], regions: Sequence[int], count: int, metric: Aggregation
) -> tuple[float, ...]:
    """(count,) for each region the sum or mean of the surprisals of its words; `regions` has each word's, from 1."""
    by_region: list[list[float]] = [[] for _ in range(count)]
    for surprisal, region in zip(surprisals, regions, strict=True):
        by_region[region - 1].append(surprisal)
    return tuple(sum(some) / (len(some) if metric == "mean" and some else 1) for some in by_region)


def judge_items(suites: Iterable[Suite], surprisals: RegionSurprisals) -> tuple[ItemResult, ...]:
    """Every item of some suites, in their order."""
    return tuple(judge_item(suite, item, surprisals) for suite in suites for item in suite.items)


def judge_item(suite: Suite, item: SuiteItem, surprisals: RegionSurprisals) -> ItemResult:
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


def score_items(results: Iterable[ItemResult], rule: Rule = "all", *, seed: int = 0) -> dict[str, Any]:
    """The scores of some items by suite, by circuit and together, in percent, as results.json has them."""
    by_suite: dict[str, list[ItemResult]] = {}
    for result in results:
        by_suite.setdefault(result.suite, []).append(result)
    if not by_suite:
        raise InputError("there are no items to score.")
    names = tuple(by_suite)
    right = [np.array([result.holds(rule) for result in some], np.float64) for some in by_suite.values()]
    shares = np.array([some.mean() for some in right])  # (suites,)
    drawn = weighted_shares(right, seed)  # (samples, suites)

    def score(weights: Floats, *, over_items: bool = False) -> dict[str, Any]:
        """Suites without weight do not count."""
        low, high = weighted_interval(right, weights, drawn, seed, over_items=over_items)
        counted = [result for suite, weight in zip(names, weights, strict=True) if weight for result in by_suite[suite]]
        return {
            "items": len(counted),
            "right": sum(result.holds(rule) for result in counted),
            "ties": sum(result.ties(rule) for result in counted),
            "accuracy": 100 * float(shares @ weights),
            "interval": [100 * low, 100 * high],
        }

    in_circuits = {circuit: frozenset(name for name in names if circuit_of(name) == circuit) for circuit in CIRCUITS}
    sizes = [len(some) for some in right]
    averages = []
    for some in sets_of(names):
        for mean in MEANS:
            weights = suite_weights(mean, names, sizes, some.suites)
            if weights.any():
                about = {"suites": some.name, "meaning": some.meaning, "mean": mean}
                averages.append({**about, **score(weights, over_items=mean == "micro")})
    return {
        "averages": averages,
        "circuits": {
            circuit: score(suite_weights("suite mean", names, sizes, some))
            for circuit, some in in_circuits.items()
            if some
        },
        "suites": {
            name: {
                "circuit": circuit_of(name),
                **score(weights),
                "predictions": [100 * share for share in prediction_shares(by_suite[name])],
            }
            for name, weights in zip(names, np.eye(len(names)), strict=True)
        },
    }


def suite_weights(mean: str, names: Sequence[str], sizes: Sequence[int], counted: frozenset[str]) -> Floats:
    """(suites,) what each suite's share counts in a mean over the suites in `counted`; 0 everywhere if none does."""
    in_circuit = Counter(circuit_of(name) for name in names if name in counted)

    def weight(name: str, size: int) -> float:
        circuit = circuit_of(name)
        if name not in counted or (mean == "circuit mean" and circuit is None):
            return 0
        return {"micro": size, "suite mean": 1, "circuit mean": 1 / in_circuit[circuit]}[mean]

    weights = np.array([weight(name, size) for name, size in zip(names, sizes, strict=True)], np.float64)
    return weights / (weights.sum() or 1)


def prediction_shares(results: Sequence[ItemResult]) -> tuple[float, ...]:
    """For each prediction of one suite the share of items that it holds of."""
    held = np.array([[verdict.holds for verdict in result.verdicts] for result in results])
    return tuple(held.mean(axis=0).tolist())


def compare_items(
    first: Iterable[ItemResult], second: Iterable[ItemResult], rule: Rule = "all", *, seed: int = 0
) -> list[PairedTest]:
    """Two models on the same items: all of them, and those of each circuit."""
    ours, theirs = ({(result.suite, result.item): result for result in results} for results in (first, second))
    for suite, item in (*ours, *theirs):
        for which, results in (("first", ours), ("second", theirs)):
            if (suite, item) not in results:
                raise InputError(
                    f"suite {suite}, item {item} is not among the results of the {which} model. "
                    "Models are compared on the same items: score both on the same suites."
                )

    def outcomes(results: Mapping[tuple[str, int], ItemResult]) -> dict[tuple[str, int], ItemOutcome]:
        return {key: ItemOutcome(result.holds(rule), result.circuit) for key, result in results.items()}

    return paired_tests(outcomes(ours), outcomes(theirs), "all items", list(CIRCUITS), Resampling(seed=seed))
