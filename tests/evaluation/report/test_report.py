"""A report of made-up results: numbers are those of the results, what is missing or unequal is marked, pages are sound."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from dtg.errors import InputError, MissingExtraError
from dtg.evaluation.report import find, gather, page_of, write_report
from dtg.evaluation.report.page import Cell, Figure, Page, ReportTable
from dtg.tables.formats import read_rows
from tests.evaluation.report.made_up import (
    write_blimp,
    write_parser,
    write_phrase_parser,
    write_phrase_reranking,
    write_ppl,
    write_reranking,
    write_run,
    write_sg,
)

STRANGE = 'a|b <i>"&amp;" *x_y* `z`'
VOID = {"meta", "br", "hr", "img", "link", "path", "use", "rect"}


@dataclass(frozen=True)
class Made:
    """Results of four models, the page and the files."""

    contents: dict[tuple[str, str], dict[str, Any]]
    page: Page
    folder: Path

    def table(self, name: str) -> ReportTable:
        return next(
            block
            for section in self.page.sections
            for block in section.blocks
            if isinstance(block, ReportTable) and block.name == name
        )

    def row(self, name: str, *first: str) -> dict[str, Cell]:
        """The cells of the row that begins so, by the texts of the header."""
        table = self.table(name)
        row = next(row for row in table.rows if tuple(cell.text for cell in row[: len(first)]) == first)
        return {title.text: cell for title, cell in zip(table.header, row, strict=True)}

    def csv(self, name: str) -> list[dict[str, str]]:
        return list(csv.DictReader((self.folder / "tables" / f"{name}.csv").read_text().splitlines()))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """dtg has everything; txl-tokens is exact and has no trees; dtg-swift lacks some, by another beam; the last is odd."""
    base = tmp_path_factory.mktemp("report")
    results, runs = base / "results", base / "runs"
    contents = {
        ("dtg", "sg"): write_sg(results / "dtg/sg", "dtg", 1),
        ("dtg", "blimp"): write_blimp(results / "dtg/blimp", "dtg", 1),
        ("dtg", "ppl"): write_ppl(results / "dtg/ppl", "dtg", 4.0),
        ("dtg", "rerank"): write_reranking(results / "dtg/rerank", "dtg", 1),
        ("txl-tokens", "sg"): write_sg(results / "txl/sg", "txl-tokens", 2, "txl-tokens", by="exact"),
        ("txl-tokens", "blimp"): write_blimp(results / "txl/blimp", "txl-tokens", 2, "txl-tokens", by="exact"),
        ("txl-tokens", "ppl"): write_ppl(results / "txl/ppl", "txl-tokens", 4.1, "txl-tokens", ("exact",)),
        ("dtg-swift", "sg"): write_sg(
            results / "swift/sg", "dtg-swift", 3, "dtg-swift", {"cleft": 4}, data_sha256="e" * 64
        ),
        ("dtg-swift", "blimp"): write_blimp(results / "swift/blimp", "dtg-swift", 3, "dtg-swift", beam=50),
        (STRANGE, "rerank"): write_reranking(results / "strange/rerank", STRANGE, 2, trees=40, data_sha256="e" * 64),
        (STRANGE, "ppl"): write_ppl(results / "strange/ppl", STRANGE, 3.9, by=("proposal", "beam"), trees=100),
    }
    write_parser(results / "parser.json")
    write_run(runs / "dtg", 60)
    write_run(runs / "strange", 70, arc_representation="arc")
    write_run(runs / "txl-tokens", 65, "txl-tokens")
    names = {"dtg": runs / "dtg", STRANGE: runs / "strange", "txl-tokens": runs / "txl-tokens"}
    arguments = [results / name for name in ("dtg", "txl", "swift", "strange", "parser.json")]
    page = page_of(gather(find(arguments), names))
    assert write_report(base / "report", page)
    return Made(contents, page, base / "report")


def test_numbers_are_those_of_the_results(made: Made) -> None:
    ours = made.contents["dtg", "ppl"]["perplexities"]["proposal"]["per_word"]
    cell = made.row("results", "dtg")["PPL per word"]
    assert (cell.number, cell.interval) == (ours["value"], (ours["low"], ours["high"]))
    assert cell.text == f"≤ {ours['value']:.2f} [{ours['low']:.2f}, {ours['high']:.2f}]" and not cell.notes
    row = made.csv("results")[0]
    assert [float(row[f"PPL per word{end}"]) for end in ("", ", low", ", high")] == [
        ours["value"],
        ours["low"],
        ours["high"],
    ]
    sg = made.contents["dtg", "sg"]["scores"]["first"]
    mean = next(one for one in sg["averages"] if one["mean"] == "suite mean")
    assert float(row["SG"]) == mean["accuracy"]
    assert made.row("results", "dtg")["SG"].notes == (
        "The mean of 3 suites given, not of the 33 suites that the paper most likely reports.",
    )
    circuits = {row["circuit"]: row for row in made.csv("circuits")}
    assert float(circuits["Garden-path"]["dtg"]) == sg["circuits"]["Garden-path"]["accuracy"]
    assert float(circuits["Garden-path"]["dtg, high"]) == sg["circuits"]["Garden-path"]["interval"][1]
    blimp = made.contents["dtg", "blimp"]["scores"]["sentence"]
    assert float(made.csv("blimp-phenomena")[0]["dtg"]) == blimp["phenomena"]["argument_structure"]["accuracy"]
    assert made.row("blimp", "pairs")["txl-tokens"].number == 20
    exact = made.contents["txl-tokens", "ppl"]["perplexities"]["exact"]["per_word"]["value"]
    assert made.row("results", "txl-tokens")["PPL per word"].text.startswith(f"{exact:.2f} [")
    joint = made.contents["dtg", "ppl"]["perplexities"]["joint"]["per_word"]["value"]
    assert made.row("perplexity-joint", "dtg")["per word"].number == joint


def test_trees_and_training(made: Made) -> None:
    found = made.contents["dtg", "rerank"]["without_punctuation"]
    row = made.row("reranking", "dtg", "no punctuation")
    assert row["UAS reranked"].number == found["reranked"]["uas"]
    assert row["reranked − proposal"].interval == tuple(found["difference"]["uas"]["interval"])
    assert made.row("reranking", "txl-tokens")["words"].notes == ("The model has no trees.",)
    assert (
        made.row("external-parsers", "dtg")["its UAS"].number
        == made.row("parsers", "runs/parser/best")["UAS"].number
        == 91.25
    )
    assert made.row("representations", STRANGE)["arc representation"].text == "arc"
    assert [row[0].text for row in made.table("representations").rows] == ["dtg", STRANGE]
    assert made.row("training", "dtg")["best dev PPL"].number == 60 + 900 / 20
    assert made.row("training", "txl-tokens")["Model"].notes == (
        "Not comparable with the unmarked: perplexity of: `words`, not `words and tree`.",
    )
    assert "test PPL" not in made.csv("training")[0]  # nobody has one


def test_what_is_missing_is_a_dash_with_a_command(made: Made) -> None:
    missing = made.row("results", "dtg-swift")["PPL per word"]
    assert missing.text == "–" and missing.number is None and "`dtg evaluate ppl`" in missing.notes[0]
    assert made.csv("results")[2]["PPL per word"] == ""
    strange = made.row("results", STRANGE)
    assert "`dtg evaluate sg`" in strange["SG"].notes[0] and "`dtg evaluate blimp`" in strange["BLiMP"].notes[0]
    assert made.row("circuits", "Agreement")["dtg-swift"] == Cell("–", ("None of its items were evaluated.",))
    assert made.row("training", "dtg-swift")["layers × width"].notes[0].startswith("No training run is known.")


def test_what_does_not_compare_is_marked(made: Made) -> None:
    assert made.row("results", "txl-tokens")["BLiMP"].notes == ()  # exact: there is no beam
    assert made.row("results", "dtg-swift")["BLiMP"].notes == ("Not comparable with the unmarked: beam: 50, not 100.",)
    (data, *_) = made.row("results", "dtg-swift")["SG"].notes
    assert data == "Not comparable with the unmarked: items: 4 (sha256 eeeeeeee), not 15 (sha256 dddddddd)."
    assert made.row("results", STRANGE)["PPL per word"].notes == (
        "Not comparable with the unmarked: trees: 100, not 300.",
    )
    assert made.row("reranking", STRANGE)["Model"].notes == (
        "Not comparable with the unmarked: sentences: 30 (sha256 eeeeeeee), not 30 (sha256 dddddddd); trees: 40, not 300.",
    )
    figures = [block for section in made.page.sections for block in section.blocks if isinstance(block, Figure)]
    fields = next(figure for figure in figures if figure.name == "fields")
    assert fields.notes == ("Not comparable with the unmarked: beam: 50, not 100.",)
    assert "dtg-swift (a)" in fields.description and "txl-tokens (" not in fields.description


def test_pairs_are_counted_item_by_item(made: Made) -> None:
    results = made.folder.parent / "results"
    ours, theirs = (
        [int(row["holds"]) for _, row in read_rows(results / name / "sg/verdicts.csv")] for name in ("dtg", "txl")
    )
    counts = [
        sum((a, b) == pair for a, b in zip(ours, theirs, strict=True)) for pair in ((1, 1), (1, 0), (0, 1), (0, 0))
    ]
    row = made.row("paired-sg", "dtg", "txl-tokens", "all items")
    assert [row[name].number for name in ("both right", "only first", "only second", "neither")] == counts
    assert row["first − second"].number == pytest.approx(100 * (counts[1] - counts[2]) / 15)
    assert made.row("paired-sg", "dtg", "dtg-swift")["items"].notes == ("Not compared: the suites are not the same.",)
    other_beam = made.row("paired-blimp", "dtg", "dtg-swift")["first − second"]
    assert other_beam.notes == ("Not found as for `dtg`: beam: 50, not 100.",)
    assert "`dtg evaluate blimp" in made.row("paired-blimp", "dtg", STRANGE)["items"].notes[0]


def test_perplexities_are_compared_sentence_by_sentence(made: Made) -> None:
    results = made.folder.parent / "results"
    ours, theirs = ([row for _, row in read_rows(results / name / "ppl/sentences.csv")] for name in ("dtg", "txl"))
    words = sum(int(row["words"]) for row in ours)
    bits = [(float(b["log_exact"]) - float(a["log_proposal"])) / math.log(2) for a, b in zip(ours, theirs, strict=True)]
    row = made.row("paired-ppl", "dtg", "txl-tokens")
    cell = row["first − second, bits per word"]
    assert row["log p by"].text == "proposal and exact" and not cell.notes
    assert cell.number == pytest.approx(sum(bits) / words)
    assert cell.interval is not None and cell.interval[0] < sum(bits) / words < cell.interval[1]
    assert row["better by first"].number == sum(bit < 0 for bit in bits)
    assert (row["sentences"].number, row["words"].number) == (20, words)
    other_trees = made.row("paired-ppl", "dtg", STRANGE, "proposal")["first − second, bits per word"]
    assert other_trees.notes == ("Not found as for `dtg`: trees: 100, not 300.",)
    assert "`dtg evaluate ppl" in made.row("paired-ppl", "dtg", "dtg-swift")["log p by"].notes[0]


def test_perplexities_of_different_kinds_are_not_compared(tmp_path: Path) -> None:
    write_ppl(tmp_path / "dtg/ppl", "dtg", 4.0, by=("joint",))
    write_ppl(tmp_path / "txl/ppl", "txl-tokens", 4.1, "txl-tokens", by=("exact",))
    page = page_of(gather(find([tmp_path / "dtg", tmp_path / "txl"]), {}))
    row = Made({}, page, tmp_path).row("paired-ppl", "dtg", "txl-tokens")
    note = "Not compared: one has log p by joint and the other by exact, which do not compare"
    assert row["log p by"].notes[0].startswith(note)


class Checker(HTMLParser):
    """Follows the tags of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.identifiers: list[str] = []
        self.links: list[str] = []
        self.headers: list[str | None] = []
        self.pictures: list[str | None] = []
        self.text = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        known = dict(attributes)
        self.identifiers += [known["id"] or ""] if "id" in known else []
        self.links += [value or "" for name, value in attributes if name in ("href", "src", "xlink:href", "action")]
        self.headers += [known.get("scope")] if tag == "th" else []
        self.pictures += [known.get("aria-label")] if tag == "svg" else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_html_page_is_sound_and_refers_to_nothing_outside(made: Made) -> None:
    text = (made.folder / "report.html").read_text(encoding="utf-8")
    page = Checker()
    page.feed(text)
    page.close()
    assert page.open == []
    assert len(set(page.identifiers)) == len(page.identifiers)
    assert all(link.startswith("#") and link[1:] in page.identifiers for link in page.links) and len(page.links) > 10
    assert "http" not in text and "<script" not in text and "@import" not in text
    assert not {part.split(")")[0] for part in text.split("url(#")[1:]} - set(page.identifiers)
    assert set(page.headers) == {"row", "col"}
    assert len(page.pictures) == 4 and all(page.pictures)
    assert STRANGE in page.text and "<i>" not in text


