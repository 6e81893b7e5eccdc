"""What a run is and where it stands: the identity that `--resume` compares, and the state that a checkpoint keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from dtg.errors import CheckpointError, TrainingError
from dtg.training.config import TrainingConfig
from dtg.training.sampler import Plan
from dtg.training.schedule import Schedule
from dtg.training.tally import Tally
from dtg.training.task import Corpus


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
    waited: int = 0  # dev scores since then
    skipped: int = 0
    finished: str | None = None  # "complete", or "early" when dev no longer improved
    log_length: int = 0

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> RunState:
        return cls(**{**content, "window": Tally(**content["window"])})

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def identity(
    model: Mapping[str, Any], config: TrainingConfig, corpus: Corpus, plan: Plan, schedule: Schedule, precision: str
) -> dict[str, Any]:
    """What must be equal for a run to be continued. Batches may be shared out differently, if a step has as many."""
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


def check_same(before: Mapping[str, Any], now: Mapping[str, Any], out: Path) -> None:
    """Raise unless a run is continued as what it was begun."""
    old, new = flatten(before), flatten(now)
    wrong = [
        f"  {name} was {old.get(name, 'not given')}, is now {new.get(name, 'not given')}"
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    ]
    if wrong:
        lines = "\n".join(wrong)
        raise CheckpointError(
            f"cannot resume {out}: it was begun with another configuration, corpus or vocabulary.\n{lines}\n"
            "Resume with what it was begun with, or train into another folder.\n"
            "(batches_per_step is accumulate times the number of processes.)"
        )


def flatten(content: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested tables as one, with dotted names."""
    found: dict[str, Any] = {}
    for name, value in content.items():
        if isinstance(value, Mapping):
            found |= flatten(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = value
    return found


def check_fresh(out: Path, checkpoints: list[Path]) -> None:
    """Raise where a new run would write over another."""
    if checkpoints:
        raise TrainingError(
            f"{out} already has {len(checkpoints)} checkpoint{'s' * (len(checkpoints) > 1)} of a run.\n"
            "Pass --resume to continue it, or choose another folder for --out."
        )
    if (out / "best").exists():
        raise TrainingError(f"{out} already holds a trained model (best). Choose another folder for --out.")
    if out.exists() and not out.is_dir():
        raise TrainingError(f"{out} is a file; --out needs a folder, which is made if need be.")
