"""Models side by side: counts by hand, and pairs that do not match."""

from __future__ import annotations

import json

import pytest

from dtg.errors import InputError
from dtg.evaluation.rendering import as_markdown
from dtg.evaluation.tasks.pairs.blimp import Blimp
from dtg.evaluation.tasks.pairs.scored import ScoredPair
from tests.evaluation.pairs.making import scored

compare = Blimp.compare_scored


def model(verdicts: str, uid: str = "wh_island", term: str = "island_effects") -> list[ScoredPair]:
    """A model that is right (r), wrong (w) or undecided (=) on pairs 0, 1, ..."""
    return [
        scored(uid, number, -10.0, {"r": -11.0, "w": -9.0, "=": -10.0}[verdict], term=term)
        for number, verdict in enumerate(verdicts)
    ]


def test_counts_by_hand() -> None:
    found = compare({"a": model("rrrrrrrw=r"), "b": model("rwwwwwwwrr")}, "sentence")
    (test,) = found["tests"]
    # Both on the first and last, only a on the next six, only b on the ninth (a tie of a's is not right), none on the eighth.
    counts = ("a", "b", "both", "only_a", "only_b", "neither")
    assert tuple(test[count] for count in counts) == ("a", "b", 2, 6, 1, 1)
    assert test["p"] == 2 * (1 + 7) / 2**7
    low, high = test["interval"]
    assert 0 <= low < 50 < high <= 100
    assert {name: scores["overall"]["right"] for name, scores in found["models"].items()} == {"a": 8, "b": 3}
    assert found["notes"] == []
    assert json.loads(json.dumps(found))["tests"][0]["difference"] == 50


def test_the_interval_is_that_of_the_difference() -> None:
    (test,) = compare({"a": model("rw" * 50), "b": model("wr" * 50)}, "sentence")["tests"]
    assert test["difference"] == 0 and test["p"] == 1
    # The deviation of the mean of 100 values that are 1 or -1 is 0.1.
    assert test["interval"] == pytest.approx([-19.6, 19.6], abs=3)


def test_two_models_as_tables() -> None:
    found = compare({"a": model("rr"), "b": model("ww")}, "sentence")
    lines = as_markdown(Blimp.compared_blocks({"against": {"sentence": found}}, "sentence")).splitlines()
    assert lines[0] == "Compared by log p of the sentence."
    assert "| island effects | 2 | 100.0 | 0.0 |" in lines
    assert "| ties, in all | 2 | 0 | 0 |" in lines
    assert "| a − b | all pairs | +100.0 | [+100.0, +100.0] | 0 | 2 | 0 | 0 | 0.5 |" in lines
    found = compare({"a": model("rr"), "c": model("rw")}, "sentence")
    lines = as_markdown(Blimp.compared_blocks({"against": {"sentence": found}}, "sentence")).splitlines()
    assert "| a − c | island effects | +50.0 | [+0.0, +100.0] | 1 | 1 | 0 | 0 | 1 |" in lines


def test_phenomena_are_tested_by_themselves() -> None:
    other = ("causative", "argument_structure")
    found = compare(
        {"a": [*model("rrw"), *model("rw", *other)], "b": [*model("wwr"), *model("rr", *other)]}, "sentence"
    )
    assert [(name, test["only_a"], test["only_b"], test["both"]) for name, (test,) in found["phenomena"].items()] == [
        ("argument_structure", 0, 1, 1),
        ("island_effects", 2, 1, 0),
    ]
    assert sum(test["only_a"] for (test,) in found["phenomena"].values()) == found["tests"][0]["only_a"]
    assert json.loads(json.dumps(found))["phenomena"]["island_effects"][0]["only_b"] == 1


def test_only_shared_pairs_are_compared_and_the_others_told() -> None:
    found = compare({"a": model("rrr"), "b": [*model("rr"), *model("w", "causative")]}, "sentence")
    assert found["models"]["a"]["overall"]["pairs"] == found["models"]["b"]["overall"]["pairs"] == 2
    assert found["notes"] == [
        "1 of the 3 pairs of a are left out: not every model has scored them.",
        "1 of the 3 pairs of b are left out: not every model has scored them.",
    ]


def test_what_cannot_be_compared() -> None:
    with pytest.raises(InputError, match="no pair that all of a, b have scored"):
        compare({"a": model("r"), "b": model("r", "causative")}, "sentence")
    with pytest.raises(InputError, match="a has scored 1 pairs more than once"):
        compare({"a": [*model("r"), *model("r")], "b": model("r")}, "sentence")
    other = scored("wh_island", 0, -1.0, -2.0)
    changed = ScoredPair(pair=model("rr")[1].pair, good=-1.0, bad=-2.0, good_words=1, bad_words=1)
    object.__setattr__(changed.pair, "pair_id", "0")
    with pytest.raises(
        InputError, match="pair 0 of wh_island has other sentences for b than for a: 'good 1' and 'bad 1'"
    ):
        compare({"a": [other], "b": [changed]}, "sentence")
