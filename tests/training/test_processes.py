"""Two processes (gloo) against one with twice the accumulation: the same curve, to float tolerance."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.processes import call_together
from tests.training.standin import last_weights, log_without_times, main, toy_train

ROOT = Path(__file__).parents[2]
CURVE = ("loss", "gradient_norm", "word_perplexity", "piece_perplexity")


def two_processes(*arguments: object, code: int = 0) -> None:
    """The training in two processes that are started as torchrun starts them."""
    done = call_together(main, [str(argument) for argument in arguments])
    assert [one.returncode for one in done] == [code, code], "".join(one.stderr for one in done)


def torchrun(*arguments: object) -> None:
    """The training as a user starts it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    launcher = ["torch.distributed.run", "--nproc-per-node", "2", "--master-port", port, "-m", "tests.training.standin"]
    done = subprocess.run(
        [sys.executable, "-m", *map(str, launcher), *map(str, arguments)],
        env={
            **os.environ,
            "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
            "OMP_NUM_THREADS": "1",
        },
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr


def assert_close(one: Path, other: Path) -> None:
    mine, theirs = log_without_times(one), log_without_times(other)
    assert len(mine) == len(theirs)
    for a, b in zip(mine[1:], theirs[1:], strict=True):
        assert {k: v for k, v in a.items() if k not in CURVE} == {k: v for k, v in b.items() if k not in CURVE}
        for name in CURVE:
            if name in a:
                assert a[name] == pytest.approx(b[name], rel=1e-4)
    weights, expected = last_weights(one), last_weights(other)
    for name in expected:
        torch.testing.assert_close(weights[name], expected[name], rtol=1e-4, atol=1e-5)


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One process that accumulates two batches; 11 batches per epoch, so that the last step has only one."""
    out = tmp_path_factory.mktemp("twice") / "run"
    toy_train(out, accumulate=2)
    return out


@pytest.mark.slow
@pytest.mark.parametrize(("launch", "more"), [(torchrun, []), (two_processes, ["--fsdp"])])
def test_two_processes_are_one_with_twice_the_accumulation(
    tmp_path: Path, twice: Path, launch: Callable[..., None], more: list[str]
) -> None:
    launch(tmp_path / "run", *more)
    assert_close(twice, tmp_path / "run")
    best = (tmp_path / "run" / "best" / "model.safetensors").stat().st_size
    assert best == (twice / "best" / "model.safetensors").stat().st_size


@pytest.mark.slow
def test_mixed_precision_learns_the_same_roughly(tmp_path: Path, twice: Path) -> None:
    two_processes(tmp_path / "run", "--precision", "bf16")
    mine, theirs = log_without_times(tmp_path / "run")[1:], log_without_times(twice)[1:]
    assert [a["loss"] for a in mine] == pytest.approx([b["loss"] for b in theirs], rel=0.05)
    assert [a["loss"] for a in mine] != [b["loss"] for b in theirs]
    assert all(tensor.dtype == torch.float32 for tensor in last_weights(tmp_path / "run").values())


@pytest.mark.slow
def test_begun_on_two_shared_out_and_finished_on_one(tmp_path: Path, twice: Path) -> None:
    two_processes(tmp_path / "run", "--fsdp", "--precision", "no", "--signal-at", 6, code=3)
    assert toy_train(tmp_path / "run", accumulate=2, resume=True).finished == "complete"
    assert_close(twice, tmp_path / "run")
