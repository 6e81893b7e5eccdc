"""The command line run as a user runs it: in a process of its own.

Where torch has one thread, as under `make test`, that process is a copy of the one that tests, with the models that it holds.
With more threads a copy may hang, and a copy cannot train: then a new process is started.
"""

from __future__ import annotations

import importlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import IO

from dtg.cli import main
from tests.processes import call, exiting, run_command

TIMEOUT = 120  # seconds
WITH_GRADIENTS = ("train", "train-parser")  # torch computes these in threads of its own, which a copy does not have
CAN_FORK = hasattr(os, "fork") and os.environ.get("OMP_NUM_THREADS") == "1"
# What commands import, and Python's own filters of warnings.
MODULES = ("torch", "dtg.evaluation", "dtg.language_model", "dtg.training", "spacy", "matplotlib.figure")
IGNORED: tuple[type[Warning], ...] = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)


def dtg(*arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run `dtg` with these arguments; it must end with this code, and without a traceback."""
    words = [str(argument) for argument in arguments]
    done = forked(words) if CAN_FORK and words[0] not in WITH_GRADIENTS else started(words)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def started(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """In a new process."""
    return call(run_command, *arguments)


def forked(arguments: list[str], before: Callable[[], None] | None = None) -> subprocess.CompletedProcess[str]:
    """In a copy of this process; `before` is called in it before the command."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in MODULES:
            importlib.import_module(name)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        process = os.fork()
        if process == 0:
            run_and_exit(arguments, out.fileno(), errors.fileno(), before)
        status = wait(process)
        out.seek(0)
        errors.seek(0)
        printed = out.read().decode(), errors.read().decode()
        return subprocess.CompletedProcess(arguments, os.waitstatus_to_exitcode(status), *printed)


def together(
    *arguments: str | Path, count: int = 2, before: Callable[[int], None] | None = None
) -> list[subprocess.CompletedProcess[str]]:
    """Run `dtg` in several copies of this process that share the work, as torchrun would start them; what each printed.

    Args:
        *arguments: of the command.
        count: how many processes.
        before: is called in each, with its number, before the command.
    """
    words = [str(argument) for argument in arguments]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with ExitStack() as opened:
        files = [(opened.enter_context(temporary()), opened.enter_context(temporary())) for _ in range(count)]
        processes = []
        for rank, (out, errors) in enumerate(files):
            process = os.fork()
            if process == 0:
                address = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
                os.environ.update({"RANK": str(rank), "WORLD_SIZE": str(count), "LOCAL_RANK": str(rank), **address})
                run_and_exit(words, out.fileno(), errors.fileno(), None if before is None else partial(before, rank))
            processes.append(process)
        codes = [os.waitstatus_to_exitcode(wait(process)) for process in processes]
        printed = [[(file.seek(0) and "") or file.read().decode() for file in some] for some in files]
    return [subprocess.CompletedProcess(words, code, *texts) for code, texts in zip(codes, printed, strict=True)]


def temporary() -> IO[bytes]:
    return tempfile.TemporaryFile()


def wait(process: int) -> int:
    """How a process ends; one that does not is killed."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            return status
        time.sleep(0.005)
    os.kill(process, signal.SIGKILL)
    return os.waitpid(process, 0)[1]


def run_and_exit(arguments: list[str], out: int, errors: int, before: Callable[[], None] | None = None) -> None:
    """What the copy does; pytest's own handling of output and warnings is undone in it."""
    with exiting():
        for number, standard in ((os.open(os.devnull, os.O_RDONLY), 0), (out, 1), (errors, 2)):
            os.dup2(number, standard)
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
        warnings.resetwarnings()
        for category in IGNORED:
            warnings.simplefilter("ignore", category)
        warnings.showwarning = show_warning
        sys.argv = ["dtg", *arguments]
        if before is not None:
            before()
        main()


def show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: object = None,
    line: str | None = None,
) -> None:
    """As Python shows warnings, whatever pytest has put in place of it."""
    sys.stderr.write(warnings.formatwarning(message, category, filename, lineno, line))
