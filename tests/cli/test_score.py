"""`dtg score` as a user meets it: trees and sentences with their log-probabilities. The model is a stand-in."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import pytest

from dtg.tables.items import sentence_of
from dtg.text.sentence import Sentence
from tests.cli.running_stand_in import Command
from tests.search.stand_in import made_up

TREES = """\
# sent_id = first
1\tThe\t_\t_\t_\t_\t2\tdet\t_\t_
2\tdog\t_\t_\t_\t_\t0\troot\t_\t_

1\tone\t_\t_\t_\t_\t0\troot\t_\t_
2\ttwo\t_\t_\t_\t_\t0\troot\t_\t_

# sent_id = third, "quoted"
1\tcrossing\t_\t_\t_\t_\t3\tdep\t_\t_
2\tarcs\t_\t_\t_\t_\t4\tdep\t_\t_
3\tare\t_\t_\t_\t_\t0\troot\t_\t_
4\tlifted\t_\t_\t_\t_\t3\tdep\t_\t_

"""


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Command:
    return Command(monkeypatch, capsysbinary)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "best").mkdir()
    return tmp_path / "best"


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    path = tmp_path / "trees.conllu"
    path.write_text(TREES)
    return path


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_trees(run: Command, model: Path, treebank: Path, tmp_path: Path) -> None:
    command = ("score", "--conllu", treebank, "--model", model, "--roots", "skip")
    done = run(*command, "--out", tmp_path / "out.csv")
    assert "1 sentence with crossing arcs" in done.stderr and "left out 1 sentence" in done.stderr
    rows = read(tmp_path / "out.csv")
    assert [row["sentence_id"] for row in rows] == ["1", "3"]  # a sentence that is left out keeps its number
    assert [row["sent_id"] for row in rows] == ["first", 'third, "quoted"']
    assert [row["words"] for row in rows] == ["2", "4"]
    nats = made_up(Sentence.of_words(["The", "dog"])).log_probability
    assert float(rows[0]["log_probability"]) == pytest.approx(nats / math.log(2))
    settings = json.loads((tmp_path / "out.csv.meta.json").read_text())["settings"]
    assert settings["command"] == "score --conllu" and settings["unit"] == "bits" and settings["roots"] == "skip"
    printed = run(*command, "--base", "e").stdout.splitlines()
    assert printed[0] == "ln p(words, tree)"
    assert printed[3].split() == ["1", "2", f"{nats:.2f}", "first"]
    assert printed[-1].startswith("2 sentences, 6 words: ")


def test_text(run: Command, model: Path, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text('I don\'t.\n\nA, "b".\n')
    command = ("score", "--text", tmp_path / "text.txt", "--model", model)
    done = run(*command, "--out", tmp_path / "out.csv")
    assert "1 empty line in" in done.stderr
    rows = read(tmp_path / "out.csv")
    assert [(row["sentence_id"], row["text"], row["words"]) for row in rows] == [
        ("1", "I don't.", "4"),
        ("3", 'A, "b".', "6"),
    ]
    nats = made_up(sentence_of("I don't.", tokenized=False)).log_probability
    assert float(rows[0]["log_probability"]) == pytest.approx(nats / math.log(2))
    assert {row["kind"] for row in rows} == {"lower bound"}
    exact = run(*command, "--format", "jsonl", "--tokenized", family="txl-tokens").stdout.splitlines()
    assert [json.loads(line)["kind"] for line in exact] == ["exact", "exact"] and json.loads(exact[0])["words"] == 2
    printed = run(*command).stdout
    assert "log₂ p(words), lower bound by beam" in printed and "2 sentences, 10 words" in printed
    piped = run("score", "--text", "-", "--model", model, given=b"One.\n").stdout
    assert "1 sentence, 2 words" in piped


def test_trees_are_scored_in_groups_and_resumed(run: Command, model: Path, tmp_path: Path) -> None:
    one = "1\tword{i}\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    (tmp_path / "many.conllu").write_text("".join(one.replace("{i}", str(i)) for i in range(600)))
    command = ("score", "--conllu", tmp_path / "many.conllu", "--model", model, "--out")
    run(*command, tmp_path / "whole.csv")
    whole = (tmp_path / "whole.csv").read_bytes()
    meta = json.loads((tmp_path / "whole.csv.meta.json").read_text())
    lines = whole.splitlines(keepends=True)
    broken = (tmp_path / "many.conllu").read_text().replace("word300\t_\t_\t_\t_\t0", "word300\t_\t_\t_\t_\t9")
    (tmp_path / "broken.conllu").write_text(broken)
    stopped = ("score", "--conllu", tmp_path / "broken.conllu", "--model", model, "--out", tmp_path / "out.csv")
    error = run(*stopped, code=1).stderr
    assert "sentence 301" in error and (tmp_path / "out.csv").read_bytes() == b"".join(lines[:257])
    run(*command, tmp_path / "out.csv", "--resume")  # the file mended
    assert (tmp_path / "out.csv").read_bytes() == whole
    assert json.loads((tmp_path / "out.csv.meta.json").read_text()) == meta


def test_mistakes(run: Command, model: Path, treebank: Path) -> None:
    assert (
        "give trees with --conllu FILE or sentences with --text FILE" in run("score", "--model", model, code=1).stderr
    )
    both = run("score", "--conllu", treebank, "--text", treebank, "--model", model, code=1)
    assert "and not both" in both.stderr
    assert "is about plain text" in run("score", "--conllu", treebank, "--tokenized", code=1).stderr
    assert "there is no such file" in run("score", "--text", "missing.txt", "--model", model, code=1).stderr
    assert "there is no such file" in run("score", "--conllu", "missing.conllu", "--model", model, code=1).stderr
    assert "(line 6): words 1, 2" in run("score", "--conllu", treebank, "--model", model, code=1).stderr
