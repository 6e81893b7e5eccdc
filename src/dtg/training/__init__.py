"""Training: `train` fits any `Trainable` to a prepared corpus, resumably; see docs/training.md."""

from dtg.training.config import TrainingConfig
from dtg.training.loop import Outcome, train
from dtg.training.report import Reporter
from dtg.training.runtime import RuntimeOptions
from dtg.training.task import Trainable

__all__ = ["Outcome", "Reporter", "RuntimeOptions", "Trainable", "TrainingConfig", "train"]
