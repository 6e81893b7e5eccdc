"""`dtg surprisal` as a user meets it: tables for people and for machines, streams, interruptions, mistakes.

The model is a stand-in, so that this tests the command and not the search.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running_stand_in import SCRIPT, Command, killed_after

SENTENCE = 'I don\'t see "the dog", do you?'
NAMES = (
    "sentence_id word_id word surprisal lexical structural entropy entropy_reduction stack_depth kept pieces "
    "char_start char_end whitespace_id whitespace_word model unit beam"
).split()


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Command:
    return Command(monkeypatch, capsysbinary)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Files for the fingerprint; the stand-in does not read them."""
    folder = tmp_path / "best"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_text("weights")
    return folder


@pytest.fixture
def sentences(tmp_path: Path) -> Path:
    path = tmp_path / "sentences.txt"
    path.write_text("".join(f"This is sentence {i}, isn't it?\n" for i in range(80)))
    return path


def rows_of(text: str, delimiter: str = ",") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter))


def test_table_for_people(run: Command, model: Path) -> None:
    done = run("surprisal", SENTENCE, "--model", model, "--end")
    lines = done.stdout.splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert "surprisal, bits" in lines[1] and "structural" in lines[1] and "kept" in lines[1]
    assert [line.split()[0] for line in lines[3:14]] == [
        "I",
        "do",
        "n't",
        "see",
        '"',
        "the",
        "dog",
        '"',
        ",",
        "do",
        "you",
    ]
    assert sum("█" * 12 in line for line in lines) == 1  # the largest has the longest bar
    assert any(line.split()[:1] == ["<END>"] for line in lines)
    assert "bits, lower bound by beam; <END> is" in done.stdout
    exact = run("surprisal", SENTENCE, "--model", model, "--base", "e", family="txl-tokens")
    assert "surprisal, nats" in exact.stdout and "nats, exact; <END>" in exact.stdout


def test_files_and_streams_are_numbered_for_people(run: Command, model: Path) -> None:
    done = run("surprisal", "-", "--model", model, given=b"One.\n\nTwo.\n")
    assert [line for line in done.stdout.splitlines() if line.startswith("sentence")] == ["sentence 1", "sentence 3"]
    assert "1 empty line in the standard input; they have numbers, but no rows." in done.stderr


def test_control_characters_do_not_reach_the_terminal(run: Command, model: Path) -> None:
    done = run("surprisal", "a\x1b[2Jb", "--tokenized", "--model", model)
    assert "\x1b" not in done.stdout and "a\\x1b[2Jb" in done.stdout


@pytest.mark.parametrize("text", ["x", "🦆 👨‍👩‍👧", " ".join(["word"] * 200), "\x07 \x1b[31m \u202e", "Zürich, naïve"])
def test_texts_of_every_kind(run: Command, model: Path, text: str) -> None:
    run("surprisal", text, "--model", model)
    rows = rows_of(run("surprisal", text, "--model", model, "--format", "csv").stdout)
    assert "".join(row["word"] for row in rows) == "".join(text.split())


def test_csv_to_the_standard_output(run: Command, model: Path) -> None:
    done = run("surprisal", SENTENCE, "--model", model, "--format", "csv")
    rows = rows_of(done.stdout)
    assert done.stderr == "" and list(rows[0]) == NAMES
    assert [row["word"] for row in rows] == ["I", "do", "n't", "see", '"', "the", "dog", '"', ",", "do", "you", "?"]
    summed = rows_of(
        run("surprisal", SENTENCE, "--model", model, "--format", "tsv", "--per", "whitespace", "--end").stdout,
        "\t",
    )
    assert [row["word"] for row in summed] == [*SENTENCE.split(), "<END>"]
    dog = sum(float(row["surprisal"]) for row in rows if row["whitespace_word"] == 'dog",')
    assert float(summed[4]["surprisal"]) == pytest.approx(dog)
    nats = run("surprisal", SENTENCE, "--model", model, "--format", "jsonl", "--base", "e").stdout
    assert json.loads(nats.splitlines()[0])["surprisal"] / 0.6931471805599453 == pytest.approx(
        float(rows[0]["surprisal"])
    )


