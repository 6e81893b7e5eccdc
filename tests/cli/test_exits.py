"""How commands end: exit codes, full disks, closed pipes, signals, and terminals without Unicode."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dtg.cli import exits
from dtg.errors import InputError
from tests.cli.made import folder_with_models
from tests.cli.running import dtg
from tests.processes import run_command, start

COMMAND = f"{sys.executable} -m dtg"
TREE = ("inspect", "naïve 犬 $5", "--heads", "0 1 1", "--family", "dtg")


def raising(error: BaseException) -> Callable[[], None]:
    def command() -> None:
        raise error

    return command


def piped_out() -> None:
    """What Typer makes of a closed pipe."""
    try:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")
    except OSError:
        sys.exit(1)


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (lambda: None, 0, ""),
        (raising(SystemExit(2)), 2, ""),
        (raising(InputError("one\ntwo")), 1, "dtg: one\n     two\n"),
        (raising(OSError(errno.ENOSPC, "No space left on device", "out.csv")), 1, "with out.csv: no space left"),
        (raising(OSError(errno.EROFS, "Read-only file system", "x")), 1, "Write elsewhere."),
        (raising(BrokenPipeError(errno.EPIPE, "Broken pipe")), 0, ""),
        (piped_out, 0, ""),
        (raising(MemoryError()), 1, "not enough memory"),
        (raising(RuntimeError("DefaultCPUAllocator: can't allocate memory")), 1, "not enough memory"),
        (raising(RuntimeError("shapes differ")), 70, "this is a fault in dtg"),
        (raising(KeyError("x")), 70, "Traceback"),
        (raising(KeyboardInterrupt()), 130, "dtg: interrupted."),
        (raising(exits.Terminated()), 143, "dtg: terminated."),
    ],
)
def test_exit_codes(
    command: Callable[[], None],
    code: int,
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exits, "silence_output", lambda: None)
    assert exits.run(command) == code
    told = capsys.readouterr().err
    assert said in told and bool(said) == bool(told)
    assert ("Traceback" in told) == (code == 70)


def test_the_table_in_the_docs_is_that_of_the_code() -> None:
    assert exits.__doc__ is not None
    table = [line for line in exits.__doc__.splitlines() if line.startswith("| ") and line[2].isdigit()]
    page = (Path(__file__).parents[2] / "docs/robustness.md").read_text(encoding="utf-8")
    assert [line for line in page.splitlines() if line in table] == table and len(table) == 6


def shell(line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line}"], capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize("reader", ["head -1", "true"])
def test_a_reader_that_has_seen_enough_is_no_error(reader: str) -> None:
    done = shell(f"{COMMAND} info | {reader}")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="there is no /dev/full")
def test_a_full_disk_is_told() -> None:
    done = shell(f"{COMMAND} info > /dev/full")
    assert done.returncode == 1
    assert done.stderr.startswith("dtg: cannot go on: no space left on device.\n     Make room")


def test_notes_that_nobody_reads_stop_nothing(tmp_path: Path) -> None:
    treebank = tmp_path / "two.conllu"
    treebank.write_text("1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n1\tb\t_\t_\t_\t_\t9\troot\t_\t_\n\n")
    done = shell(
        f"{{ {COMMAND} info {treebank} --skip-invalid; echo $? >{tmp_path}/code; }} 2>&1 >{tmp_path}/out | true"
    )
    assert done.stderr == ""
    assert (tmp_path / "code").read_text() == "0\n"
    assert "1 sentence" in (tmp_path / "out").read_text()


@pytest.mark.parametrize(("encoding", "word"), [("ascii", b"na\\xefve"), ("latin-1", "naïve".encode("latin-1"))])
def test_terminals_without_unicode(encoding: str, word: bytes) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run(
        [sys.executable, "-m", "dtg", *TREE], capture_output=True, env=environment, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert word in done.stdout and b"\\u72ac" in done.stdout and b"$5" in done.stdout
    assert b"->+" in done.stdout  # the tree, in look-alikes
    assert done.stdout.decode(encoding)


def test_a_name_that_is_too_long() -> None:
    assert "Choose a shorter name" in dtg("info", "x" * 300 + ".conllu", code=1).stderr


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_with_models(tmp_path_factory)


def test_tables_for_a_closed_output(made: Path) -> None:
    done = shell(f"{COMMAND} parse 'The dog barks.' --parser {made / 'parser'} >&-")
    assert (done.returncode, done.stderr) == (
        1,
        "dtg: the standard output is closed; write to a file with --out FILE.\n",
    )


def test_a_full_disk_says_what_is_unfinished(made: Path, tmp_path: Path) -> None:
    text, out = tmp_path / "text.txt", tmp_path / "out.conllu"
    text.write_text("The dog barks .\n" * 60)
    done = shell(f"ulimit -f 4; {COMMAND} parse {text} --tokenized --parser {made / 'parser'} --out {out}")
    assert done.returncode == 1, done.stderr
    assert f"{out} is not finished" in done.stderr
    assert f"dtg: cannot go on with {out}: file too large." in done.stderr
    assert "Traceback" not in done.stderr
    dtg("parse", text, "--tokenized", "--parser", made / "parser", "--out", out, "--resume")
    whole = dtg("parse", text, "--tokenized", "--parser", made / "parser").stdout
    assert out.read_text(encoding="utf-8") == whole


def test_sigterm_is_told_apart_from_ctrl_c(made: Path, tmp_path: Path) -> None:
    text, out = tmp_path / "text.txt", tmp_path / "out.csv"
    text.write_text("The dog sees the man and barks at the cat .\n" * 2000)
    options = ["--tokenized", "--beam", "30", "--model", str(made / "model"), "--out", str(out)]
    running = start(run_command, "surprisal", str(text), *options)
    while not (out.exists() and out.stat().st_size > 1000) and running.process.is_alive():
        time.sleep(0.02)
    running.process.terminate()
    done = running.wait()
    told = done.stderr
    assert done.returncode == 143
    assert told.endswith("dtg: terminated.\n") and "--resume resumes it" in told
