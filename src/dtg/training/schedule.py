"""The learning rate at every step: linear warm-up, then decay by a cosine, or none until the last steps, in which it falls
linearly (a trapezoid). A function of the step, with no state.

Its length is fixed before training by the total number of steps, and nothing that happens later changes it.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from dtg.errors import ConfigError
from dtg.training.config import TrainingConfig


@dataclass(frozen=True, slots=True)
class Schedule:
    """The rates at step 0 (`start`), at step `warmup` (`peak`) and at the last of `steps` (`final`).

    With `falling`, the rate stays at `peak` until that many steps are left.
    """

    steps: int
    warmup: int
    start: float
    peak: float
    final: float
    falling: int | None = None

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
        falling = None if config.decay == "cosine" else max(1, round(config.decay_share * steps))
        if falling is not None and warmup + falling > steps:
            raise ConfigError(
                f"[training] the warm-up takes {warmup:,} steps and the decay {falling:,}, but the run has only {steps:,}.\n"
                "Give a shorter warm-up or a smaller decay_share, or train for longer."
            )
        return cls(steps, warmup, config.start_rate, config.peak_rate, config.final_rate, falling)

    def rate(self, step: int) -> float:
        """The rate of a step, counted from 0."""
        if step < self.warmup:
            return self.start + (self.peak - self.start) * step / self.warmup
        if self.falling is not None:
            left = min(1.0, (self.steps - 1 - step) / self.falling)
            return self.final + (self.peak - self.final) * max(0.0, left)
        done = (step - self.warmup) / max(1, self.steps - 1 - self.warmup)
        return self.final + (self.peak - self.final) * (1 + math.cos(math.pi * min(1.0, done))) / 2

    def as_dict(self) -> dict[str, float | int]:
        """As it is recorded; a cosine as it was before there was anything else."""
        return {name: value for name, value in asdict(self).items() if value is not None}
