"""Scores and comparisons: small ones by hand, all the averages against loops, the paper's overlap table."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from dtg.errors import DtgError, InputError
from dtg.evaluation.comparison import mcnemar
from dtg.evaluation.intervals import wilson
from dtg.evaluation.tasks.syntaxgym import (
    INTERVALS,
    PAPER_LIKELY,
    SUITE_SETS,
    ItemResult,
    Key,
    Rule,
    circuit_of,
    compare_items,
    judge_items,
    read_suite,
    score_items,
)
from dtg.evaluation.tasks.syntaxgym.formulas import Verdict
from dtg.evaluation.tasks.syntaxgym.scores import CIRCUITS
from tests.evaluation.syntaxgym.made_up import content, write_suite

YES, NO = Verdict(True), Verdict(False, ties=1)


def result(suite: str, item: int, *holds: bool) -> ItemResult:
    return ItemResult(suite, item, tuple(YES if each else NO for each in holds))


def made_up_results(seed: int) -> list[ItemResult]:
    """The published suites with made-up sizes and verdicts, two predictions in some."""
    chance = random.Random(seed)
    return [
        result(
            suite, item, *(chance.random() < 0.7 for _ in range(2 if suite in {"fgd_hierarchy", "nn-nv-rpl"} else 1))
        )
        for suite in sorted(SUITE_SETS[0].suites)
        for item in range(1, 2 if suite == "nn-nv-rpl" else 3 + len(suite))
    ]


def width(score: dict[str, Any]) -> float:
    low, high = score["interval"]
    return float(high - low)


def naive_averages(results: list[ItemResult], rule: Rule) -> dict[tuple[str, str], float]:
    """The nine averages, each written out."""
    averages = {}
    for each in SUITE_SETS:
        kept = [item for item in results if item.suite in each.suites]
        averages[each.name, "micro"] = sum(item.holds(rule) for item in kept) / len(kept)
        shares = {}
        for suite in each.suites:
            items = [item.holds(rule) for item in kept if item.suite == suite]
            shares[suite] = sum(items) / len(items)
        averages[each.name, "suite mean"] = sum(shares.values()) / len(shares)
        circuits = []
        for circuit in CIRCUITS:
            members = [share for suite, share in shares.items() if circuit_of(suite) == circuit]
            circuits.append(sum(members) / len(members))
        averages[each.name, "circuit mean"] = sum(circuits) / 6
    return averages


@pytest.mark.parametrize("rule", ["all", "first"])
def test_averages_against_loops(rule: Rule) -> None:
    results = made_up_results(seed=1)
    scores = score_items(results, rule)
    expected = naive_averages(results, rule)
    found = {(each["suites"], each["mean"]): each["accuracy"] / 100 for each in scores["averages"]}
    assert found == pytest.approx(expected)
    assert (
        len(expected) == 9 and len(set(expected.values())) == 8
    )  # nn-nv-rpl is in no circuit: 34 and 33 have the same mean
    for score in (*scores["suites"].values(), *scores["circuits"].values(), *scores["averages"]):
        low, high = score["interval"]
        assert 0 <= low <= score["accuracy"] + 1e-9 and score["accuracy"] - 1e-9 <= high <= 100
    micro, suite_mean, _ = scores["averages"][:3]
    assert 2 < width(micro) < 12 and suite_mean["items"] == micro["items"] == len(results)
    assert micro["right"] == sum(item.holds(rule) for item in results)


def test_scores_by_hand() -> None:
    results = [
        result("number_x", 1, True),
        result("number_x", 2, False),
        result("number_y", 1, True),
        result("cleft_x", 1, True, False),
        result("cleft_x", 2, True, True),
        result("mine", 1, False),
    ]
    scores = score_items(results)
    counts = ("accuracy", "right", "items", "ties")
    assert [(name, *(score[count] for count in counts)) for name, score in scores["suites"].items()] == [
        ("number_x", 50, 1, 2, 1),
        ("number_y", 100, 1, 1, 0),
        ("cleft_x", 50, 1, 2, 1),
        ("mine", 0, 0, 1, 1),
    ]
    circuits = {name: score["accuracy"] for name, score in scores["circuits"].items()}
    assert circuits == {"Agreement": 75, "Long-distance": 50}
    assert [tuple(each[key] for key in ("suites", "mean", "accuracy", "items")) for each in scores["averages"]] == [
        ("4 suites given", "micro", 50, 6),
        ("4 suites given", "suite mean", 50, 6),
        ("4 suites given", "circuit mean", 62.5, 5),
    ]
    predictions = {name: score["predictions"] for name, score in scores["suites"].items()}
    assert predictions == {"number_x": [50], "number_y": [100], "cleft_x": [100, 50], "mine": [0]}
    first = score_items(results, "first")["suites"].values()
    assert [score["accuracy"] for score in first] == [50, 100, 100, 0]
    assert [score["ties"] for score in first] == [1, 0, 0, 1]


def test_only_sets_that_are_whole_are_averaged() -> None:
    results = [each for each in made_up_results(seed=2) if each.suite != "nn-nv-rpl"]
    assert [each["suites"] for each in score_items(results)["averages"][::3]] == [
        "33 suites given",
        "33 suites",
        "31 suites",
    ]
    own = score_items([result("mine", 1, True)])
    assert [(each["suites"], each["mean"]) for each in own["averages"]] == [
        ("1 suite given", "micro"),
        ("1 suite given", "suite mean"),
    ]
    with pytest.raises(InputError, match="there are no items to score"):
        score_items([])
    with pytest.raises(DtgError, match="no choice for rule called 'last'"):
        score_items(results, "last")  # type: ignore[arg-type]


def test_the_same_seed_gives_the_same_intervals() -> None:
    results = made_up_results(seed=3)
    assert score_items(results, seed=4) == score_items(results, seed=4)
    assert score_items(results, seed=4) != score_items(results, seed=5)
    one = [each for each in results if each.suite == "npi_orc_any"]
    score = score_items(one, seed=6)["suites"]["npi_orc_any"]
    assert score["interval"] == [100 * bound for bound in wilson(sum(each.holds("all") for each in one), len(one))]


def test_suites_are_resampled_independently_of_each_other() -> None:
    results = [result(f"number_{suite}", item, item % 2 == 0) for suite in range(16) for item in range(20)]
    scores = score_items(results)
    # With 16 times the items the interval is a quarter as wide.
    assert 0.2 < width(scores["averages"][0]) / width(scores["suites"]["number_0"]) < 0.3


def test_what_is_said_with_the_numbers() -> None:
    assert "variance between models trained with different seeds" in INTERVALS.replace("\n", " ")
    assert (
        "33 suites, suite mean, first prediction" in PAPER_LIKELY
        and "685/842" in PAPER_LIKELY
        and "\n" not in PAPER_LIKELY
    )


def test_items_are_judged_by_the_regions_of_their_conditions(tmp_path: Path) -> None:
    suite = read_suite(write_suite(tmp_path / "suite.json", content()))
    surprisals = {
        Key(suite.name, 1, "match"): [5.0, 0.0, 3.0, 4.0],
        Key(suite.name, 1, "mismatch"): [5.0, 0.0, 4.0, 2.0],  # region 3: 3 < 4; all: 12 < 11
        Key(suite.name, 2, "match"): [1.0, 1.0, 2.0, 2.0],
        Key(suite.name, 2, "mismatch"): [1.0, 0.0, 2.0, 7.0],  # region 3: a tie; all: 6 < 10
    }
    assert judge_items([suite], surprisals) == (
        ItemResult(suite.name, 1, (Verdict(True), Verdict(False))),
        ItemResult(suite.name, 2, (Verdict(False, ties=1), Verdict(True))),
    )
    with pytest.raises(InputError, match="item 1, condition match: 4 regions are expected; there are surprisals of 3"):
        judge_items([suite], surprisals | {Key(suite.name, 1, "match"): [5.0, 0.0, 3.0]})
    with pytest.raises(InputError, match=r"suite number_made_up, item 2: the surprisal of region \(3;%match%\) is nan"):
        judge_items([suite], surprisals | {Key(suite.name, 2, "match"): [1.0, 1.0, float("nan"), 2.0]})
    del surprisals[Key(suite.name, 2, "match")]
    with pytest.raises(InputError, match="there are no surprisals of suite number_made_up, item 2, condition match"):
        judge_items([suite], surprisals)


def test_mcnemar_by_hand() -> None:
    assert mcnemar(0, 0) == 1.0
    assert mcnemar(3, 3) == 1.0
    assert mcnemar(0, 5) == mcnemar(5, 0) == 2 / 32
    assert mcnemar(2, 8) == 2 * (1 + 10 + 45) / 1024
    assert mcnemar(9, 1) == 2 * (1 + 10) / 1024
    assert mcnemar(600, 800) == pytest.approx(1.0e-7, rel=0.1)  # z = 199 / sqrt(1400) = 5.32


def test_the_overlap_table_of_the_paper() -> None:
    both = [(True, True)] * 616 + [(True, False)] * 69 + [(False, True)] * 57 + [(False, False)] * 100
    dtg = [result("number_x" if item % 2 else "mine", item, ours) for item, (ours, _) in enumerate(both)]
    txl = [result("number_x" if item % 2 else "mine", item, theirs) for item, (_, theirs) in enumerate(both)]
    overall, agreement = compare_items(dtg, reversed(txl))
    assert (overall.both, overall.only_first, overall.only_second, overall.neither) == (616, 69, 57, 100)
    assert overall.difference == pytest.approx(12 / 842) and overall.low < 0 < overall.high
    assert overall.p == pytest.approx(0.327, abs=1e-3)  # z = 11 / sqrt(126) = 0.98
    assert agreement.group == "Agreement"
    assert agreement.both + agreement.only_first + agreement.only_second + agreement.neither == 421


def test_models_are_compared_on_the_same_items() -> None:
    two = [result("a", 1, True), result("a", 2, True)]
    with pytest.raises(InputError, match="suite a, item 2 is not among the results of the second model"):
        compare_items(two, two[:1])
    with pytest.raises(InputError, match="suite a, item 2 is not among the results of the first model"):
        compare_items(two[:1], two)
    with pytest.raises(InputError, match="there are no items to compare"):
        compare_items([], [])
