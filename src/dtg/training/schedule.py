"""The learning rate at every step: linear warm-up, then cosine decay. A function of the step, with no state.

Its length is fixed before training by the total number of steps, and nothing that happens later changes it.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from dtg.errors import ConfigError
from dtg.training.config import TrainingConfig


@dataclass(frozen=True, slots=True)
class Schedule:
    """The rates at step 0 (`start`), at step `warmup` (`peak`) and at the last of `steps` (`final`)."""

    steps: int
    warmup: int
    start: float
    peak: float
    final: float

    @classmethod
    def of(cls, config: TrainingConfig, steps: int) -> Schedule:
        """The configuration's schedule for a run of `steps` steps."""
        if config.warmup_steps is not None:
            warmup = config.warmup_steps
        else:
            assert config.warmup_share is not None
            warmup = round(config.warmup_share * steps)
        if warmup >= steps and warmup > 0:
            raise ConfigError(
                f"[training] the warm-up takes {warmup:,} steps, but the whole run has only {steps:,}.\n"
                "Give fewer warmup_steps, or a warmup_share, or train for longer."
            )
        return cls(steps, warmup, config.start_rate, config.peak_rate, config.final_rate)

    def rate(self, step: int) -> float:
        """The rate of a step, counted from 0."""
        if step < self.warmup:
            return self.start + (self.peak - self.start) * step / self.warmup
        done = (step - self.warmup) / max(1, self.steps - 1 - self.warmup)
        return self.final + (self.peak - self.final) * (1 + math.cos(math.pi * min(1.0, done))) / 2

    def as_dict(self) -> dict[str, float | int]:
        return asdict(self)
