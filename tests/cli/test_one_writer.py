"""Commands do not write over what they read, nor where another process writes; as users run them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dtg.io.locks import lock_file, locked_folder
from tests.cli.made import folder_with_models
from tests.cli.running import dtg
from tests.processes import run_command, start

TREES = "1\tthe\t_\t_\t_\t_\t2\tdet\t_\t_\n2\tdog\t_\t_\t_\t_\t0\troot\t_\t_\n\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_with_models(tmp_path_factory)


@pytest.mark.parametrize(
    ("command", "name", "content"),
    [
        (("parse", "{}"), "gold.conllu", TREES),
        (("rerank", "{}"), "gold.conllu", TREES),
        (("rerank", "the dog", "--parser", "{}"), "proposals.conllu", TREES),
        (("score", "--conllu", "{}", "--format", "csv"), "gold.conllu", TREES),
        (("score", "--text", "{}"), "t.jsonl", "the dog\n"),
        (("surprisal", "{}", "--column", "sentence"), "x.csv", "item,sentence\n1,the dog\n"),
    ],
)
def test_the_input_is_not_overwritten(tmp_path: Path, command: tuple[str, ...], name: str, content: str) -> None:
    """Refused before anything is touched, also where the output is a link to the input."""
    given, link = tmp_path / name, tmp_path / f"link{Path(name).suffix}"
    given.write_text(content)
    arguments = [str(given) if one == "{}" else one for one in command]
    told = dtg(*arguments, "--out", given, "--overwrite", code=1).stderr
    assert f"cannot write {given}: it is what is read, and would be lost. Write to another file." in told
    if command[0] == "parse":
        link.symlink_to(given)
        assert "is the same file), and would be lost" in dtg(*arguments, "--out", link, "--overwrite", code=1).stderr
        link.unlink()
    assert given.read_text() == content and [path.name for path in tmp_path.iterdir()] == [name]


def test_the_standard_input_and_models_are_not_overwritten(tmp_path: Path, made: Path) -> None:
    given = tmp_path / "a.txt"
    given.write_text("the dog\n")
    command = [sys.executable, "-m", "dtg", "parse", "-", "--out", str(given), "--overwrite"]
    with given.open() as stdin:
        done = subprocess.run(command, stdin=stdin, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "it is what is read (/dev/stdin is the same file)" in done.stderr
    model = shutil.copytree(made / "model", tmp_path / "model")
    before = (model / "config.json").read_bytes()
    for command in (["surprisal", "the dog", "--format", "csv"], ["generate"]):
        out = ("--model", model, "--out", model / "config.json", "--overwrite")
        assert "it is what is read" in dtg(*command, *out, code=1).stderr
    assert (model / "config.json").read_bytes() == before and given.read_text() == "the dog\n"


def test_a_table_that_is_being_written_is_refused(tmp_path: Path, made: Path) -> None:
    (tmp_path / "a.txt").write_text("the dog\n")
    for name, command in (("a.csv", ("surprisal", "--resume")), ("a.conllu", ("parse", "--overwrite"))):
        with lock_file(tmp_path / name):
            told = dtg(*command, tmp_path / "a.txt", "--out", tmp_path / name, code=1).stderr
            assert f"{name}: another process is writing it (process {os.getpid()} on" in told
            assert "Wait until that has ended" in told
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_two_at_once_write_one_table(tmp_path: Path, made: Path) -> None:
    """One of them does it, whichever; the table has each row once."""
    (tmp_path / "a.txt").write_text("the dog saw mice\n" * 40)
    shared = ["surprisal", str(tmp_path / "a.txt"), "--tokenized", "--model", str(made / "model"), "--beam", "20"]
    dtg(*shared, "--out", tmp_path / "whole.csv")
    both = [start(run_command, *shared, "--out", str(tmp_path / "a.csv"), "--resume") for _ in range(2)]
    done = [running.wait() for running in both]
    told, codes = [one.stderr for one in done], sorted(one.returncode for one in done)
    assert codes == [0, 1] or (codes == [0, 0] and any("was finished before" in one for one in told)), told
    if codes == [0, 1]:
        assert any("another process is writing it" in one for one in told)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert not list(tmp_path.glob(".*"))


def test_an_evaluation_and_a_corpus_have_one_writer(tmp_path: Path, made: Path) -> None:
    gold = tmp_path / "gold.conllu"
    gold.write_text(TREES)
    evaluation = ("evaluate", "parser", gold, "--parser", made / "parser", "--out", tmp_path / "results")
    preparation = ("prepare", "--train", gold, "--dev", gold, "--out", tmp_path / "corpus", "--vocabulary", "270")
    with locked_folder(tmp_path / "results"), lock_file(tmp_path / "corpus"):
        assert "results: another process is writing it" in dtg(*evaluation, code=1).stderr
        assert "corpus: another process is writing it" in dtg(*preparation, code=1).stderr
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / f".settings.json.{2**22 + 1}.partial.json").touch()  # as a killed process left it
    (tmp_path / "results" / ".lock").touch()
    dtg(*evaluation)
    dtg(*preparation)
    assert not [*tmp_path.glob(".*"), *(tmp_path / "results").glob(".*"), *(tmp_path / "corpus").glob(".*")]