def test_the_markdown_page(made: Made) -> None:
    text = (made.folder / "report.md").read_text(encoding="utf-8")
    assert r"a\|b \<i\>" in text and "<i>" not in text
    for link in (part.split(")")[0] for part in text.split("](")[1:]):
        assert (made.folder / link).is_file(), link
    tables = [line for line in text.splitlines() if line.startswith("| dtg | dtg | lower bound (proposal) | ≤ ")]
    assert len(tables) == 1
    assert "They leave out the variance between models trained with different seeds" in text
    assert "Trees are Universal Dependencies unless said otherwise" in text


def test_writing_again_gives_the_same_files_and_nothing_else_is_written_over(made: Made, tmp_path: Path) -> None:
    page = Page(made.page.title, (), made.page.sections[:1])  # without pictures, which take time
    write_report(tmp_path / "one", page)
    first = (tmp_path / "one/report.html").read_bytes()
    write_report(tmp_path / "one", page)
    assert (tmp_path / "one/report.html").read_bytes() == first
    for name in ("tables/of-a-model-that-is-gone.csv", "figures/circuits.svg", "tables/mine.xlsx"):
        (tmp_path / "one" / name).touch()
    write_report(tmp_path / "one", page)
    assert not list((tmp_path / "one/figures").iterdir())  # of an earlier report, which this one does not show
    assert {path.name for path in (tmp_path / "one/tables").iterdir()} == {"results.csv", "mine.xlsx"}
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis/chapter.tex").touch()
    with pytest.raises(InputError, match="not empty, and has no report in it"):
        write_report(tmp_path / "thesis", page)
    with pytest.raises(InputError, match="it is a file"):
        write_report(tmp_path / "thesis/chapter.tex", page)


