"""The command line with a stand-in for the model: in this process, which is quick, or in one that dies on the way."""

from __future__ import annotations

import io
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import dtg
from dtg.cli import main
from tests.processes import call, run_command
from tests.search.stand_in import StandIn

SCRIPT = """
import signal
import dtg
from tests.search.stand_in import StandIn

dtg.load = lambda folder, device: StandIn(sentences={sentences}, kill=signal.SIGKILL)
from dtg.cli import main

main()
"""


@dataclass(frozen=True, slots=True)
class Output:
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True)
class Command:
    """Runs `dtg` in this process."""

    monkeypatch: pytest.MonkeyPatch
    capture: pytest.CaptureFixture[bytes]

    def __call__(
        self,
        *arguments: str | Path,
        code: int = 0,
        family: str = "dtg",
        given: bytes = b"",
        sentences: int = -1,
        kill: signal.Signals | None = None,
    ) -> Output:
        """What it prints. `given` is its standard input; after some `sentences` the model may send the signal `kill`."""

        def load(folder: Path, device: str) -> StandIn:
            return StandIn(family, sentences=sentences, kill=kill)

        self.monkeypatch.setattr(dtg, "load", load)
        self.monkeypatch.setattr(sys, "argv", ["dtg", *map(str, arguments)])
        self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        self.monkeypatch.setenv("COLUMNS", "80")
        self.capture.readouterr()
        # A shell that starts tests in the background has them ignore Ctrl-C.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with pytest.raises(SystemExit) as end:
            main()
        stdout, stderr = self.capture.readouterr()
        assert end.value.code == code, stderr.decode()
        return Output(stdout.decode(), stderr.decode())


def run_killed(sentences: int, *arguments: str) -> None:
    """The command, in the process that is killed."""
    dtg.load = lambda folder, device: StandIn(sentences=sentences, kill=signal.SIGKILL)  # type: ignore[assignment, misc]
    run_command(*arguments)


def killed_after(sentences: int, *arguments: str | Path) -> None:
    """Run `dtg` in a process of its own, which is killed when it has computed so many sentences."""
    done = call(run_killed, sentences, *map(str, arguments))
    assert done.returncode == -signal.SIGKILL, done.stderr
