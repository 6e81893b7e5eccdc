"""`dtg evaluate reading` and `garden-paths` as a user meets them: a table of her own, mistakes, several models."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import dtg
from tests.evaluation.reading.test_reading import as_surprisals, made_up, participants, write
from tests.evaluation.test_garden_paths import plain


def own_names(path: Path) -> Path:
    """The same table with names that nobody could know."""
    text = path.read_text(encoding="utf-8")
    for name, own in (("Form", "Wort"), ("RT.ms", "Lesezeit"), ("Passage", "Geschichte"), ("sent_no", "Satz")):
        text = text.replace(name, own, 1)
    path.write_text(text.replace("W.Num", "Stelle", 1), encoding="utf-8")
    return path


def test_a_table_of_ones_own(tmp_path: Path) -> None:
    """Other column names, tabs, and a row for each participant; two tables of surprisals as models."""
    rows = made_up()
    path, first = own_names(participants(tmp_path, rows)), as_surprisals(tmp_path / "first.csv", rows)
    noisy = [{**row, "surprisal": row["surprisal"] + (place % 7)} for place, row in enumerate(rows)]
    second = as_surprisals(tmp_path / "second.csv", noisy)
    said = dtg("evaluate", "reading", path, "--surprisals", first, code=1).stderr
    assert "known by its name to have the words" in said and "--word COLUMN" in said
    columns = [
        "--word",
        "Wort",
        "--time",
        "Lesezeit",
        "--story",
        "Geschichte",
        "--sentence",
        "Satz",
        "--position",
        "Stelle",
    ]
    sources: list[str | Path] = ["--surprisals", first, "--surprisals", second]
    done = dtg("evaluate", "reading", path, *columns, *sources, "--raw", "--out", tmp_path / "out")
    assert "surprisal of first − surprisal of second" in done.stdout
    for name in ("comparison.md", "fit.svg", "first/words.csv", "second/mixed_model.R", "first/readings.csv"):
        assert (tmp_path / "out" / name).is_file()
    report = dtg("report", tmp_path / "out", "--out", tmp_path / "report")
    assert "2 evaluations" in report.stdout + report.stderr
    page = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "## Reading times" in page and "beyond controls" in page


def test_mistakes(tmp_path: Path) -> None:
    data = plain(tmp_path / "items.csv")
    assert "1,10,100" in dtg("evaluate", "garden-paths", data, "--beams", "1,x", code=1).stderr
    said = dtg("evaluate", "garden-paths", data, "--ms", tmp_path, "--model", "txl-mini", code=1).stderr
    assert "there are no results in" in said
    twice = ["--model", "txl-mini", "--model", "txl-mini"]
    assert "two models are called txl-mini" in dtg("evaluate", "garden-paths", data, *twice, code=1).stderr
    assert "for one model" in dtg("evaluate", "garden-paths", data, *twice, "--name", "x", code=1).stderr
    times = write(tmp_path / "times.csv", [{"wort": "Hund", "zeit": 300}])
    said = dtg("evaluate", "reading", times, code=1).stderr
    assert "--word COLUMN --time COLUMN (or --sentences FILE for the words)" in said
    said = dtg("evaluate", "reading", times, "--word", "wort", "--time", "zeit", "--only", "lang", code=1).stderr
    assert "--only takes a column and a value, such as correct=1; 'lang' was given." in said
    other = write(tmp_path / "other.csv", [{"a": 1}])
    assert "item, condition, sentence, region are expected" in dtg("evaluate", "garden-paths", other, code=1).stderr
    assert "no column called" in dtg("surprisal", "A dog.", "--columns", "depth", code=1).stderr
    said = dtg("evaluate", "pairs", data, "--boundary", "own", code=1).stderr
    assert "--region" in said
