"""How to train: the checked settings of a configuration file's `[training]` table.

Lengths are in steps (updates of the weights) unless the name says otherwise; rates are those of AdamW, which Muon's are made
comparable with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any, Literal

from dtg.errors import ConfigError
from dtg.io.settings import (
    Limits,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    Share,
    check_settings,
    from_table,
)

TABLE = "[training]"
OptimizerName = Literal["adamw", "muon"]
Decay = Literal["cosine", "trapezoid"]
Embeddings = Literal["random", "corpus"]
EITHER = (("batch_sentences", "batch_pieces"), ("epochs", "words"), ("warmup_steps", "warmup_share"))  # one of two each
# Settings that there have not always been; a run that leaves them as they are by default is recorded as it was before.
LATER = ("optimizer", "matrix_rate", "decay", "decay_share", "embeddings", "save_every")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingConfig:
    """The defaults are the paper's where it has any."""

    seed: Annotated[int, Limits(least=0, below=2**63)] = 0

    # One of these two: the sentences of a batch, or the most subwords that its sentences have together.
    batch_sentences: PositiveInt | None = None
    batch_pieces: PositiveInt | None = None
    accumulate: PositiveInt = 1  # batches per step, on each process

    # One of these two: how often the corpus is read, or how many words are read, in whole steps.
    epochs: PositiveInt | None = None
    words: PositiveInt | None = None

    peak_rate: PositiveFloat = 1.5e-4
    start_rate: NonNegativeFloat = 1e-7
    final_rate: NonNegativeFloat = 3e-7
    # One of these two: the steps of the warm-up, or its share of all steps.
    warmup_steps: NonNegativeInt | None = None
    warmup_share: Share | None = None

    gradient_norm: Annotated[float, Limits(above=0, is_finite=False)] = 3.0  # longer gradients are clipped; inf: never
    weight_decay: NonNegativeFloat = 0.0

    optimizer: OptimizerName = "adamw"  # "muon": Muon for matrices, AdamW for the rest
    matrix_rate: PositiveFloat = 1.0  # with Muon, what multiplies the rate of matrices
    decay: Decay = "cosine"  # of the rate after the warm-up; "trapezoid": it stays, and then falls in a straight line
    decay_share: Share = 0.2  # with "trapezoid", the share of all steps in which it falls
    # Of a new language model: random, or from what the corpus says of its subwords (output biases too).
    embeddings: Embeddings = "random"

    log_every: PositiveInt = 10
    dev_every: NonNegativeInt = 0  # 0: after every epoch. After the last step always.
    patience: NonNegativeInt = 0  # dev scores without improvement before training stops early; 0: never
    checkpoint_every: PositiveInt = 500
    keep: PositiveInt = 2  # checkpoints
    save_every: NonNegativeInt = 0  # the model as it is then, for learning curves; 0: only the best

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> TrainingConfig:
        """From a configuration file's table; unknown keys raise."""
        return from_table(cls, table, TABLE)

    def __post_init__(self) -> None:
        check_settings(self, f"{TABLE} ")
        for first, second in EITHER:
            self._check_exactly_one(first, second)
        if max(self.start_rate, self.final_rate) > self.peak_rate:
            raise ConfigError(
                f"{TABLE} peak_rate must be the highest rate: start_rate is {self.start_rate:g}, "
                f"peak_rate {self.peak_rate:g}, final_rate {self.final_rate:g}."
            )
        if self.optimizer == "adamw" and self.matrix_rate != 1.0:
            raise ConfigError(f'{TABLE} matrix_rate is {self.matrix_rate:g}; it is for optimizer = "muon".')
        if self.decay == "cosine" and self.decay_share != 0.2:
            raise ConfigError(f'{TABLE} decay_share is {self.decay_share:g}; it is for decay = "trapezoid".')
        if self.decay == "trapezoid" and not self.decay_share:
            raise ConfigError(f'{TABLE} decay_share is 0; with decay = "trapezoid" the rate must fall at some time.')

    def _check_exactly_one(self, first: str, second: str) -> None:
        given = [name for name in (first, second) if getattr(self, name) is not None]
        if len(given) != 1:
            raise ConfigError(f"{TABLE} needs {first} or {second}; {'both are' if given else 'neither is'} given.")

    def as_dict(self) -> dict[str, Any]:
        """What from_dict takes; keys that are not given are left out."""
        defaults = {field.name: field.default for field in fields(self)}
        given = {name: value for name, value in asdict(self).items() if value is not None}
        return {name: value for name, value in given.items() if name not in LATER or value != defaults[name]}
