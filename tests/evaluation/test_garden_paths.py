"""Garden paths: both formats, effects by hand, several beams, people's times beside them."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

import dtg
from dtg.errors import InputError
from dtg.evaluation.rendering import as_text
from dtg.evaluation.tasks.garden_paths.conversion import Conversion
from dtg.evaluation.tasks.garden_paths.sentences import read_garden_paths
from dtg.evaluation.tasks.garden_paths.task import GardenPaths
from dtg.evaluation.tasks.garden_paths.together import side_by_side
from dtg.evaluation.together import draw_together
from dtg.language_model import LanguageModel
from tests.evaluation.reading.test_reading import small_model, write
from tests.real_data import data_file

__all__ = ["small_model"]
AMBIGUOUS = "The horse raced past the barn fell down quickly."
UNAMBIGUOUS = "The horse that was raced past the barn fell down quickly."


def plain(path: Path, **more: Any) -> Path:
    rows: list[dict[str, Any]] = []
    for item in range(1, 5):
        for condition, sentence, time in (("ambiguous", AMBIGUOUS, 450 + item), ("unambiguous", UNAMBIGUOUS, 400)):
            noun = ["horse", "dog", "cat", "man"][item - 1]
            rows.append(
                {"item": item, "condition": condition, "sentence": sentence.replace("horse", noun), "region": "fell"}
            )
            rows[-1] |= {"construction": "MV/RR", "time": time, **more}
    return write(path, rows)


def test_both_formats(tmp_path: Path) -> None:
    (first, *_) = read_garden_paths(plain(tmp_path / "plain.csv"))
    assert (first.construction, first.item, first.ambiguous.critical, first.unambiguous.critical) == (
        "MV/RR",
        "1",
        6,
        8,
    )
    assert first.ambiguous.times == (451.0, None, None)
    row = {"item": 7, "condition": "NPS_UAMB", "disambPositionUnamb": 9, "unambiguous": UNAMBIGUOUS}
    row |= {"disambPositionAmb": 7, "ambiguous": AMBIGUOUS.replace("barn", "man\\'s")}
    (pair,) = read_garden_paths(write(tmp_path / "sap.csv", [row]))
    assert (pair.construction, pair.item, pair.ambiguous.critical) == ("NPS", "7", 6)
    assert pair.ambiguous.words[5] == "man's"
    numbers = [
        {"item": 1, "condition": f"GP_{kind}", "sentence": text, "region": number}
        for kind, text, number in (("AMB", AMBIGUOUS, 7), ("UAMB", UNAMBIGUOUS, 9))
    ]
    (pair,) = read_garden_paths(write(tmp_path / "numbers.csv", numbers))
    assert (pair.construction, pair.unambiguous.words[pair.unambiguous.critical]) == ("GP", "fell")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"condition": "easy"}, "the condition is 'easy'"),
        ({"region": "flew"}, "'flew' is not in"),
        ({"region": "the"}, "2 times in"),
        ({"region": 20}, "has the number 20"),
        ({"sentence": " "}, "the sentence is empty"),
    ],
)
def test_what_is_wrong_is_said(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    row = {"item": 1, "condition": "ambiguous", "sentence": AMBIGUOUS, "region": "fell"}
    with pytest.raises(InputError, match=message):
        read_garden_paths(write(tmp_path / "bad.csv", [{**row, **change}]))


def test_halves_and_other_tables(tmp_path: Path) -> None:
    row = {"item": 1, "condition": "ambiguous", "sentence": AMBIGUOUS, "region": "fell"}
    with pytest.raises(InputError, match="only its ambiguous sentence"):
        read_garden_paths(write(tmp_path / "half.csv", [row]))
    with pytest.raises(InputError, match="two ambiguous sentences"):
        read_garden_paths(write(tmp_path / "twice.csv", [row, row]))
    with pytest.raises(InputError, match=r"columns a, b. Either item, condition, sentence, region are expected"):
        read_garden_paths(write(tmp_path / "other.csv", [{"a": 1, "b": 2}]))


def test_names_and_numbers_as_others_write_them(tmp_path: Path) -> None:
    """Other names of columns, semicolons, decimal commas, and Windows' encoding."""
    lines = ["Item;Cond;Stimulus;Critical_Word;RT;RT_1"]
    for item in (1, 2):
        lines += [f"{item};GP;“{AMBIGUOUS}”;7;451,5;400,25", f"{item};control;“{UNAMBIGUOUS}”;9;;"]
    (tmp_path / "items.csv").write_bytes("\r\n".join(lines).encode("cp1252"))
    pair, _ = read_garden_paths(tmp_path / "items.csv")
    assert (pair.construction, pair.ambiguous.critical, pair.unambiguous.critical) == ("all", 6, 8)
    assert pair.ambiguous.times == (451.5, 400.25, None) and pair.ambiguous.words[0] == "“The"
    write(tmp_path / "other.csv", [{"item": 1, "cond": "GP", "rt": 3}])
    with pytest.raises(InputError, match=r"has the columns item, cond, rt. Either item, condition, sentence, region"):
        read_garden_paths(tmp_path / "other.csv")


