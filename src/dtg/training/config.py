"""How to train: the `[training]` table of a configuration file in, a frozen and checked `TrainingConfig` out.

Lengths are in steps (updates of the weights) unless the name says otherwise; rates are those of AdamW.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from dtg.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingConfig:
    """The defaults are the paper's where it has any."""

    seed: int = 0

    batch_sentences: int | None = None  # one of these two: a batch is so many sentences,
    batch_pieces: int | None = None  # or as many sentences as have at most so many pieces together
    accumulate: int = 1  # batches per step, on each process

    epochs: int | None = None  # one of these two: how often the corpus is read,
    words: int | None = None  # or how many words are read, in whole steps

    peak_rate: float = 1.5e-4
    start_rate: float = 1e-7
    final_rate: float = 3e-7
    warmup_steps: int | None = None  # one of these two: so many steps,
    warmup_share: float | None = None  # or this share of all steps

    gradient_norm: float = 3.0  # longer gradients are cut to this length; inf for never
    weight_decay: float = 0.0

    log_every: int = 10
    dev_every: int = 0  # 0: after every epoch. After the last step always.
    patience: int = 0  # stop when dev has not improved so many times in a row; 0: never
    checkpoint_every: int = 500
    keep: int = 2  # checkpoints

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> TrainingConfig:
        """From a configuration file's table; unknown keys raise."""
        known = {field.name: str(field.type) for field in fields(cls)}
        for name, value in table.items():
            if name not in known:
                raise ConfigError(f"[training] has an unknown key {name!r}. Known: {', '.join(known)}.")
            check_kind(name, value, "float" in known[name])
        values: dict[str, Any] = {name: float(v) if "float" in known[name] else v for name, v in table.items()}
        return cls(**values)

    def __post_init__(self) -> None:
        self.exactly_one("batch_sentences", "batch_pieces")
        self.exactly_one("epochs", "words")
        self.exactly_one("warmup_steps", "warmup_share")
        for name in (
            "batch_sentences",
            "batch_pieces",
            "accumulate",
            "epochs",
            "words",
            "log_every",
            "checkpoint_every",
        ):
            self.at_least(name, 1)
        for name in ("seed", "dev_every", "patience", "warmup_steps", "weight_decay", "start_rate", "final_rate"):
            self.at_least(name, 0)
        self.at_least("keep", 1)
        if self.warmup_share is not None and not 0 <= self.warmup_share < 1:
            raise ConfigError(f"[training] warmup_share must be at least 0 and below 1, not {self.warmup_share}.")
        for name in ("peak_rate", "gradient_norm"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"[training] {name} must be above 0, not {getattr(self, name)}.")
        if max(self.start_rate, self.final_rate) > self.peak_rate or math.isinf(self.peak_rate):
            raise ConfigError(
                f"[training] peak_rate must be the highest rate and finite: start_rate is {self.start_rate:g}, "
                f"peak_rate {self.peak_rate:g}, final_rate {self.final_rate:g}."
            )

    def exactly_one(self, first: str, second: str) -> None:
        given = [name for name in (first, second) if getattr(self, name) is not None]
        if len(given) != 1:
            raise ConfigError(f"[training] needs {first} or {second}; {'both are' if given else 'neither is'} given.")

    def at_least(self, name: str, least: int) -> None:
        value = getattr(self, name)
        if value is not None and not (value >= least and math.isfinite(value)):
            raise ConfigError(f"[training] {name} must be at least {least}, not {value}.")

    def as_dict(self) -> dict[str, Any]:
        """What from_dict takes; keys that are not given are left out."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def check_kind(name: str, value: Any, takes_fractions: bool) -> None:
    """Raise unless the value is a number of the right kind; true and false are none."""
    kinds = (int, float) if takes_fractions else (int,)
    if isinstance(value, bool) or not isinstance(value, kinds):
        wanted = "a number" if takes_fractions else "a whole number"
        raise ConfigError(f"[training] {name} must be {wanted}, not {value!r}.")
