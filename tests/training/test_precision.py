"""Precision "auto": chosen by how fast products are, once for a run, and kept when it is resumed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from accelerate.state import AcceleratorState
from torch import Tensor

from dtg.training import Reporter, RuntimeOptions, runtime
from dtg.training.runtime import fastest_precision
from tests.training.standin import assert_same, log_without_times, toy_train
from tests.training.test_processes import torchrun

AUTO = RuntimeOptions("auto", device="cpu")


@pytest.fixture(autouse=True)
def other_precision() -> Iterator[None]:
    """Accelerate keeps the precision of the first run of a process."""
    AcceleratorState._reset_state()
    yield
    AcceleratorState._reset_state()


class Notes(Reporter):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)


def with_speed(bfloat16: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Products take a second in float32, and this long in bfloat16."""

    def seconds(left: Tensor, right: Tensor, repeats: int = 8) -> float:
        assert left.dtype == right.dtype
        return bfloat16 if left.dtype == torch.bfloat16 else 1.0

    monkeypatch.setattr(runtime, "seconds_of_product", seconds)


@pytest.mark.parametrize(("bfloat16", "expected"), [(2.0, "no"), (0.9, "no"), (0.5, "bf16")])
def test_bfloat16_only_where_it_is_markedly_faster(
    bfloat16: float, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_speed(bfloat16, monkeypatch)
    assert fastest_precision(torch.device("cpu")) == expected


def test_apple_gpus_compute_in_float32() -> None:
    assert fastest_precision(torch.device("mps")) == "no"


def test_this_machine_has_an_answer() -> None:
    assert fastest_precision(torch.device("cpu")) in ("no", "bf16")


def test_what_was_chosen_is_recorded_and_kept(tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_speed(2.0, monkeypatch)
    reporter = Notes()
    suspended = toy_train(tmp_path / "run", options=AUTO, reporter=reporter, max_minutes=0.0)
    assert suspended.finished is None and "precision: no" in reporter.notes
    assert log_without_times(tmp_path / "run")[0]["precision"] == "no"
    with_speed(0.5, monkeypatch)  # as on another machine
    reporter = Notes()
    assert toy_train(tmp_path / "run", options=AUTO, reporter=reporter, resume=True).finished == "complete"
    assert "precision: no (as before)" in reporter.notes
    assert_same(tmp_path / "run", whole)


def test_bfloat16_where_it_is_faster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_speed(0.5, monkeypatch)
    toy_train(tmp_path / "run", options=AUTO, max_minutes=0.0)
    assert log_without_times(tmp_path / "run")[0]["precision"] == "bf16"


@pytest.mark.slow
def test_two_processes_agree(tmp_path: Path) -> None:
    torchrun(tmp_path / "run", "--precision", "auto", "--signal-at", 2, code=3)
    assert log_without_times(tmp_path / "run")[0]["precision"] in ("no", "bf16")