def test_effects_are_differences_of_surprisals(tmp_path: Path, small_model: LanguageModel) -> None:
    data = plain(tmp_path / "items.csv")
    out = tmp_path / "out"
    found = dtg.evaluate(small_model, "garden-paths", data, beams=[1, 6], conversion=2.0, out=out, progress=False)
    expected = []
    for pair in read_garden_paths(data):
        one, other = (
            small_model.surprisal([sentence.text], beam=6)[0].to_frame(base="2", per="whitespace")["surprisal"].tolist()
            for sentence in (pair.ambiguous, pair.unambiguous)
        )
        expected.append([one[6 + place] - other[8 + place] for place in range(3)])
    wide = [item for item in found.items if item["beam"] == 6]
    assert [item["effect"] for item in wide] == pytest.approx([effect for some in expected for effect in some])
    assert [item["effect_ms"] for item in wide] == pytest.approx([2 * item["effect"] for item in wide])
    assert [item["word"] for item in wide[:3]] == ["fell", "down", "quickly."]
    effect = found.content["effects"]["6"]["MV/RR"]["0"]
    assert effect["bits"]["mean"] == pytest.approx(sum(some[0] for some in expected) / 4)
    assert effect["human_ms"]["mean"] == pytest.approx(52.5)
    assert set(found.content["effects"]) == {"1", "6"}
    for name in ("effects.csv", "results.md", "effects.svg", "by_beam.svg", "people.svg"):
        assert (out / name).is_file()
    assert "people, ms" in (out / "results.md").read_text(encoding="utf-8")
    again = dtg.evaluation.Results.read(out, GardenPaths)
    assert len(again.metrics) == len(found.metrics) > 6
    compared = found.compare(again).content["against"]["tests"]
    assert all(test["mean"] == 0.0 for test in compared.values())


def test_by_default_the_beam_adapts_and_the_run_says_what_it_kept(tmp_path: Path, small_model: LanguageModel) -> None:
    data = plain(tmp_path / "items.csv")
    data.write_text(
        "".join(data.read_text(encoding="utf-8").splitlines(keepends=True)[:5]), encoding="utf-8"
    )  # two items
    found = dtg.evaluate(small_model, "garden-paths", data, progress=False)
    assert found.settings["accuracy"] == "default" and found.settings["beams"] == []
    assert {item["beam"] for item in found.items} == {None} and set(found.content["effects"]) == {"-"}
    texts = [one.text for pair in read_garden_paths(data) for one in (pair.ambiguous, pair.unambiguous)]
    kept = [share for one in small_model.surprisal(texts) for share in one.kept]
    few = sum(share < 0.75 for share in kept)
    assert f"at {few or 'none'} of {len(kept)} words the search kept less than 75% of the probability" in found.notes
    with pytest.raises(InputError, match="a beam adapts, or has a fixed width"):
        GardenPaths.of(data, beams=[1, 5], accuracy="fast")


def test_several_models_side_by_side(tmp_path: Path, small_model: LanguageModel) -> None:
    data = plain(tmp_path / "plain.csv")
    first, second = (
        dtg.evaluate(small_model, "garden-paths", data, beam=beam, out=tmp_path / name, name=name, progress=False)
        for name, beam in (("wide", 4), ("narrow", 1))
    )
    page = as_text(side_by_side([first, second]))
    assert "wide: 4 items" in page and "narrow: 4 items" in page and "wide − narrow, bits" in page
    assert (
        draw_together([first, second], GardenPaths.chart, tmp_path / "effects") and (tmp_path / "effects.svg").is_file()
    )


def test_conversion_spills_over(tmp_path: Path) -> None:
    conversion = Conversion((4.0, 2.0, 1.0), "made up")
    differences: dict[int, float | None] = {-2: 1.0, -1: 0.0, 0: 3.0, 1: -1.0, 2: None}
    assert conversion.effect(differences, 0) == 4 * 3 + 1
    assert conversion.effect(differences, 1) == -4 + 2 * 3
    assert conversion.effect(differences, 2) is None
    assert Conversion.of("2.5").by_lag == (2.5, 0.0, 0.0)
    with pytest.raises(InputError, match="no results"):
        Conversion.of(tmp_path)


def test_surprisals_of_another_tool(tmp_path: Path) -> None:
    data = plain(tmp_path / "items.csv")
    rows = [
        {"sentence": sentence.text, "word": word, "surprisal": place, "unit": "bits"}
        for pair in read_garden_paths(data)
        for sentence in (pair.unambiguous, pair.ambiguous)  # in another order
        for place, word in enumerate(sentence.words)
    ]
    table = write(tmp_path / "tool.csv", rows)
    found = dtg.evaluate(None, "garden-paths", data, surprisals=table, progress=False)
    assert {item["effect"] for item in found.items} == {-2.0}
    with pytest.raises(InputError, match="no rows for 1 of the sentences"):
        short = write(tmp_path / "short.csv", rows[11:])
        dtg.evaluate(None, "garden-paths", data, surprisals=short, progress=False)


def test_sap_with_published_surprisals() -> None:
    """GPT-2's: every construction has its effect at the critical word."""
    data, table = data_file("rt/sap_classic_gp.csv"), data_file("rt/sap_classic_gp.gpt2.csv.gz")
    found = dtg.evaluate(None, "garden-paths", data, surprisals=table, progress=False)
    effects = found.content["effects"]["-"]
    assert {name: places["0"]["items"] for name, places in effects.items()} == {"NPS": 24, "NPZ": 24, "MVRR": 24}
    with (data_file("rt/sap_classic_gp.csv")).open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 72
    assert [round(places["0"]["bits"]["mean"], 2) for places in effects.values()] == [2.35, 6.91, 2.83]
