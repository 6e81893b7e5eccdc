"""A run's state, and its folder on disk, written by the first process; the others only help to gather what is sharded.

RUN/checkpoints/step-*   to resume from        RUN/best         what was best on dev, for dtg.load
RUN/log.jsonl            what happened         RUN/curves.png   the same, drawn
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from dtg.errors import CheckpointError, MissingExtraError, ResumeError, TrainingError
from dtg.io.atomic import clean_up, replacing_folder
from dtg.io.messages import pluralize
from dtg.io.settings import changes
from dtg.training.checkpoint import (
    Checkpoint,
    CheckpointStore,
    model_tensors,
    optimizer_tensors,
    random_tensors,
    restore_model,
    restore_optimizer,
    restore_random,
    step_name,
)
from dtg.training.config import TrainingConfig
from dtg.training.curves import draw_run
from dtg.training.learner import Learner
from dtg.training.log import Log, read_log
from dtg.training.report import Reporter
from dtg.training.sampler import Plan
from dtg.training.schedule import Schedule
from dtg.training.tally import Tally
from dtg.training.task import TrainingCorpus
from dtg.training.trackers import Trackers

CHECKPOINTS = "checkpoints"
MODELS = "models"  # as they were after some steps
REDRAW = 60.0  # seconds


@dataclass(slots=True)
class RunState:
    """Everything that changes while training, besides tensors."""

    step: int = 0  # updates made
    epoch: int = 0  # of the last update
    words: int = 0
    seconds: float = 0.0
    window: Tally = field(default_factory=Tally)  # since the last line of the log
    window_seconds: float = 0.0
    best_loss: float | None = None  # on dev
    best_step: int | None = None
    waited: int = 0  # dev scores since the best one
    skipped: int = 0  # updates, because float16 overflowed
    finished: str | None = None  # "complete", or "early" when dev no longer improved
    log_length: int = 0  # bytes

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> RunState:
        return cls(**{**content, "window": Tally(**content["window"])})

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class Recorder:
    """The run folder."""

    def __init__(self, out: Path, keep: int, is_main: bool, reporter: Reporter, trackers: Trackers) -> None:
        self.out, self.is_main, self.reporter, self.trackers = out, is_main, reporter, trackers
        self.store = CheckpointStore(out / CHECKPOINTS, keep)
        self.draws = True
        self.drawn = time.monotonic()
        self.log: Log | None = None

    def open(self, run: Mapping[str, Any], state: RunState) -> None:
        """Make the folder ready; the log is cut back to where the checkpoint was, and damaged ones after it are removed."""
        if self.is_main:
            with self.saving("the run"):
                self.store.folder.mkdir(parents=True, exist_ok=True)
                clean_up(self.out)
                clean_up(self.store.folder)
                clean_up(self.out / MODELS)
                self.store.remove_after(state.step)
                self.log = Log(self.out / "log.jsonl", state.log_length, self.reporter.warn)
                if self.log.length == 0:
                    self.log.start(run)
                self.trackers.open(run, state.step)

    def write(self, kind: str, record: Mapping[str, Any]) -> None:
        """Add a line to the log."""
        if self.log is not None:
            with self.saving("the log"):
                self.log.write(kind, record)
            self.trackers.write(kind, record)

    def checkpoint(self, learner: Learner, state: RunState, run: Mapping[str, Any]) -> None:
        """Write everything that resuming needs."""
        tensors = {
            "model": model_tensors(learner.model),
            "optimizer": {
                name: tensor
                for one in learner.optimizers
                for name, tensor in optimizer_tensors(learner.model, one.optimizer).items()
            },
            "random": random_tensors(learner.runtime.device),
        }
        if self.log is None:
            return
        with self.saving("a checkpoint"):
            self.log.force_to_disk()
            state.log_length = self.log.length
            scaler = learner.runtime.scaler
            content = {"run": dict(run), "state": state.as_dict(), "scaler": scaler and scaler.state_dict()}
            self.store.write(state.step, tensors, {**content, "threads": torch.get_num_threads()})

    def restore(self, checkpoint: Checkpoint, learner: Learner) -> RunState:
        """Put everything back to where a checkpoint was written."""
        restore_model(learner.model, checkpoint.tensors("model"))
        for one in learner.optimizers:
            restore_optimizer(learner.model, one.optimizer, checkpoint.tensors("optimizer"))
        restore_random(checkpoint.tensors("random"), learner.runtime.device)
        if learner.runtime.scaler is not None and checkpoint.state["scaler"]:
            learner.runtime.scaler.load_state_dict(checkpoint.state["scaler"])
        threads = checkpoint.state["threads"]
        if threads != torch.get_num_threads():
            self.reporter.warn(
                f"the run was started on {threads} threads and is resumed on {torch.get_num_threads()}; "
                "numbers may differ from an uninterrupted run's in the last digits."
            )
        return RunState.from_dict(checkpoint.state["state"])

    def best(self, learner: Learner) -> None:
        """Save the model as the best so far."""
        self.save_model(learner, self.out / "best", "the best model")

    def save(self, learner: Learner, step: int) -> None:
        """Save the model as it is after a step, to be kept."""
        self.save_model(learner, self.out / MODELS / step_name(step), "a model")

    def save_model(self, learner: Learner, path: Path, what: str) -> None:
        """Write a model into a folder, or nothing."""
        model = learner.model
        if learner.runtime.options.fsdp:
            tensors = model_tensors(learner.model)
            if learner.spare is not None:
                restore_model(learner.spare, tensors)
                model = learner.spare
        if self.is_main:
            with self.saving(what):
                path.parent.mkdir(parents=True, exist_ok=True)
                with replacing_folder(path) as folder:
                    model.save(folder)  # type: ignore[operator]

    def restore_best(self, learner: Learner) -> None:
        """Put the best weights back into the model."""
        path = self.out / "best" / "model.safetensors"
        if not path.is_file():
            raise CheckpointError(
                f"{path} is not there; it was written when dev was best. Train again, or copy it back."
            )
        restore_model(learner.model, load_file(path))

    def draw(self, at_end: bool = False) -> None:
        """Draw the curves, where matplotlib is installed; at most once a minute, because it takes half a second."""
        if self.log is None or not self.draws or not (at_end or time.monotonic() > self.drawn + REDRAW):
            return
        self.drawn = time.monotonic()
        try:
            with self.saving("the curves"):
                draw_run(read_log(self.log.path), self.out / "curves.png")
        except MissingExtraError as error:
            self.reporter.note(f"no picture of the curves: {error}")
            self.draws = False

    @contextmanager
    def saving(self, what: str) -> Iterator[None]:
        """Say what could not be written, and what is still there."""
        try:
            yield
        except (OSError, SafetensorError) as error:
            folders = self.store.folders()
            kept = f"The checkpoint {folders[-1].name} is kept: " if folders else "There is no checkpoint yet: "
            raise TrainingError(
                f"cannot write {what} in {self.out}: {getattr(error, 'strerror', None) or error}.\n"
                f"{kept}make room or fix the folder, then resume (--resume)."
            ) from error

    def close(self) -> None:
        if self.log is not None:
            self.log.close()
        self.trackers.close()


def identity(
    model: Mapping[str, Any],
    config: TrainingConfig,
    corpus: TrainingCorpus,
    plan: Plan,
    schedule: Schedule,
    precision: str,
) -> dict[str, Any]:
    """What must be equal for a run to be resumed. Batches may be distributed differently, if a step has as many."""
    training = config.as_dict()
    del training["accumulate"]
    return {
        "model": dict(model),
        "training": training,
        "batches_per_step": plan.batches_per_step,
        "precision": precision,
        "corpus": corpus.hash,
        "vocabulary": corpus.tokenizer.hash,
        "steps": plan.steps,
        "words": plan.words,
        "schedule": schedule.as_dict(),
    }


def recorded_precision(out: Path) -> str | None:
    """The precision that the run in this folder was begun with; None if it has no checkpoint that can be read."""
    try:
        checkpoint = CheckpointStore(out / CHECKPOINTS, keep=1).newest(lambda message: None)
    except CheckpointError:  # all are damaged: resuming will say so
        return None
    return None if checkpoint is None else str(checkpoint.state["run"]["precision"])


def check_same(before: Mapping[str, Any], now: Mapping[str, Any], out: Path) -> None:
    """Raise unless a run is resumed with what it was started with."""
    lines = [
        f"  {one.name} was {described(one.before)}, is now {described(one.now)}"
        for one in sorted(changes(before, now), key=lambda one: one.name)
    ]
    if lines:
        raise ResumeError(
            f"cannot resume {out}: it was started with another configuration, corpus or vocabulary.\n"
            + "\n".join(lines)
            + "\nResume with what it was started with, or train into another folder.\n"
            "(batches_per_step is accumulate times the number of processes.)"
        )


def described(value: Any) -> str:
    return "not given" if value is None else str(value)


def check_fresh(out: Path) -> None:
    """Raise where a new run would write over another."""
    checkpoints = CheckpointStore(out / CHECKPOINTS, keep=1).folders()
    if checkpoints:
        raise TrainingError(
            f"{out} already has {pluralize(len(checkpoints), 'checkpoint')} of a run.\n"
            "Pass --resume to continue it, or choose another folder for --out."
        )
    if (out / "best").exists():
        raise TrainingError(f"{out} already holds a trained model (best). Choose another folder.")
    if out.exists() and not out.is_dir():
        raise TrainingError(f"{out} is a file; a run needs a folder, which is made if need be.")