def test_what_is_typed_is_answered_line_by_line(model: Path) -> None:
    ours, terminal = os.openpty()
    command = [sys.executable, "-c", SCRIPT.format(sentences=-1), "surprisal", "-", "--model", str(model)]
    with subprocess.Popen(command, stdin=terminal, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for number in (1, 2):
            os.write(ours, b"The dog barks.\n")
            shown = b""
            while b"<END> is" not in shown:  # what every answer ends with
                assert select.select([process.stdout], [], [], 60)[0], "no answer while the next line is waited for"
                shown += os.read(process.stdout.fileno(), 10_000)
            assert f"sentence {number}\n".encode() in shown
        os.write(ours, b"\x04")  # Ctrl-D
    assert process.returncode == 0


def test_words_given(run: Command, model: Path) -> None:
    done = run("surprisal", "I don't 10\u00a0000 .", "--tokenized", "--model", model, "--format", "csv")
    assert [row["word"] for row in rows_of(done.stdout)] == ["I", "don't", "10\u00a0000", "."]


def test_file_to_file(run: Command, model: Path, sentences: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    done = run("surprisal", sentences, "--model", model, "--out", out, "--beam", "20")
    assert done.stdout == ""
    assert "out.csv has 720 rows for 80 sentences; out.csv.meta.json says how they were made." in done.stderr
    meta = json.loads((tmp_path / "out.csv.meta.json").read_text())
    settings = meta["settings"]
    assert (settings["unit"], settings["beam"], settings["word_beam"], settings["per"]) == ("bits", 20, 6, "word")
    assert settings["command"] == "surprisal" and settings["family"] == "dtg" and settings["format"] == "csv"
    assert meta["given"] == {"model": str(model), "input": str(sentences)} and list(meta["columns"]) == NAMES
    zipped = tmp_path / "zipped.gz"
    zipped.write_bytes(gzip.compress(sentences.read_bytes()))
    run("surprisal", zipped, "--model", model, "--out", tmp_path / "zipped.out", "--format", "csv", "--beam", "20")
    assert (tmp_path / "zipped.out").read_bytes() == out.read_bytes()
    piped = run("surprisal", "-", "--model", model, "--format", "csv", "--beam", "20", given=sentences.read_bytes())
    assert piped.stdout == out.read_text()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_killed_and_resumed(run: Command, model: Path, sentences: Path, tmp_path: Path, suffix: str) -> None:
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    whole, out = tmp_path / f"whole.{suffix}", tmp_path / f"out.{suffix}"
    command = ("surprisal", sentences, "--model", model, "--end", "--out")
    run(*command, whole)
    killed_after(45, *command, out)
    growing = tmp_path / "out.parquet.rows.jsonl" if suffix == "parquet" else out
    lines = growing.read_text().count("\n") - (suffix == "csv")
    assert lines == 45 * 10  # what was ready had been written
    assert "exists. Pass --resume" in run(*command, out, code=1).stderr
    other = run(*command, out, "--resume", "--beam", "5", code=1)
    assert "written with other settings" in other.stderr and "beam is 5, and was 1000." in other.stderr
    run(*command, out, "--resume")
    assert out.read_bytes() == whole.read_bytes()
    assert "was finished before" in run(*command, out, "--resume").stderr
    assert not (tmp_path / "out.parquet.rows.jsonl").exists()


@pytest.mark.parametrize("kill", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_and_resumed(
    run: Command, model: Path, sentences: Path, tmp_path: Path, kill: signal.Signals
) -> None:
    command = ("surprisal", sentences, "--model", model, "--out")
    run(*command, tmp_path / "whole.csv")
    done = run(*command, tmp_path / "out.csv", code=128 + kill, sentences=40, kill=kill)
    assert "out.csv is not finished. The same command with --resume resumes it." in done.stderr
    (model / "model.safetensors").write_text("others")
    other = run(*command, tmp_path / "out.csv", "--resume", code=1)
    assert "model_sha256 is" in other.stderr
    (model / "model.safetensors").write_text("weights")
    run(*command, tmp_path / "out.csv", "--resume")
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_what_the_argument_is(run: Command, model: Path, sentences: Path, tmp_path: Path) -> None:
    command = ("--model", model, "--format", "csv")
    rows = rows_of(run("surprisal", sentences, "--literal", "--tokenized", *command).stdout)
    assert [row["word"] for row in rows] == [str(sentences)]
    before = run("surprisal", sentences, "--text", "--tokenized", *command)
    assert rows_of(before.stdout) == rows and "--text is called --literal now; it still works." in before.stderr
    for missing in ("missing.txt", "stimuli/missing", "my stimuli.csv"):
        told = run("surprisal", missing, *command, code=1).stderr
        assert f"cannot read {missing}: there is no such file. If it is a sentence, pass --literal." in told
        assert rows_of(run("surprisal", missing, "--literal", *command).stdout)
    assert len(rows_of(run("surprisal", "He and/or she.", *command).stdout)) >= 4
    assert "it is a folder" in run("surprisal", tmp_path, *command, code=1).stderr
    assert len(rows_of(run("surprisal", "word " * 300, *command).stdout)) == 300
    for empty in ("", "  "):
        assert "is empty. Give a sentence" in run("surprisal", empty, *command, code=1).stderr


def test_bad_bytes(run: Command, model: Path, tmp_path: Path) -> None:
    (tmp_path / "latin.txt").write_bytes(b"One.\ncaf\xe9\n")
    done = run("surprisal", tmp_path / "latin.txt", "--model", model, "--format", "csv", code=1)
    assert "latin.txt, line 2: byte 4 of the line is 0xe9, which is not UTF-8." in done.stderr


def test_an_empty_file(run: Command, model: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("\n\n")
    done = run("surprisal", tmp_path / "empty.txt", "--model", model, "--out", tmp_path / "out.csv")
    assert "0 rows for 0 sentences" in done.stderr and "2 empty lines in" in done.stderr
    assert (tmp_path / "out.csv").read_text() == ",".join(NAMES) + "\n"


def test_mistakes(run: Command, model: Path, tmp_path: Path) -> None:
    def message(*arguments: str | Path) -> str:
        return run("surprisal", "The dog.", *arguments, code=1).stderr

    assert "pass --out FILE.parquet" in message("--format", "parquet")
    assert "name it with --out FILE" in message("--resume")
    assert "give one of them" in message("--resume", "--overwrite", "--out", tmp_path / "a.csv")
    assert "or pass --format" in message("--out", tmp_path / "a.txt")
    assert "does not exist" in message("--out", tmp_path / "b" / "a.csv")
    assert "is not a device" in message("--model", model, "--device", "gpu")


def test_a_picture_of_one_sentence(run: Command, model: Path, tmp_path: Path) -> None:
    done = run("surprisal", SENTENCE, "--model", model, "--draw", tmp_path / "one.svg", "--draw", tmp_path / "one.png")
    assert f"dtg: drew {tmp_path / 'one.png'}." in done.stderr and "surprisal, bits" in done.stdout
    assert (tmp_path / "one.svg").read_text().startswith("<?xml")
    wrong = run("surprisal", SENTENCE, "--out", tmp_path / "x.csv", "--draw", "x.svg", "--model", model, code=1)
    assert "--draw goes with tables on the screen" in wrong.stderr
    assert "must end in one of" in run("surprisal", SENTENCE, "--model", model, "--draw", "x.gif", code=1).stderr


def test_words_at_which_little_was_kept_are_counted(run: Command, model: Path, sentences: Path, tmp_path: Path) -> None:
    done = run("surprisal", sentences, "--model", model, "--out", tmp_path / "out.csv")
    kept = [float(row["kept"]) for row in rows_of((tmp_path / "out.csv").read_text())]
    few = sum(share < 0.75 for share in kept)
    assert few > 0
    assert f"dtg: at {few} of {len(kept)} words the search kept less than 75% of the probability" in done.stderr
    meta = json.loads((tmp_path / "out.csv.meta.json").read_text())
    assert meta["settings"]["accuracy"] == "default" and meta["settings"]["smallest_share"] > 0
    both = run("surprisal", sentences, "--model", model, "--accuracy", "fast", "--beam", "5", code=1)
    assert "accuracy is 'fast' and beam is 5: a beam adapts, or has a fixed width." in both.stderr


def test_a_picture_of_conditions_by_two_models(run: Command, model: Path, tmp_path: Path) -> None:
    table = tmp_path / "items.csv"
    table.write_text("item,condition,sentence\n1,short,The dog barks .\n1,long,The old dog barks .\n")
    options: list[str | Path] = ["--column", "sentence", "--model", model, "--model", "txl-mini", "--beam", "3"]
    run("surprisal", table, *options, "--draw", tmp_path / "both.svg")
    drawn = (tmp_path / "both.svg").read_text()
    said = [line.strip() for line in drawn.splitlines() if "<!-- " in line]
    assert said.count("<!-- dog -->") == 2 and said.count("<!-- old -->") == 1
    assert {"<!-- item 1, condition short -->", "<!-- item 1, condition long -->"} <= set(said)
    assert "<!-- lighter: the structural part -->" in said and "#e69f00" in drawn  # the second model
    many = tmp_path / "many.txt"
    many.write_text("A dog .\n" * 13)
    refused = run("surprisal", many, "--model", model, "--draw", tmp_path / "no.svg", code=1)
    assert "a picture shows at most 12 sentences, and here are more" in refused.stderr
    run("surprisal", many, "--model", model, "--beam", "1", "--limit", "2", "--draw", tmp_path / "two.svg")
