"""Seeds in a report: which models belong together, their numbers, and notes where they do not compare."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pytest

from dtg.evaluation.intervals import Resampling
from dtg.evaluation.report import find, gather, page_of, write_report
from dtg.evaluation.report.gathering import ReportedModel, Run
from dtg.evaluation.report.item_scores import ItemScore, counted
from dtg.evaluation.report.page import Cell, Page, ReportTable, Section
from dtg.evaluation.report.systems import systems_of
from dtg.evaluation.seeds import SeedScores, spread
from dtg.tables.formats import read_rows
from tests.evaluation.report.made_up import write_blimp, write_ppl, write_reranking, write_run, write_sg

DTG, TXL = ("dtg", "dtg-seed1", "dtg-seed2"), ("txl", "txl-seed1")


def seeds_of(page: Page) -> Section | None:
    return next((section for section in page.sections if section.title == "Seeds"), None)


def row(page: Page, name: str, *first: str) -> dict[str, Cell]:
    """The cells of the row that begins so, by the texts of the header."""
    section = seeds_of(page)
    assert section is not None
    table = next(block for block in section.blocks if isinstance(block, ReportTable) and block.name == name)
    cells = next(cells for cells in table.rows if tuple(cell.text for cell in cells[: len(first)]) == first)
    return {title.text: cell for title, cell in zip(table.header, cells, strict=True)}


def page_below(folder: Path, runs: Mapping[str, Path] | None = None) -> Page:
    return page_of(gather(find([folder]), runs or {}))


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[tuple[str, str], dict[str, Any]]]:
    """Three seeds of one system, two of another, which is exact, and a third with one seed."""
    folder, contents = tmp_path_factory.mktemp("seeds"), dict[tuple[str, str], dict[str, Any]]()
    for number, name in enumerate((*DTG, *TXL, "solo")):
        family = "txl-tokens" if name in TXL else "dtg"
        exact: dict[str, Any] = {"by": "exact"} if name in TXL else {}
        share = 0.6 if name in TXL else 0.8
        contents[name, "sg"] = write_sg(folder / name / "sg", name, number, family, share=share, **exact)
        contents[name, "blimp"] = write_blimp(folder / name / "blimp", name, number, family, share=share, **exact)
        by: Any = ("exact",) if name in TXL else ("joint", "proposal")
        contents[name, "ppl"] = write_ppl(folder / name / "ppl", name, 4.3 - share, family, by)
        if name not in TXL:
            contents[name, "rerank"] = write_reranking(folder / name / "rerank", name, number)
    return folder, contents


@pytest.fixture(scope="module")
def page(results: tuple[Path, Any]) -> Page:
    return page_below(results[0])


def main_number(content: Mapping[str, Any]) -> float:
    """As results.json has it."""
    found: float
    if content["kind"] == "sg":
        averages = content["scores"]["first"]["averages"]
        found = next(one["accuracy"] for one in averages if one["mean"] == "suite mean")
    elif content["kind"] == "blimp":
        found = content["scores"]["sentence"]["overall"]["accuracy"]
    elif content["kind"] == "ppl":
        by = content["perplexities"]
        found = by.get("proposal", by.get("exact"))["per_word"]["value"]
    else:
        found = content["all"]["reranked"]["uas"]
    return found


TITLES = {
    "ppl": "PPL per word",
    "blimp": "BLiMP, by pairs",
    "sg": "SG, 3 suites given, mean",
    "rerank": "Reranking, UAS",
}


@pytest.mark.parametrize("kind", TITLES)
@pytest.mark.parametrize("names", [DTG, TXL, ("solo",)], ids=lambda names: names[0])
def test_means_and_ranges_are_those_of_the_results(
    kind: str, names: Sequence[str], results: tuple[Path, dict[tuple[str, str], dict[str, Any]]], page: Page
) -> None:
    if (names[0], kind) not in results[1]:
        return
    numbers = [main_number(results[1][name, kind]) for name in names]
    found = row(page, "seeds", TITLES[kind], names[0])
    close: dict[str, Any] = {"abs": 0.006} if kind == "rerank" else {}  # results have two decimals
    assert found["mean over seeds"].number == pytest.approx(mean(numbers), **close)
    assert found["lowest"].number == pytest.approx(min(numbers), **close)
    assert found["highest"].number == pytest.approx(max(numbers), **close)
    assert found["seeds"].text == ", ".join(map(str, range(len(names))))
    interval = found["mean over seeds"].interval
    assert interval is not None and interval[0] < mean(numbers) < interval[1]
    alone = ("One seed: the interval is over items alone.",)
    assert found["seeds"].notes == (alone if len(names) == 1 else ())
    assert found["mean over seeds"].text.startswith("≤ ") == (kind == "ppl" and names is not TXL)


def test_the_interval_is_that_of_the_two_level_bootstrap(results: tuple[Path, Any], page: Page) -> None:
    """Pairs are read anew, in the order of the file; both paradigms have ten."""
    tables = [[one for _, one in read_rows(results[0] / name / "blimp/pairs.csv")] for name in (*DTG, *TXL, "solo")]
    right = np.array([[float(one["right"]) for one in table] for table in tables])
    paradigms = [one["paradigm"] for one in tables[0]]
    groups = np.array([list(dict.fromkeys(paradigms)).index(one) for one in paradigms])
    scores = SeedScores(right, np.ones_like(right), groups)
    drawn = scores.drawn(Resampling())
    expected = spread(100 * scores.numbers()[:3], 100 * drawn[:, :3], Resampling()).mean
    cell = row(page, "seeds", TITLES["blimp"], "dtg")["mean over seeds"]
    assert cell.interval == pytest.approx((expected.low, expected.high))
    assert cell.text == f"{expected.value:.1f} [{expected.low:.1f}, {expected.high:.1f}]"


@pytest.mark.parametrize("kind", ["ppl", "blimp", "sg"])
def test_systems_are_compared_over_all_pairs_of_seeds(
    kind: str, results: tuple[Path, dict[tuple[str, str], dict[str, Any]]], page: Page
) -> None:
    ours, theirs = ([main_number(results[1][name, kind]) for name in names] for names in (DTG, TXL))
    if kind == "ppl":
        ours, theirs = np.log2(ours).tolist(), np.log2(theirs).tolist()
    pairs = [one - other for one in ours for other in theirs]
    found = row(page, "seeds-paired", TITLES[kind], "dtg", "txl")
    assert found["first − second"].number == pytest.approx(mean(pairs)) and not found["first − second"].notes
    assert found["lowest"].number == pytest.approx(min(pairs))
    assert found["highest"].number == pytest.approx(max(pairs))
    assert found["holds in"].text == f"{sum(one * mean(pairs) > 0 for one in pairs)} of 6 pairs"
    assert found["in"].text == ("bits per word" if kind == "ppl" else "percentage points")
    alone = row(page, "seeds-paired", TITLES[kind], "dtg", "solo")
    assert alone["holds in"].text.endswith(" of 3 pairs")
    assert alone["first − second"].notes == (
        "`solo` has one seed: the interval leaves out its variance between seeds.",
    )


def test_two_seeds_counted_by_hand(tmp_path: Path) -> None:
    """One seed gets everything right and the other nothing: half of the resamples have both, a quarter each of the others."""
    write_blimp(tmp_path / "a", "a", 1, share=1.0)
    write_blimp(tmp_path / "b", "a-seed7", 1, share=0.0)
    write_blimp(tmp_path / "c", "c", 1, share=0.0)
    page = page_below(tmp_path)
    found = row(page, "seeds", TITLES["blimp"], "a")
    assert found["seeds"].text == "0, 7"
    assert found["mean over seeds"].text == "50.0 [0.0, 100.0]"
    assert (found["lowest"].text, found["highest"].text, found["items"].text) == ("0.0", "100.0", "20")
    found = row(page, "seeds-paired", TITLES["blimp"], "a", "c")
    assert found["first − second"].text == "+50.0 [+0.0, +100.0]" and found["holds in"].text == "1 of 2 pairs"
    assert row(page, "seeds", TITLES["blimp"], "c")["mean over seeds"].text == "0.0 [0.0, 0.0]"


def test_without_several_seeds_there_is_no_such_section(tmp_path: Path) -> None:
    write_sg(tmp_path / "a", "a-seed1", 1)
    write_sg(tmp_path / "b", "b", 2)
    write_run(tmp_path / "run", 60, seed=3)
    assert seeds_of(page_below(tmp_path, {"a-seed1": tmp_path / "run"})) is None


def why(page: Page, table: str, *first: str) -> str:
    """The only note of a row that has no number."""
    found = row(page, table, *first)
    cell = found["mean over seeds" if table == "seeds" else "first − second"]
    assert cell.text == "–" and cell.number is None
    (note,) = cell.notes
    return note


def test_what_does_not_compare_has_a_note_in_place_of_a_number(tmp_path: Path) -> None:
    write_blimp(tmp_path / "a/blimp", "a", 1)
    write_blimp(tmp_path / "a1/blimp", "a-seed1", 2, beam=50)
    write_blimp(tmp_path / "b/blimp", "b", 3)
    write_sg(tmp_path / "a/sg", "a", 1)
    write_sg(tmp_path / "a1/sg", "a-seed1", 2)
    write_sg(tmp_path / "b/sg", "b", 3, beam=50)
    write_reranking(tmp_path / "a/rerank", "a", 1)
    write_reranking(tmp_path / "a1/rerank", "a-seed1", 2, data_sha256="e" * 64)
    write_ppl(tmp_path / "a/ppl", "a", 4.0)
    write_ppl(tmp_path / "a1/ppl", "a-seed1", 4.1)
    table = tmp_path / "a1/ppl/sentences.csv"
    table.write_text("".join(table.read_text().splitlines(keepends=True)[:-2]))
    page = page_below(tmp_path)
    beam = "seed 1 and seed 0 differ: beam: 50, not 100."
    assert why(page, "seeds", "BLiMP, by pairs", "a") == f"Not compared: {beam}"
    assert why(page, "seeds-paired", "BLiMP, by pairs", "a", "b") == f"Not compared: seeds of `a`: {beam}"
    assert row(page, "seeds", TITLES["sg"], "a")["mean over seeds"].number is not None
    assert why(page, "seeds-paired", "SG", "a", "b") == "Not compared: beam: 50, not 100."
    assert why(page, "seeds", "Reranking, UAS", "a") == (
        "Not compared: seed 1 and seed 0 differ: sentences: 30 (sha256 eeeeeeee), not 30 (sha256 dddddddd)."
    )
    assert why(page, "seeds", "PPL per word", "a") == (
        "Not compared: seed 1 and seed 0 differ: 2 items of PPL per word are not in both."
    )


def test_tables_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    write_sg(tmp_path / "a/sg", "a", 1)
    write_sg(tmp_path / "a1/sg", "a-seed1", 2)
    write_reranking(tmp_path / "a/rerank", "a", 1)
    write_reranking(tmp_path / "a1/rerank", "a-seed1", 2)
    (tmp_path / "a1/sg/verdicts.csv").unlink()
    table = tmp_path / "a1/rerank/sentences.csv"
    table.write_text(table.read_text().replace("reranked,", "other,", 1))
    page = page_below(tmp_path)
    assert "a1/sg/verdicts.csv" in why(page, "seeds", "SG", "a")
    note = why(page, "seeds", "Reranking, UAS", "a")
    assert "a1/rerank/sentences.csv is damaged, or not of this dtg (KeyError: 'reranked')." in note


def test_perplexities_of_words_and_tree_are_not_the_main_number(tmp_path: Path) -> None:
    write_ppl(tmp_path / "a", "a", 4.0, by=("joint",))
    write_ppl(tmp_path / "b", "a-seed1", 4.1, by=("joint",))
    note = why(page_below(tmp_path), "seeds", "PPL per word", "a")
    assert note == "Not compared: seed 0 has no perplexity of the words without a tree."


def test_a_seed_that_was_not_evaluated_is_told(tmp_path: Path) -> None:
    for number, name in enumerate(DTG):
        write_sg(tmp_path / name / "sg", name, number)
    write_blimp(tmp_path / "dtg/blimp", "dtg", 0)
    write_blimp(tmp_path / "dtg-seed2/blimp", "dtg-seed2", 2)
    found = row(page_below(tmp_path), "seeds", TITLES["blimp"], "dtg")
    assert found["seeds"] == Cell("0, 2", ("Without seed 1: not evaluated yet.",))


def model(name: str, seed: int | None = None, corpus: str = "c", **table: Any) -> ReportedModel:
    about = {"model": {"family": "dtg", **table}, "training": {"seed": seed}, "corpus": corpus}
    return ReportedModel(name, {}, None if seed is None else Run(Path(name), about, ()))


def numbers(*models: ReportedModel) -> dict[str, list[int]]:
    return {system.name: [seed.number for seed in system.seeds] for system in systems_of(models)}


def test_names_say_which_models_are_seeds_of_one_system() -> None:
    assert numbers(model("a-seed2"), model("b"), model("a"), model("a-seed10")) == {"a": [0, 2, 10], "b": [0]}
    assert numbers(model("a"), model("a-seed0")) == {"a": [0, 1]}  # 0 is taken
    assert numbers(model("a", 4), model("a-seed1", 1)) == {"a": [1, 4]}  # as the run says
    assert numbers(model("a-seed1-rate2"), model("-seed1"), model("a-seedling")) == {
        "a-seed1-rate2": [0],
        "-seed1": [0],
        "a-seedling": [0],
    }


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (model("a-seed4", 4), "it is seed 4, as `a` is"),
        (model("a-seed5", 5, "d"), "it was trained on another corpus than `a`"),
        (model("a-seed5", 5, layers=3), "it is configured otherwise than `a`"),
        (model("a-seed5", 5, family="tg"), "family: `tg`, not `dtg`"),
    ],
)
def test_models_that_differ_in_more_than_the_seed_are_left_out(other: ReportedModel, reason: str) -> None:
    (system,) = systems_of([model("a", 4), other])
    assert len(system.seeds) == 1 and system.notes == (f"`{other.name}` is left out: {reason}.",)


def test_a_run_of_another_seed_than_its_name_says_is_told() -> None:
    (system,) = systems_of([model("a", 0), model("a-seed1", 3)])
    assert [seed.number for seed in system.seeds] == [0, 1]
    assert system.notes == ("`a-seed1` was trained with seed 3, as its run says.",)


def test_the_same_weights_are_no_other_seed(tmp_path: Path) -> None:
    write_sg(tmp_path / "a", "a", 1)
    write_sg(tmp_path / "b", "a-seed1", 1)
    content = json.loads((tmp_path / "b/results.json").read_text())
    content["settings"]["model_sha256"] = json.loads((tmp_path / "a/results.json").read_text())["settings"][
        "model_sha256"
    ]
    (tmp_path / "b/results.json").write_text(json.dumps(content))
    found = row(page_below(tmp_path), "seeds", TITLES["sg"], "a")
    assert found["system"].notes == ("`a-seed1` is left out: it has the weights of `a`.",)
    assert found["seeds"].text == "0"


def test_items_of_reading_garden_paths_and_phrases() -> None:
    word = {"story": "1", "sentence": "1", "held_out_baseline": 1.0, "held_out_surprisal": 1.5}
    words = [
        word,
        {**word, "held_out_surprisal": None},
        {**word, "held_out_surprisal": 0.75},
        {**word, "sentence": "2"},
    ]
    ((measure, scores),) = counted("reading", words, "").items()
    assert scores == {("1", "1", 0, 2): ItemScore(0.25, 2), ("1", "2", 3): ItemScore(0.5, 1)}
    assert measure.scale(np.array([0.25])).tolist() == [250.0]

    effect = {"construction": "NPZ", "item": "1", "beam": 100, "place": 0, "effect": 2.0}
    effects = [{**effect, "beam": 10, "effect": 9.0}, effect, {**effect, "item": "2"}, {**effect, "place": 1}]
    found = {measure.title: scores for measure, scores in counted("garden-paths", effects, "").items()}
    assert list(found) == ["Garden paths, NPZ, critical word, bits", "Garden paths, NPZ, word after, bits"]
    assert found["Garden paths, NPZ, critical word, bits"] == {
        ("NPZ", "1", 0): ItemScore(2.0, 1.0),
        ("NPZ", "2", 0): ItemScore(2.0, 1.0),
    }

    phrases = {"sentence_id": 1, "sent_id": "x", "words": 5, "gold": 4, "reranked_matched": 2, "reranked_found": 3}
    assert list(counted("rerank-phrases", [phrases], "").values()) == [{(1, "x", 5, 4): ItemScore(4, 7)}]


def test_the_section_is_written_with_a_picture(page: Page, tmp_path: Path) -> None:
    section = seeds_of(page)
    assert section is not None
    assert write_report(tmp_path / "report", Page("Seeds", (), (section,)))
    assert {path.name for path in (tmp_path / "report/figures").iterdir()} == {"seeds.svg", "seeds.pdf"}
    assert "a dot for each seed" in (tmp_path / "report/report.html").read_text()
    header = (tmp_path / "report/tables/seeds.csv").read_text().splitlines()[0]
    assert header.startswith('evaluation,system,seeds,mean over seeds,"mean over seeds, low",')
