"""Accuracies counted by hand, intervals against resampling pair by pair, and the table of scored pairs there and back."""

from __future__ import annotations

import csv
import io
import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dtg.errors import InputError
from dtg.evaluation import rendering
from dtg.evaluation.intervals import Resampling, mean_interval, mean_intervals, wilson
from dtg.evaluation.rendering import as_markdown
from dtg.evaluation.tasks.pairs.blimp import Blimp, pair_row, scored_pair
from dtg.evaluation.tasks.pairs.scored import HOW, ScoredPair
from dtg.evaluation.tasks.pairs.scored import score as score_levels
from dtg.tables.formats import Encoder
from tests.evaluation.pairs.making import scored

# Two paradigms of island effects (1 of 1 and 1 of 3 right), one of NPI licensing (1 of 2 right, the other a tie).
SIX = [
    scored("wh_island", 0, -10.0, -11.0),
    scored("adjunct_island", 0, -10.0, -9.0),
    scored("adjunct_island", 1, -10.0, -12.0, words=8),  # per word the other is better: -2.5 to -1.5
    scored("adjunct_island", 2, -10.0, -9.0),
    scored(
        "npi_present_1", 0, -10.0, -10.0, field="semantics", term="npi_licensing", words=5
    ),  # a tie; per word -2.5, -2
    scored("npi_present_1", 1, -10.0, -10.5, field="semantics", term="npi_licensing"),
]


def score(scored: list[ScoredPair], convention: str, how: Resampling = HOW) -> dict[str, Any]:
    return score_levels(scored, convention, Blimp.levels, Blimp.strata, how)


def test_accuracies_counted_by_hand() -> None:
    scores = score(SIX, "sentence")
    overall = scores["overall"]
    assert [overall[count] for count in ("paradigms", "pairs", "right", "ties")] == [3, 6, 3, 1]
    assert overall["accuracy"] == 50
    assert overall["paradigm_mean"] == pytest.approx(100 * (1 + 1 / 3 + 1 / 2) / 3)
    assert {name: (one["right"], one["pairs"], one["ties"]) for name, one in scores["paradigms"].items()} == {
        "adjunct_island": (1, 3, 0),
        "npi_present_1": (1, 2, 1),
        "wh_island": (1, 1, 0),
    }
    assert {name: (one["paradigms"], one["right"], one["pairs"]) for name, one in scores["phenomena"].items()} == {
        "island_effects": (2, 2, 4),
        "npi_licensing": (1, 1, 2),
    }
    assert scores["phenomena"]["island_effects"]["paradigm_mean"] == pytest.approx(100 * (1 + 1 / 3) / 2)
    assert {name: one["right"] for name, one in scores["fields"].items()} == {"semantics": 1, "syntax": 2}


def test_per_word_some_verdicts_differ() -> None:
    overall = score(SIX, "per_word")["overall"]
    assert (overall["right"], overall["ties"]) == (2, 0)


@pytest.mark.parametrize(
    ("good", "bad", "right", "tie"),
    [
        (-1.0, -1.0, False, True),
        (-1.0, -1.000001, False, True),  # rounding: what is computed together shifts the last digits
        (-1.0, -1.0001, True, False),
        (-1.0, -0.9999, False, False),
        (-math.inf, -math.inf, False, True),
        (-1.0, -math.inf, True, False),
        (-math.inf, -1.0, False, False),
    ],
)
def test_verdicts(good: float, bad: float, right: bool, tie: bool) -> None:
    one = scored("wh_island", 0, good, bad)
    assert (one.is_right("sentence"), one.difference("sentence") == 0) == (right, tie)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_no_log_probability_is_named(value: float) -> None:
    with pytest.raises(InputError, match=f"pair 3 of wh_island: .* but {value} and 4 were given. Score the pair anew"):
        scored("wh_island", 3, -1.0, value)
    with pytest.raises(InputError, match=r"but -2\.0 and 0 were given"):
        scored("wh_island", 3, -1.0, -2.0, words=0)
    with pytest.raises(InputError, match="no scored pairs"):
        score([], "sentence")


def test_intervals_are_those_of_resampling_pair_by_pair() -> None:
    """The slow twin draws every pair of every resample."""
    paradigms = [[1] * 30 + [0] * 10, [1] * 5 + [0] * 15, [1, 0, 0, 0]]
    random_numbers = random.Random(5)
    over_pairs, over_paradigms = [], []
    for _ in range(3000):
        drawn = [random_numbers.choices(values, k=len(values)) for values in paradigms]
        over_pairs.append(sum(map(sum, drawn)) / 64)
        over_paradigms.append(sum(sum(values) / len(values) for values in drawn) / 3)
    counts = [(sum(values), len(values) - sum(values)) for values in paradigms]
    for found, twin in zip(mean_intervals(counts, (1, 0), Resampling(3000)), (over_pairs, over_paradigms), strict=True):
        assert found == pytest.approx(np.quantile(twin, [0.025, 0.975]), abs=0.02)


