"""New processes that find torch and dtg imported: a server, which has run nothing itself, forks them.

Importing takes seconds, and a copy of the process that tests cannot train: the threads in which torch computes gradients are
not copied. A new process has the folder and the environment of the one that tests, and Python's own filters of warnings.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import socket
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

TIMEOUT = 300  # seconds
MODULES = (
    "torch._dynamo",
    "torch.distributed.checkpoint.state_dict",
    "accelerate.checkpointing",
    "matplotlib.backends.backend_svg",
    "matplotlib.figure",
    "spacy",
    "dtg.cli.commands.train",
    "dtg.evaluation",
    "dtg.language_model",
    "dtg.parser",
    "dtg.training",
)


@dataclass(frozen=True, slots=True)
class Running:
    """A process, and the files that it prints to."""

    name: str
    process: multiprocessing.context.ForkServerProcess
    out: Path
    errors: Path

    def wait(self) -> subprocess.CompletedProcess[str]:
        """How it ends, and what it has printed; one that does not end is killed."""
        self.process.join(TIMEOUT)
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()
        assert self.process.exitcode is not None
        printed = [path.read_text(encoding="utf-8") for path in (self.out, self.errors)]
        for path in (self.out, self.errors):
            path.unlink()
        return subprocess.CompletedProcess(self.name, self.process.exitcode, *printed)


def start(
    target: Callable[..., None],
    *arguments: object,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Running:
    """Begin to call a function of a module, with arguments that can be pickled, in a new process."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(MODULES))
    files = []
    for _ in range(2):
        number, name = tempfile.mkstemp()
        os.close(number)
        files.append(Path(name))
    setting = (str(folder or Path.cwd()), {**os.environ, **(environment or {})}, *map(str, files))
    process = context.Process(target=call_and_exit, args=(target, arguments, *setting))
    process.start()
    return Running(target.__name__, process, *files)


def call(
    target: Callable[..., None], *arguments: object, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Call a function in a new process, and wait for its end."""
    return start(target, *arguments, folder=folder).wait()


def call_together(
    target: Callable[..., None], *arguments: object, count: int = 2
) -> list[subprocess.CompletedProcess[str]]:
    """Call a function in several new processes that find each other, as torchrun would start them."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free.getsockname()[1]), "WORLD_SIZE": str(count)}
    ranks = [{"RANK": str(rank), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(count)} for rank in range(count)]
    running = [start(target, *arguments, environment=address | rank) for rank in ranks]
    return [one.wait() for one in running]


def call_and_exit(
    target: Callable[..., None],
    arguments: tuple[object, ...],
    folder: str,
    environment: dict[str, str],
    out: str,
    errors: str,
) -> None:
    """What the new process does."""
    with exiting():
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        for path, standard in ((os.devnull, 0), (out, 1), (errors, 2)):
            opened = os.open(path, os.O_RDONLY if standard == 0 else os.O_WRONLY)
            os.dup2(opened, standard)
            os.close(opened)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        target(*arguments)


@contextmanager
def exiting() -> Iterator[None]:
    """End this process, a copy of another, with the code that the interpreter would end with, and without its clean-up."""
    code = 1
    try:
        yield
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


def run_script(script: str, *arguments: str) -> None:
    """As `python -W error SCRIPT` runs it."""
    warnings.simplefilter("error")
    sys.path.insert(0, str(Path(script).resolve().parent))
    sys.argv = [script, *arguments]
    runpy.run_path(script, run_name="__main__")


def run_command(*arguments: str) -> None:
    """As `dtg` runs it."""
    from dtg.cli import main

    sys.argv = ["dtg", *arguments]
    main()
