"""What the log of a run records, sent to TensorBoard or Weights & Biases as well, by Accelerate's trackers.

They only listen: random numbers are left as they are, and a tracker that fails is warned about and left behind, while the
run and its log continue. A resumed run continues in the same place (RUN/tensorboard, or the same run of Weights & Biases).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from dtg.errors import TrainingError

if TYPE_CHECKING:
    from accelerate import Accelerator

PROJECT = "dtg"
WANDB_ID = "wandb-run.txt"  # in the run folder: which run of Weights & Biases it is


class Trackers:
    """The trackers of one run, used by the first process only."""

    def __init__(self, accelerator: Accelerator, out: Path, warn: Callable[[str], None]) -> None:
        self.accelerator, self.out, self.warn = accelerator, out, warn
        self.is_open = False
        self.step = 0

    def open(self, run: Mapping[str, Any], step: int) -> None:
        """Start them, or continue after `step`; `run` describes the run."""
        if not self.accelerator.log_with:
            return
        self.step = step
        kinds = {str(tracker) for tracker in self.accelerator.log_with}
        options: dict[str, dict[str, Any]] = {}
        if "tensorboard" in kinds and step:
            options["tensorboard"] = {"purge_step": step + 1}  # what came after the checkpoint comes again
        if "wandb" in kinds:
            options["wandb"] = {
                "id": self.wandb_id(step),
                "resume": "allow",
                "name": self.out.name,
                "dir": str(self.out),
            }
        config = None if step else settings(run)
        try:
            with torch.random.fork_rng(devices=[]):
                self.accelerator.init_trackers(PROJECT, config, options)
        except Exception as error:  # whatever another package raises, such as a missing login
            raise TrainingError(f"cannot start logging with {', '.join(sorted(kinds))}: {error}") from error
        self.is_open = True

    def wandb_id(self, step: int) -> str:
        """The name by which Weights & Biases knows this run: a new one for a new run."""
        path = self.out / WANDB_ID
        if not step or not path.is_file():
            path.write_text(secrets.token_hex(8) + "\n", encoding="utf-8")
        return path.read_text(encoding="utf-8").strip()

    def write(self, kind: str, record: Mapping[str, Any]) -> None:
        """Send the numbers of a line of the log, under names such as train/loss."""
        if not self.is_open:
            return
        self.step = record.get("step", self.step)
        values = {name: value for name, value in flat(kind, record).items() if is_number(value)}
        try:
            with torch.random.fork_rng(devices=[]):
                self.accelerator.log(values, step=self.step)
        except Exception as error:  # a run of days does not end because a site cannot be reached
            self.warn(f"a tracker has failed and gets no more records ({error}); the run and its log continue.")
            self.is_open = False

    def close(self) -> None:
        """Let them write what they still hold."""
        if not self.is_open:
            return
        self.is_open = False
        for tracker in self.accelerator.trackers:
            try:
                tracker.finish()
            except Exception as error:
                self.warn(f"a tracker could not be closed: {error}.")


def flat(name: str, content: Any) -> dict[str, Any]:
    """Tables in tables as one, with names joined by slashes."""
    if not isinstance(content, Mapping):
        return {name: content}
    return {key: value for inner, part in content.items() for key, value in flat(f"{name}/{inner}", part).items()}


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def settings(run: Mapping[str, Any]) -> dict[str, Any]:
    """What a run is, as trackers store it: flat, with plain values."""
    plain = {name.removeprefix("run/"): value for name, value in flat("run", run).items()}
    return {name: value if isinstance(value, bool | int | float | str) else str(value) for name, value in plain.items()}