def test_the_interval_of_one_paradigm_is_the_plain_bootstrap() -> None:
    found, same = mean_intervals([(70, 30)], (1, 0), Resampling(4000, level=0.8))
    assert found == same
    assert found == pytest.approx(mean_interval([1] * 70 + [0] * 30, samples=4000, level=0.8), abs=0.011)


def test_same_seed_same_interval() -> None:
    first, again, other = (score(SIX, "sentence", Resampling(100, seed))["overall"] for seed in (1, 1, 2))
    low, high = first["interval"]
    assert first == again and low <= first["accuracy"] <= high
    assert first["paradigm_mean_interval"] != other["paradigm_mean_interval"]
    with pytest.raises(InputError, match="level between 0 and 1; they are 100 and 95"):
        Resampling(100, level=95)


def test_json_is_in_percent() -> None:
    content = json.loads(json.dumps(score(SIX, "sentence")))
    assert content["resampling"] == {"samples": 1000, "seed": 0, "level": 0.95}
    assert content["phenomena"]["npi_licensing"]["accuracy"] == 50
    assert content["overall"]["ties"] == 1 and content["overall"]["paradigm_mean"] == pytest.approx(61.1, abs=0.05)
    assert content["paradigms"]["wh_island"]["interval"] == [100 * bound for bound in wilson(1, 1)]


def test_markdown() -> None:
    scores = {"sentence": score(SIX, "sentence"), "per_word": score(SIX, "per_word")}
    metrics = Blimp.metrics({"scores": scores})
    lines = as_markdown([Blimp.table_of(metrics, level) for level in Blimp.labels]).splitlines()
    assert lines[0] == (
        "|  | paradigms | pairs | log p of the sentence | 95 % interval | ties | log p per word | 95 % interval | ties |"
    )
    assert lines[2].startswith("| all pairs | 3 | 6 | 50.0 | [") and lines[2].endswith(" | 0 |")
    assert lines[3].startswith("| mean over paradigms | 3 | 6 | 61.1 | [")
    assert "| wh_island | 1 | 100.0 | [20.7, 100.0] | 0 | 100.0 | [20.7, 100.0] | 0 |" in lines
    assert [line.split(" | ")[0] for line in lines if "island effects" in line or "semantics" in line] == [
        "| semantics",
        "| island effects",
    ]


def test_the_picture_has_a_bar_for_all_pairs_and_for_each_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Any] = []
    monkeypatch.setattr(rendering, "bars_by_group", lambda *arguments, **_: given.append(arguments))
    scores = {"all": score(SIX, "sentence"), "islands": score(SIX[:4], "sentence")}

    def chart(level: str) -> rendering.BarChart:
        metrics = {name: Blimp.metrics({"scores": {"sentence": one}}) for name, one in scores.items()}
        drawn = {name: [one for one in some if one.level in ("overall", level)] for name, some in metrics.items()}
        return Blimp.chart(drawn)

    chart("phenomena").draw(Path("x.svg"))
    chart("fields").draw(Path("x.svg"))
    (_, phenomena, bars), (_, fields, _) = given
    assert phenomena == ["all pairs", "island effects", "NPI licensing"] and fields == [
        "all pairs",
        "semantics",
        "syntax",
    ]
    assert [bar.value for bar in bars["all"]] == [50, 50, 50] and bars["islands"][2] is None
    assert bars["all"][0].low < 50 < bars["all"][0].high
    monkeypatch.undo()
    chart("fields").draw(tmp_path / "x.svg")
    assert (tmp_path / "x.svg").stat().st_size > 1000


@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_the_table_of_scored_pairs_there_and_back(format: str) -> None:
    encoder = Encoder(format, Blimp.columns)  # type: ignore[arg-type]
    written = (encoder.header() + encoder.encode([pair_row(one) for one in SIX])).decode()
    rows = csv.DictReader(io.StringIO(written)) if format == "csv" else map(json.loads, written.splitlines())
    assert [scored_pair(row) for row in rows] == SIX
    assert [(row[-2], row[-1]) for row in map(pair_row, SIX)] == [(1, 0), (0, 0), (1, 0), (0, 0), (0, 1), (1, 0)]


def test_a_row_that_is_no_scored_pair_is_named() -> None:
    row = dict(zip([column.name for column in Blimp.columns], pair_row(SIX[1]), strict=True))
    with pytest.raises(InputError, match=r"pair 0 of adjunct_island: numbers are expected .* 'many'"):
        scored_pair({**row, "good_words": "many"})
    del row["bad"]
    with pytest.raises(InputError, match="needs the column bad; it has paradigm, pair_id"):
        scored_pair(row)
    assert isinstance(scored_pair({**row, "bad": "x", "one_prefix": "1"}), ScoredPair)
