"""A treebank of another language: scored from raw text by its own rules, or text is refused; never split as English."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from dtg.cli.training import language_of
from dtg.errors import InputError
from dtg.text.sentence import Sentence
from dtg.trees import read_conllu
from tests.cli.running import dtg

# "L'homme parle du lac." with a multiword token, and other words so that there is something to learn.
SENTENCE = """# sent_id = {name}
# text = L'{noun} parle du lac.
1\tL'\tle\tDET\t_\t_\t2\tdet\t_\tSpaceAfter=No
2\t{noun}\t_\tNOUN\t_\t_\t3\tnsubj\t_\t_
3\tparle\t_\tVERB\t_\t_\t0\troot\t_\t_
4-5\tdu\t_\t_\t_\t_\t_\t_\t_\t_
4\tde\t_\tADP\t_\t_\t6\tcase\t_\t_
5\tle\t_\tDET\t_\t_\t6\tdet\t_\t_
6\tlac\t_\tNOUN\t_\t_\t3\tobl\t_\tSpaceAfter=No
7\t.\t_\tPUNCT\t_\t_\t3\tpunct\t_\t_

"""
NOUNS = ["homme", "ami", "enfant", "oiseau", "eau", "arbre", "ours", "ombre"] * 6


def write_french(path: Path) -> Path:
    path.write_text("".join(SENTENCE.format(name=f"s{i}", noun=noun) for i, noun in enumerate(NOUNS)))
    return path


def test_what_language_a_treebank_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    french = write_french(tmp_path / "train.conllu")
    assert language_of("fr", [french]) == "fr"
    assert language_of(None, [french]) == "none"
    assert "the rules for 'en' find only 43 % of the words" in capsys.readouterr().err
    assert language_of(None, []) == "en"
    with pytest.raises(InputError, match="no rules to split text of language 'xy'"):
        language_of("xy", [french])


def test_multiword_tokens_keep_their_surface(tmp_path: Path) -> None:
    tree = next(iter(read_conllu(write_french(tmp_path / "train.conllu"))))
    sentence = Sentence.of_tree(tree)
    assert sentence.words == ("L'", "homme", "parle", "de", "le", "lac", ".")
    assert sentence.whitespace_words == ("L'homme", "parle", "du", "lac.") and sentence.text == "L'homme parle du lac."
    spans = zip(sentence.starts, sentence.ends, strict=True)
    assert [sentence.text[a:b] for a, b in spans] == ["L'", "homme", "parle", "du", "du", "lac", "."]
    assert sentence.whitespace == (0, 0, 1, 2, 2, 3, 3)


def test_a_french_model(tmp_path: Path) -> None:
    """Trained, scored from raw text by French rules, and from CoNLL-U with its multiword tokens; another refuses text."""
    french, sizes = write_french(tmp_path / "train.conllu"), ["--set", "model.layers=1", "--set", "model.width=16"]
    options: list[str | Path] = ["--train", french, "--dev", french, "--vocabulary", "300"]
    dtg("prepare", *options, "--language", "fr", "--out", tmp_path / "corpus")
    dtg("prepare", *options, "--out", tmp_path / "unknown")
    for corpus in ("corpus", "unknown"):
        run: list[str | Path] = ["--data", tmp_path / corpus, "--out", tmp_path / f"{corpus}-run", "--threads", "1"]
        dtg("train", "tiny", *sizes, "--set", "training.epochs=1", *run)
    model = tmp_path / "corpus-run" / "best"
    assert json.loads((model / "config.json").read_text())["model"]["language"] == "fr"
    table = dtg("surprisal", "L'homme parle.", "--model", model, "--beam", "5", "--format", "csv").stdout
    assert [row["word"] for row in csv.DictReader(io.StringIO(table))] == ["L'", "homme", "parle", "."]
    by_token: list[str | Path] = [
        "--model",
        model,
        "--beam",
        "5",
        "--per",
        "whitespace",
        "--format",
        "csv",
        "--limit",
        "1",
    ]
    rows = list(csv.DictReader(io.StringIO(dtg("surprisal", french, *by_token).stdout)))
    assert [row["word"] for row in rows] == ["L'homme", "parle", "du", "lac."] and rows[0]["sent_id"] == "s0"
    refused: list[str | Path] = [
        "surprisal",
        "L'homme parle.",
        "--model",
        tmp_path / "unknown-run" / "best",
        "--beam",
        "5",
    ]
    assert "raw text cannot be split into words here" in dtg(*refused, code=1).stderr
    assert "parle" in dtg(*refused, "--tokenized").stdout