def test_without_matplotlib_there_are_tables(made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise MissingExtraError("matplotlib", "draw", "drawing")

    monkeypatch.setattr("dtg.evaluation.figures.picture", refuse)
    assert not write_report(tmp_path / "report", made.page)
    text = (tmp_path / "report/report.html").read_text(encoding="utf-8")
    assert "Pictures are left out" in text and "<svg" not in text and "Agreement" in text


def test_phrases_have_tables_of_brackets(tmp_path: Path) -> None:
    """Beside those of dependencies; a run of a model of phrases, whose configuration has a list of labels, is read."""
    results = tmp_path / "results"
    content = write_phrase_reranking(results / "tg/rerank", "tg", 1)
    write_phrase_reranking(results / "other/rerank", "other", 1, weight=1.0)
    parsed = write_phrase_parser(results / "phrases", 6)
    write_parser(results / "parser.json")
    write_run(tmp_path / "run", 60, "tg", labels=["NP", "VP"])
    gathered = gather(find([results]), {"tg": tmp_path / "run"})
    assert [found.kind for found in gathered.parsers] == ["parser", "parser-phrases"] and not gathered.notes
    page = page_of(gathered)
    write_report(tmp_path / "report", page)
    made = Made({}, page, tmp_path / "report")

    row, scores = made.row("reranking-phrases", "tg"), content["all"]
    assert [row[title].number for title in ("F1 of the proposal", "F1 reranked", "F1 of the oracle")] == [
        scores[who]["f1"] for who in ("proposal", "reranked", "oracle")
    ]
    gained = scores["difference"]["f1"]
    assert (row["reranked − proposal"].number, row["reranked − proposal"].interval) == (
        gained["value"],
        tuple(gained["interval"]),
    )
    assert row["exact, reranked"].number == scores["reranked"]["exact"] and row["sentences"].number == 20
    assert any("weight" in note for note in row["Model"].notes)  # `other` comes first

    parser = made.row("constituency-parsers", "runs/phrases/best")
    assert parser["F1"].number == parsed["all"]["f1"] == 75.0 and parser["F1 of the best"].number == 87.5
    assert made.row("parsers", "runs/parser/best")["UAS"].number == 91.25
    text = (tmp_path / "report/report.md").read_text()
    assert "words tagged as punctuation are taken out" in text and "``" not in text
