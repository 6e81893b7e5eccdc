"""Settings of a parser, checked (`ParserConfig`), and the default tables of a configuration file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

from dtg.errors import ConfigError

Loss = Literal["crf", "arcs"]
ENCODERS = ("bilstm", "transformer")  # all others are pretrained


@dataclass(frozen=True, slots=True, kw_only=True)
class ParserConfig:
    """Sizes and choices."""

    encoder: str = "bilstm"  # or "transformer", or the folder or the hub's name of a pretrained one
    pretrained_rate: float = 0.05  # the learning rate of a pretrained encoder, as a share of the others'
    word_width: int = 128  # of the embeddings of known words
    word_count: int = 2  # a word is known if it occurs this often in the training trees
    character_width: int = 32
    character_filters: int = 128
    layers: int = 2  # of the BiLSTM or the Transformer
    width: int = 256  # of each direction; a Transformer has twice as much
    arc_width: int = 256
    label_width: int = 96
    dropout: float = 0.33
    word_dropout: float = 0.25  # how often a known word is read as an unknown one, in training
    loss: Loss = "crf"  # -log p(tree) under a projective CRF; or of each head by itself ("arcs")
    labelled: bool = True
    tag_weight: float = 0.5  # of the loss of part-of-speech tags, an auxiliary task; 0 leaves it out

    def __post_init__(self) -> None:
        if type(self.encoder) is not str or not self.encoder:
            raise ConfigError(f"encoder is {self.encoder!r}; {', '.join(ENCODERS)} or a pretrained one is expected.")
        if self.loss not in get_args(Loss):
            raise ConfigError(f"loss is {self.loss!r}; known: {', '.join(get_args(Loss))}.")
        if type(self.labelled) is not bool:
            raise ConfigError(f"labelled is {self.labelled!r}; true or false is expected.")
        for name in WHOLE:
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise ConfigError(f"{name} is {value!r}; a whole number of at least 1 is expected.")
        for name in ("tag_weight", "pretrained_rate"):
            value = getattr(self, name)
            if type(value) not in (int, float) or not 0 <= value < math.inf:
                raise ConfigError(f"{name} is {value!r}; a number of at least 0 is expected.")
        for name in ("dropout", "word_dropout"):
            value = getattr(self, name)
            if type(value) not in (int, float) or not 0 <= value < 1:
                raise ConfigError(f"{name} is {value!r}; a number from 0 up to 1 is expected.")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ParserConfig:
        """From a table of a configuration file, or of a saved parser; unknown keys raise."""
        known = [field.name for field in fields(cls)]
        if unknown := sorted(set(values) - set(known)):
            raise ConfigError(f"the parser has no setting {', '.join(unknown)}. Known: {', '.join(known)}.")
        return cls(**values)

    @property
    def is_pretrained(self) -> bool:
        return self.encoder not in ENCODERS

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


# Annotations are strings here: `from __future__ import annotations`.
WHOLE = tuple(field.name for field in fields(ParserConfig) if field.type == "int")

Tables = dict[str, dict[str, Any]]

TRAINING: dict[str, Any] = {
    "batch_sentences": 32,
    "epochs": 20,
    "start_rate": 1e-5,
    "peak_rate": 2e-3,
    "final_rate": 1e-5,
    "warmup_share": 0.05,
    "gradient_norm": 5.0,
    "log_every": 10,
    "checkpoint_every": 200,
}


def default_tables(encoder: str | None) -> Tables:
    """The tables of a configuration file, for those who give none: configs/parser.toml or configs/parser-pretrained.toml.

    Args:
        encoder: as in `ParserConfig`; None is the default encoder.

    Returns:
        The tables `model` and `training`.
    """
    if encoder is None or encoder in ENCODERS:
        return {"model": {}, "training": TRAINING}
    return {
        "model": {"pretrained_rate": 0.1, "dropout": 0.2},
        "training": {**TRAINING, "epochs": 7, "peak_rate": 1e-3, "warmup_share": 0.1},
    }
