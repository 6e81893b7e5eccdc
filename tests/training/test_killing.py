"""SIGKILL at any moment, resume, and the weights are those of a run that nothing touched, bit for bit."""

from __future__ import annotations

import multiprocessing
import random
import re
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.training import standin
from tests.training.standin import assert_same, log_without_times

KILLED, SUSPENDED, DONE = -signal.SIGKILL, 3, 0


@pytest.fixture(scope="module")
def processes() -> multiprocessing.context.ForkServerContext:
    """Fresh processes that find torch already imported."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.training.standin", "accelerate", "matplotlib.figure"])
    return context


def program(arguments: list[str]) -> None:
    """What a process does."""
    sys.argv = ["standin", *arguments]
    standin.main()


def run(context: multiprocessing.context.ForkServerContext, *arguments: object, kill_after: float | None = None) -> int:
    process = context.Process(target=program, args=([str(argument) for argument in arguments],))
    process.start()
    if kill_after is not None:
        time.sleep(kill_after)
        process.kill()
    process.join(60)
    assert process.exitcode is not None
    return process.exitcode


@pytest.mark.slow
def test_killed_at_random_moments(
    tmp_path: Path, whole: Path, processes: multiprocessing.context.ForkServerContext
) -> None:
    """Steps and everything in between take 33 × 0.05 s and more; it is killed within that, again and again."""
    moments = random.Random(20)
    codes: list[int] = []
    while DONE not in codes:
        kill_after = moments.uniform(0.3, 1.6) if len(codes) < 12 else None
        codes.append(run(processes, tmp_path / "run", "--resume", "--pause", 0.05, kill_after=kill_after))
    assert codes.count(KILLED) >= 3, codes
    assert_same(whole, tmp_path / "run")


# Folders are put in place in this order: checkpoint 4, best 5, checkpoint 8, best 10, ...
@pytest.mark.parametrize("number", [1, 2, 3])
def test_killed_between_the_temporary_write_and_the_rename(
    tmp_path: Path, whole: Path, processes: multiprocessing.context.ForkServerContext, number: int
) -> None:
    out = tmp_path / "run"
    assert run(processes, out, "--doomed-rename", number) == KILLED
    hidden = [path.name for path in [*out.glob(".*"), *(out / "checkpoints").glob(".*")]]
    (leftover,) = [name for name in hidden if name != ".lock"]  # which nobody holds any more
    written = ["step-00000004", "best", "step-00000008"][number - 1]
    assert re.fullmatch(rf"\.{written}\.\d+\.partial", leftover)
    assert run(processes, out, "--resume") == DONE
    assert_same(whole, out)
    assert not [*out.glob(".*"), *(out / "checkpoints").glob(".*")]


@pytest.mark.parametrize("step", [3, 4, 22])
def test_killed_after_a_step(
    tmp_path: Path, whole: Path, processes: multiprocessing.context.ForkServerContext, step: int
) -> None:
    assert run(processes, tmp_path / "run", "--die-at", step) == KILLED
    with (tmp_path / "run" / "log.jsonl").open("a") as log:
        log.write('{"kind": "train", "st')  # a line that was being written
    assert run(processes, tmp_path / "run", "--resume") == DONE
    assert_same(whole, tmp_path / "run")


def test_a_signal_ends_the_step_writes_a_checkpoint_and_stops(
    tmp_path: Path, whole: Path, processes: multiprocessing.context.ForkServerContext
) -> None:
    out = tmp_path / "run"
    assert run(processes, out, "--signal-at", 6) == SUSPENDED
    assert [path.name for path in sorted((out / "checkpoints").iterdir())] == ["step-00000004", "step-00000007"]
    assert log_without_times(out)[-1]["step"] == 6
    assert run(processes, out, "--resume") == DONE
    assert_same(whole, out)
