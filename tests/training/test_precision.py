"""Precision "auto": chosen by the processor, once for a run, and kept when it is resumed."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from dtg.training import Reporter, RuntimeOptions, runtime
from dtg.training.runtime import fastest_precision
from tests.training.standin import assert_same, log_without_times, toy_train
from tests.training.test_processes import two_processes

AUTO = RuntimeOptions("auto", device="cpu")


class Notes(Reporter):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)


def with_speed(is_fast: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor that is faster in bfloat16, or not."""
    monkeypatch.setattr(runtime, "has_fast_bfloat16", lambda: is_fast)


@pytest.mark.parametrize(("is_fast", "expected"), [(False, "no"), (True, "bf16")])
def test_bfloat16_only_where_it_is_faster(is_fast: bool, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with_speed(is_fast, monkeypatch)
    assert fastest_precision(torch.device("cpu")) == expected


def test_apple_gpus_compute_in_float32() -> None:
    assert fastest_precision(torch.device("mps")) == "no"


def test_this_machine_has_one_answer() -> None:
    assert len({fastest_precision(torch.device("cpu")) for _ in range(3)}) == 1


def test_what_was_chosen_is_recorded_and_kept(tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_speed(False, monkeypatch)
    reporter = Notes()
    suspended = toy_train(tmp_path / "run", options=AUTO, reporter=reporter, max_minutes=0.0)
    assert suspended.finished is None and "precision: no" in reporter.notes
    assert log_without_times(tmp_path / "run")[0]["precision"] == "no"
    with_speed(True, monkeypatch)  # as on another machine
    reporter = Notes()
    assert toy_train(tmp_path / "run", options=AUTO, reporter=reporter, resume=True).finished == "complete"
    assert "precision: no (as before)" in reporter.notes
    assert_same(tmp_path / "run", whole)


def test_bfloat16_where_it_is_faster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_speed(True, monkeypatch)
    toy_train(tmp_path / "run", options=AUTO, max_minutes=0.0)
    assert log_without_times(tmp_path / "run")[0]["precision"] == "bf16"


@pytest.mark.slow
def test_two_processes_agree(tmp_path: Path) -> None:
    two_processes(tmp_path / "run", "--precision", "auto", "--signal-at", 2, code=3)
    assert log_without_times(tmp_path / "run")[0]["precision"] in ("no", "bf16")
