"""What a training run reports. The library never prints: the command line has a reporter that does."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from dtg.training.sampler import Plan
from dtg.training.tally import Tally


@dataclass(frozen=True, slots=True)
class StepReport:
    """The state of a run after a step."""

    step: int
    epoch: int
    words: int
    tally: Tally  # of this step's global batch
    rate: float
    gradient_norm: float
    seconds: float  # of training, summed over all resumptions


@dataclass(frozen=True, slots=True)
class DevScore:
    """The score of the development set, and whether it is the best so far."""

    step: int
    tally: Tally
    improved: bool


class Reporter:
    """Reports nothing but warnings. Override the methods you want."""

    def started(self, plan: Plan, step: int, words: int) -> None: ...

    def stepped(self, progress: StepReport) -> None: ...

    def scored(self, score: DevScore) -> None: ...

    def note(self, message: str) -> None: ...

    def warn(self, message: str) -> None:
        warnings.warn(message, stacklevel=2)


class Silence(Reporter):
    """For processes other than the first."""

    def warn(self, message: str) -> None: ...
