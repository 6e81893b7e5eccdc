"""What a run leaves on disk, written by the first process; the others only help to gather what is shared out.

RUN/checkpoints/step-*   to resume from        RUN/best         what was best on dev, for dtg.load
RUN/log.jsonl            what happened         RUN/curves.png   the same, drawn
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from dtg.errors import CheckpointError, MissingExtraError, TrainingError
from dtg.training import snapshot
from dtg.training.checkpoint import Checkpoint, CheckpointStore
from dtg.training.curves import draw_curves
from dtg.training.folders import sweep, whole_folder
from dtg.training.learner import Learner
from dtg.training.log import Log, read_log
from dtg.training.report import Reporter
from dtg.training.run import RunState

REDRAW = 60.0  # seconds


class Recorder:
    """The run folder."""

    def __init__(self, out: Path, keep: int, is_main: bool, reporter: Reporter) -> None:
        self.out, self.is_main, self.reporter = out, is_main, reporter
        self.store = CheckpointStore(out / "checkpoints", keep)
        self.draws = True
        self.drawn = time.monotonic()
        self.log: Log | None = None

    def open(self, run: Mapping[str, Any], state: RunState) -> None:
        """Make the folder ready; the log is cut back to where the checkpoint was, and damaged ones after it are removed."""
        if self.is_main:
            with self.saving("the run"):
                self.store.folder.mkdir(parents=True, exist_ok=True)
                sweep(self.out)
                sweep(self.store.folder)
                self.store.remove_after(state.step)
                self.log = Log(self.out / "log.jsonl", state.log_length, self.reporter.warn)
                if self.log.length == 0:
                    self.log.start(run)

    def write(self, kind: str, record: Mapping[str, Any]) -> None:
        """Add a line to the log."""
        if self.log is not None:
            with self.saving("the log"):
                self.log.write(kind, record)

    def checkpoint(self, learner: Learner, state: RunState, run: Mapping[str, Any]) -> None:
        """Write everything that resuming needs."""
        tensors = {
            "model": snapshot.model_tensors(learner.model),
            "optimizer": snapshot.optimizer_tensors(learner.model, learner.optimizer.optimizer),
            "random": snapshot.random_tensors(learner.runtime.device),
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
        snapshot.restore_model(learner.model, checkpoint.tensors("model"))
        snapshot.restore_optimizer(learner.model, learner.optimizer.optimizer, checkpoint.tensors("optimizer"))
        snapshot.restore_random(checkpoint.tensors("random"), learner.runtime.device)
        if learner.runtime.scaler is not None and checkpoint.state["scaler"]:
            learner.runtime.scaler.load_state_dict(checkpoint.state["scaler"])
        threads = checkpoint.state["threads"]
        if threads != torch.get_num_threads():
            self.reporter.warn(
                f"the run was begun on {threads} threads and is resumed on {torch.get_num_threads()}; "
                "numbers may differ from an uninterrupted run's in the last digits."
            )
        return RunState.from_dict(checkpoint.state["state"])

    def best(self, learner: Learner) -> None:
        """Let the model save itself as the best so far."""
        model = learner.model
        if learner.runtime.options.fsdp:
            tensors = snapshot.model_tensors(learner.model)
            if learner.spare is not None:
                snapshot.restore_model(learner.spare, tensors)
                model = learner.spare
        if self.is_main:
            with self.saving("the best model"), whole_folder(self.out / "best") as folder:
                model.save(folder)  # type: ignore[operator]

    def restore_best(self, learner: Learner) -> None:
        """Put the best weights back into the model."""
        path = self.out / "best" / "model.safetensors"
        if not path.is_file():
            raise CheckpointError(
                f"{path} is not there; it was written when dev was best. Train anew, or copy it back."
            )
        snapshot.restore_model(learner.model, load_file(path))

    def draw(self, at_end: bool = False) -> None:
        """Draw the curves, where matplotlib is installed; not too often, for it takes half a second."""
        if self.log is None or not self.draws or not (at_end or time.monotonic() > self.drawn + REDRAW):
            return
        self.drawn = time.monotonic()
        try:
            with self.saving("the curves"):
                draw_curves(read_log(self.log.path), self.out / "curves.png")
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
                f"{kept}make room or mend the folder, then pass --resume."
            ) from error

    def close(self) -> None:
        if self.log is not None:
            self.log.close()
