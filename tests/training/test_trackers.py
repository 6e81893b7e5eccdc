"""Trackers hear what the log records, and change nothing: not the numbers, and not whether a run goes through."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from accelerate import tracking
from accelerate.tracking import GeneralTracker

from dtg.errors import MissingExtraError, TrainingError, UnknownNameError
from dtg.training import RuntimeOptions, runtime
from tests.training.standin import assert_same, log_without_times, toy_train
from tests.training.test_loop import Listener


class StandIn(GeneralTracker):  # type: ignore[misc]  # Accelerate has no types
    """Keeps what it is told, and uses random numbers, as another package may."""

    name = "stand-in"
    requires_logging_directory = False

    def __init__(self, fails_at: int | None = None) -> None:
        super().__init__()
        self.fails_at = fails_at
        self.config: dict[str, Any] | None = None
        self.logged: list[tuple[int, dict[str, Any]]] = []
        self.finished = 0

    @property
    def tracker(self) -> StandIn:
        return self

    def store_init_configuration(self, values: dict[str, Any]) -> None:
        self.config = values

    def log(self, values: dict[str, Any], step: int | None = None, **more: Any) -> None:
        torch.rand(3)
        random.random()
        if self.fails_at is not None and step is not None and step >= self.fails_at:
            raise ConnectionError("no network")
        assert step is not None
        self.logged.append((step, values))

    def finish(self) -> None:
        self.finished += 1


def options(tracker: GeneralTracker) -> RuntimeOptions:
    return RuntimeOptions(device="cpu", log_with=[tracker])


def test_a_tracker_hears_what_the_log_records(whole: Path, tmp_path: Path) -> None:
    first, second = StandIn(), StandIn()
    out = tmp_path / "run"
    assert toy_train(out, options=options(first), max_minutes=0).finished is None
    assert toy_train(out, options=options(second), resume=True).finished == "complete"
    assert_same(out, whole)  # though the run was interrupted, and random numbers were drawn
    assert first.config is not None and first.config["training/seed"] == 3 and first.config["model/width"] == 16
    assert second.config is None  # it was stored when the run was started
    assert first.finished == second.finished == 1

    told = [(step, {name: value for name, value in values.items() if "/time/" not in name})
            for step, values in first.logged + second.logged]  # fmt: skip
    assert told == [
        (
            record["step"],
            {f"{record['kind']}/{name}": value for name, value in record.items() if name not in ("kind", "best")},
        )
        for record in log_without_times(out)[1:]
    ]


def test_a_tracker_that_fails_is_left_behind(whole: Path, tmp_path: Path) -> None:
    tracker, listener = StandIn(fails_at=10), Listener()
    assert toy_train(tmp_path / "run", options=options(tracker), reporter=listener).finished == "complete"
    assert_same(tmp_path / "run", whole)
    (warning,) = listener.warnings
    assert "a tracker has failed and gets no more records (no network)" in warning
    assert max(step for step, _ in tracker.logged) < 10


def test_one_that_cannot_be_started(tmp_path: Path) -> None:
    class Unknown(StandIn):
        def start(self) -> None:
            raise ConnectionError("no login")

    with pytest.raises(TrainingError, match=r"cannot start logging with .*: no login"):
        toy_train(tmp_path / "run", options=options(Unknown()))


class RecordedWandb(ModuleType):
    """A module in wandb's place, as far as Accelerate uses it: what runs were begun, and what they were told."""

    def __init__(self) -> None:
        super().__init__("wandb")
        self.begun: list[dict[str, Any]] = []
        self.stored: dict[str, Any] = {}
        self.logged: list[tuple[int, dict[str, Any]]] = []
        self.finished = 0
        self.config = self

    def init(self, **options: Any) -> RecordedWandb:
        self.begun.append(options)
        return self

    def update(self, values: dict[str, Any], allow_val_change: bool) -> None:
        self.stored |= values

    def log(self, values: dict[str, Any], step: int) -> None:
        self.logged.append((step, values))

    def finish(self) -> None:
        self.finished += 1


class RecordedWriter:
    """In the place of TensorBoard's SummaryWriter."""

    made: list[RecordedWriter]

    def __init__(self, folder: str, **options: Any) -> None:
        self.folder, self.options = folder, options
        self.logged: list[tuple[int, str, float]] = []
        self.is_closed = False
        self.made.append(self)

    def add_scalar(self, name: str, value: float, global_step: int) -> None:
        self.logged.append((global_step, name, value))

    def add_hparams(self, values: dict[str, Any], metric_dict: dict[str, Any]) -> None:
        self.settings = values

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.is_closed = True


def test_both_packages_are_called_as_they_expect(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`WANDB_MODE=offline dtg train ... --log-with wandb --log-with tensorboard` with the packages themselves does the same."""
    wandb, board = RecordedWandb(), ModuleType("torch.utils.tensorboard")
    RecordedWriter.made = []
    board.SummaryWriter = RecordedWriter  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", board)
    monkeypatch.setattr(torch.utils, "tensorboard", board, raising=False)
    monkeypatch.setattr(runtime, "find_spec", lambda name: name)
    kinds = [tracking.LoggerType.TENSORBOARD, tracking.LoggerType.WANDB]
    monkeypatch.setattr(tracking, "_available_trackers", kinds)
    both = RuntimeOptions(device="cpu", log_with=["tensorboard", "wandb"])
    out = tmp_path / "run"
    assert toy_train(out, options=both, max_minutes=0).finished is None
    assert toy_train(out, options=both, resume=True).finished == "complete"
    assert_same(out, whole)

    first, second = wandb.begun
    assert first == second and first["project"] == "dtg" and first["name"] == "run" and first["resume"] == "allow"
    assert wandb.stored["training/seed"] == 3 and wandb.finished == 2
    told = [(step, name) for step, values in wandb.logged for name in values]
    records = log_without_times(out)[1:]
    assert {(one["step"], f"{one['kind']}/loss") for one in records} <= set(told)

    begun, resumed = RecordedWriter.made
    assert begun.folder == resumed.folder == str(out / "tensorboard" / "dtg")
    assert begun.options == {} and list(resumed.options) == ["purge_step"] and begun.is_closed and resumed.is_closed
    assert [(step, name) for writer in RecordedWriter.made for step, name, _ in writer.logged] == told
    assert begun.settings["model/width"] == 16


def test_packages_that_are_missing_and_names_that_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"logging with wandb needs wandb.*pip install wandb .*'\.\[wandb\]'"):
        RuntimeOptions(log_with=["wandb"])
    with pytest.raises(UnknownNameError, match="tensorboard"):
        RuntimeOptions(log_with=["mlflow"])
