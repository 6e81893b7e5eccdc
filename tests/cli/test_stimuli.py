"""`dtg surprisal` of tables: every column of a row beside each word of its sentence; several models; running text."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running_stand_in import Command

HEADER = ["item", "condition", "sentence", "frequency", "word", "seen", "list"]
ROWS: list[list[Any]] = [
    ["001", "a, b", 'He said "no".', 0.5, "said", True, 1],
    ["002", "RRC", "", 2.5, "empty", False, 2],
    ["003", "tab\tand é", "The dog\u2019s tail wags.", None, None, None, 3],
]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Command:
    return Command(monkeypatch, capsysbinary)


@pytest.fixture
def models(tmp_path: Path) -> tuple[Path, Path]:
    folders = tmp_path / "one" / "best", tmp_path / "two" / "best"
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}")
    return folders


def write_input(path: Path) -> Path:
    if path.suffix in (".csv", ".tsv"):
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter="," if path.suffix == ".csv" else "\t").writerows([HEADER, *ROWS])
    else:
        records = [dict(zip(HEADER, row, strict=True)) for row in ROWS]
        if path.suffix == ".jsonl":
            path.write_text("".join(json.dumps(record) + "\n\n" for record in records), encoding="utf-8")
        else:
            pyarrow = pytest.importorskip("pyarrow")
            pytest.importorskip("pyarrow.parquet").write_table(pyarrow.Table.from_pylist(records), path)
    return path


def read_output(path: Path) -> list[dict[str, Any]]:
    """Values as text, so that formats can be compared; missing ones as None."""
    if path.suffix in (".csv", ".tsv"):
        with path.open(encoding="utf-8", newline="") as file:
            found = list(csv.DictReader(file, delimiter="," if path.suffix == ".csv" else "\t"))
        return [{name: value or None for name, value in row.items()} for row in found]
    if path.suffix == ".jsonl":
        records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    else:
        records = pytest.importorskip("pyarrow.parquet").read_table(path).to_pylist()
    return [{name: None if value is None else str(value) for name, value in row.items()} for row in records]


@pytest.mark.parametrize("given", ["csv", "tsv", "jsonl", "parquet"])
@pytest.mark.parametrize("made", ["csv", "tsv", "jsonl", "parquet"])
def test_every_column_of_the_input_is_beside_every_word(
    run: Command, models: tuple[Path, Path], tmp_path: Path, given: str, made: str
) -> None:
    source, out = write_input(tmp_path / f"stimuli.{given}"), tmp_path / f"words.{made}"
    done = run("surprisal", source, "--column", "sentence", "--model", models[0], "--out", out, "--beam", "7")
    assert "the input's column word is called input_word in the table" in done.stderr
    assert "1 empty row in" in done.stderr
    rows = read_output(out)
    assert [row["sentence_id"] for row in rows] == ["1"] * 6 + ["3"] * 6
    assert {(row["model"], row["unit"], row["beam"]) for row in rows} == {("dtg", "bits", "7")}
    first, last = rows[0], rows[-1]
    assert [first[name] for name in ("item", "condition", "sentence", "frequency", "input_word", "list")] == [
        "001",
        "a, b",
        'He said "no".',
        "0.5",
        "said",
        "1",
    ]
    assert first["seen"] == "True" and last["seen"] is None
    assert last["condition"] == "tab\tand é" and last["frequency"] is last["input_word"] is None
    assert list(first)[-7:] == ["item", "condition", "sentence", "frequency", "input_word", "seen", "list"]


def test_numbers_stay_numbers(run: Command, models: tuple[Path, Path], tmp_path: Path) -> None:
    source = write_input(tmp_path / "stimuli.csv")
    done = run("surprisal", source, "--column", "sentence", "--model", models[0], "--format", "jsonl")
    row = json.loads(done.stdout.splitlines()[0])
    assert (row["item"], row["frequency"], row["list"]) == ("001", 0.5, 1)


def test_several_models_are_told_apart(run: Command, models: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("The dog barks.\nCats sleep.\n")
    command = ("surprisal", tmp_path / "text.txt", "--model", models[0], "--model", models[1])
    done = run(*command, "--out", tmp_path / "words.csv")
    rows = read_output(tmp_path / "words.csv")
    assert "14 rows for 2 sentences" in done.stderr
    names = [str(models[0]), str(models[1])]  # both are called dtg, so it is their folders
    assert [row["model"] for row in rows] == [names[0]] * 4 + [names[1]] * 4 + [names[0]] * 3 + [names[1]] * 3
    meta = json.loads((tmp_path / "words.csv.meta.json").read_text())
    assert meta["given"]["model"] == names and len(meta["settings"]["model_sha256"]) == 2
    shown = run("surprisal", "The dog.", "--model", models[0], "--model", models[1]).stdout
    assert all(name in shown.replace("\n", "") for name in names)
    assert "given twice" in run("surprisal", "The dog.", "--model", models[0], "--model", models[0], code=1).stderr


def test_a_table_needs_its_column_named(run: Command, models: tuple[Path, Path], tmp_path: Path) -> None:
    source = write_input(tmp_path / "stimuli.csv")
    assert "is a table. Name the column with the sentences: --column NAME." in run("surprisal", source, code=1).stderr
    renamed = tmp_path / "stimuli.txt"
    renamed.write_text(source.read_text())
    assert "--column NAME" in run("surprisal", renamed, code=1).stderr
    for first in ("item\tsentence\n1\tThe dog.\n", '{"item": 1, "sentence": "The dog."}\n'):
        renamed.write_text(first)
        assert "--column NAME" in run("surprisal", renamed, code=1).stderr
        assert "A file with one sentence on each line is expected" in run("parse", renamed, code=1).stderr
    for prose in ("Yes, no.\nMaybe, perhaps.\n", "Yes,no\n", "However, it rained.\nThen, it did not.\n"):
        renamed.write_text(prose)
        run("surprisal", renamed, "--model", models[0])
    unknown = run("surprisal", source, "--column", "text", "--model", models[0], code=1).stderr
    assert "has no column 'text'. It has: item, condition, sentence" in unknown


def test_running_text_is_split(run: Command, models: tuple[Path, Path], tmp_path: Path) -> None:
    story = tmp_path / "story.txt"
    story.write_text("It rained. We left!\n\n" + " ".join(["A dog barked."] * 40) + "\n")
    command = ("surprisal", story, "--model", models[0], "--format", "csv")
    warned = run(*command).stderr
    assert "line 3 has 160 words, and is taken for one sentence. If it is running text, pass --paragraphs" in warned
    done = run(*command, "--paragraphs")
    assert "split 2 lines into 42 sentences (--paragraphs)." in done.stderr and "warning" not in done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["paragraph_id"] for row in rows if row["word_id"] == "1"] == ["1", "1", *["3"] * 40]
    assert rows[-1]["sentence_id"] == "42"
    first = run(*command, "--paragraphs", "--limit", "2")
    assert [row["sentence_id"] for row in csv.DictReader(io.StringIO(first.stdout)) if row["word"] != "."][-1] == "2"
