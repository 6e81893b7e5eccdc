"""SIGKILL at any moment, resume, and the weights are those of a run that nothing touched, bit for bit."""

from __future__ import annotations

import random
import re
import signal
import time
from pathlib import Path

import pytest

from tests.processes import start
from tests.training import standin
from tests.training.standin import assert_same, log_without_times

KILLED, SUSPENDED, DONE = -signal.SIGKILL, 3, 0


def run(*arguments: object, kill_after: float | None = None) -> int:
    """How a training in a new process ends."""
    running = start(standin.main, [str(argument) for argument in arguments])
    if kill_after is not None:
        time.sleep(kill_after)
        running.process.kill()
    return running.wait().returncode


@pytest.mark.slow
def test_killed_at_random_moments(tmp_path: Path, whole: Path) -> None:
    """The steps alone take 33 × 0.05 s; it is killed within a third of that, again and again."""
    moments = random.Random(20)
    codes: list[int] = []
    while DONE not in codes:
        kill_after = moments.uniform(0.2, 0.6) if len(codes) < 12 else None
        codes.append(run(tmp_path / "run", "--resume", "--pause", 0.05, kill_after=kill_after))
    assert codes.count(KILLED) >= 3, codes
    assert_same(whole, tmp_path / "run")


# Folders are put in place in this order: checkpoint 4, best 5, checkpoint 8, best 10, ...
@pytest.mark.parametrize("number", [1, 2, 3])
def test_killed_between_the_temporary_write_and_the_rename(tmp_path: Path, whole: Path, number: int) -> None:
    out = tmp_path / "run"
    assert run(out, "--doomed-rename", number) == KILLED
    hidden = [path.name for path in [*out.glob(".*"), *(out / "checkpoints").glob(".*")]]
    (leftover,) = [name for name in hidden if name != ".lock"]  # which nobody holds any more
    written = ["step-00000004", "best", "step-00000008"][number - 1]
    assert re.fullmatch(rf"\.{written}\.\d+\.partial", leftover)
    assert run(out, "--resume") == DONE
    assert_same(whole, out)
    assert not [*out.glob(".*"), *(out / "checkpoints").glob(".*")]


@pytest.mark.parametrize("step", [3, 4, 22])
def test_killed_after_a_step(tmp_path: Path, whole: Path, step: int) -> None:
    assert run(tmp_path / "run", "--die-at", step) == KILLED
    with (tmp_path / "run" / "log.jsonl").open("a") as log:
        log.write('{"kind": "train", "st')  # a line that was being written
    assert run(tmp_path / "run", "--resume") == DONE
    assert_same(whole, tmp_path / "run")


def test_a_signal_ends_the_step_writes_a_checkpoint_and_stops(tmp_path: Path, whole: Path) -> None:
    out = tmp_path / "run"
    assert run(out, "--signal-at", 6) == SUSPENDED
    assert [path.name for path in sorted((out / "checkpoints").iterdir())] == ["step-00000004", "step-00000007"]
    assert log_without_times(out)[-1]["step"] == 6
    assert run(out, "--resume") == DONE
    assert_same(whole, out)
