"""What a training run tells whoever watches it. The library never prints: the command line has a reporter that does."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from dtg.training.sampler import Plan
from dtg.training.tally import Tally


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run is, after a step."""

    step: int
    epoch: int
    words: int
    tally: Tally  # of this step's global batch
    rate: float
    gradient_norm: float
    seconds: float  # of training, over all resumptions


@dataclass(frozen=True, slots=True)
class DevScore:
    """What the development set said, and whether it never said better."""

    step: int
    tally: Tally
    improved: bool


class Reporter:
    """Says nothing, except for warnings. Override what you want to hear."""

    def started(self, plan: Plan, step: int, words: int) -> None: ...

    def stepped(self, progress: Progress) -> None: ...

    def scored(self, score: DevScore) -> None: ...

    def note(self, message: str) -> None: ...

    def warn(self, message: str) -> None:
        warnings.warn(message, stacklevel=2)


class Silence(Reporter):
    """For processes other than the first."""

    def warn(self, message: str) -> None: ...
