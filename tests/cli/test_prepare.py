"""`dtg prepare` as a user meets it, interruptions included."""

from __future__ import annotations

import inspect
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dtg.cli.app import app
from dtg.cli.commands.prepare import prepare as prepare_command
from dtg.cli.commands.prepare import repeat_options
from dtg.errors import CorpusError, TokenizerError, TreebankError
from dtg.text import DEFAULT_VOCABULARY, Corpus
from tests.text.treebanks import write_treebank

COMMAND = [sys.executable, "-c", "from dtg.cli import main; main()", "prepare"]


def prepare(*arguments: str | Path) -> None:
    """In this process, which is quicker; errors come out as they are."""
    app(["prepare", *map(str, arguments)], standalone_mode=False)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    write_treebank(tmp_path / "a.conllu", 60)
    write_treebank(tmp_path / "b.conllu", 30, seed=1)
    return tmp_path


def test_prepare_and_again(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--train", files / "a.conllu", files / "b.conllu", "--dev", files / "b.conllu", "--vocabulary", "400")
    prepare(*options, "--out", files / "corpus")
    first = capsys.readouterr()
    lines = first.out.splitlines()
    assert re.fullmatch(r"train  90 sentences, [\d,]+ words, [\d,]+ pieces \(\d\.\d\d a word\), 2 documents", lines[0])
    assert lines[1].startswith("dev    30 sentences")
    assert "dtg: tokenizer: 400 pieces were asked for, but the text is too small for that." in first.err
    assert list(Corpus.open(files / "corpus").splits) == ["train", "dev"]
    prepare(*options, "--out", files / "corpus")
    second = capsys.readouterr()
    assert "was made of the same files with the same options; nothing to do." in second.err
    assert second.out == first.out
    with pytest.raises(CorpusError, match="prepared otherwise: roots error instead of first"):
        prepare(*options, "--roots", "first", "--out", files / "corpus")
    assert sorted(path.name for path in files.iterdir()) == ["a.conllu", "b.conllu", "corpus"]


def test_what_was_changed_or_left_out_is_told(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (files / "b.conllu").open("a") as file:
        file.write("1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n2\tb\t_\t_\t_\t_\t0\troot\t_\t_\n\n1\ta\n\n")
    options = (
        "--train",
        files / "a.conllu",
        "--dev",
        files / "b.conllu",
        "--vocabulary",
        "400",
        "--out",
        files / "new",
    )
    with pytest.raises(TreebankError):
        prepare(*options)
    assert not (files / "new").exists()
    prepare(*options, "--roots", "first", "--skip-invalid")
    errors = capsys.readouterr().err
    assert "dtg: dev: attached 1 further roots to the first." in errors
    assert "dtg: dev: left out 1 sentences." in errors
    assert "b.conllu, sentence 32 (line" in errors


def test_mistakes_are_answered(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    options = ("--train", files / "a.conllu", "--dev", files / "b.conllu")
    with pytest.raises(TokenizerError, match="is not a SentencePiece model"):
        prepare(*options, "--out", files / "new", "--tokenizer", files / "a.conllu")
    with pytest.raises(TokenizerError, match="too small"):
        prepare(*options, "--out", files / "new", "--vocabulary", "270")
    assert capfd.readouterr() == ("", "")  # SentencePiece keeps its own complaints to itself


def test_the_command_answers_without_a_traceback(files: Path) -> None:
    command = [*COMMAND, "--train", "absent", "--dev", "absent", "--out", str(files / "new")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (1, "dtg: cannot read absent: there is no such file.\n")


def test_the_default_vocabulary_is_the_library_s() -> None:
    assert inspect.signature(prepare_command).parameters["vocabulary"].default == DEFAULT_VOCABULARY


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("--train a b --dev c --out d", "--train a --train b --dev c --out d"),
        ("--train a --train b", "--train a --train b"),
        ("--train=a b --skip-invalid", "--train=a --train b --skip-invalid"),
        ("--out d e --dev", "--out d e --dev"),
        ("", ""),
    ],
)
def test_several_files_after_one_option(typed: str, read: str) -> None:
    assert repeat_options(typed.split()) == read.split()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_interruptions_leave_nothing_half_made(tmp_path: Path, how: signal.Signals) -> None:
    write_treebank(tmp_path / "a.conllu", 12_000)
    options = ["--train", str(tmp_path / "a.conllu"), "--dev", str(tmp_path / "a.conllu"), "--vocabulary", "400"]
    out, partial = tmp_path / "corpus", ".corpus.*.partial"
    # A background job's children are born deaf to SIGINT; a user's terminal is not like that.
    running = subprocess.Popen(
        [*COMMAND, *options, "--out", str(out)],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while not list(tmp_path.glob(f"{partial}/train/pieces.npy")):
        assert running.poll() is None
        time.sleep(0.01)
    running.send_signal(how)
    _, errors = running.communicate(timeout=60)
    assert not out.exists()
    if how == signal.SIGKILL:  # nobody can clean up after that but the next run
        assert list(tmp_path.glob(partial))
        prepare(*options, "--out", out)
    else:
        assert running.returncode == 128 + how
        assert "Traceback" not in errors
    assert not list(tmp_path.glob(partial))
