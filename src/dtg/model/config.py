"""`ModelConfig`: what a model is made of, validated and saved with the model.

`paper` and `released` differ only in these settings (the design's two profiles).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

from dtg.errors import ConfigError
from dtg.families import FAMILIES, ArcRepresentation, End

HeadName = Literal["factored", "joint"]
Activation = Literal["relu", "gelu"]
Norm = Literal["pre", "post"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """Sizes and choices. `vocabulary` is how many subwords the tokenizer has."""

    family: str = "dtg"
    vocabulary: int = 8192
    layers: int = 6
    width: int = 256
    attention_heads: int = 4
    view_heads: tuple[
        int, ...
    ] = ()  # how many heads see through each of the family's views; empty where there is one view
    head_width: int = 64
    feedforward: int = 1024
    dropout: float = 0.0
    head: HeadName = "factored"
    arc_representation: ArcRepresentation = "word+arc"
    activation: Activation = "relu"
    norm: Norm = "post"
    shared_position_biases: bool = True  # u and v are the same in all layers
    tied_arc_rows: bool = True  # the second row of an arc reads the same embedding as the first
    output_bias: bool = True
    distance_limit: int = 20  # how far arc-swift's arcs reach
    constrained: bool = True  # illegal actions are masked before normalising
    end: End = "arc"

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise ConfigError(f"family is {self.family!r}; known: {', '.join(FAMILIES)}.")
        for name, known in CHOICES.items():
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} is {getattr(self, name)!r}; known: {', '.join(known)}.")
        for name in ("vocabulary", "layers", "width", "attention_heads", "head_width", "feedforward", "distance_limit"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise ConfigError(f"{name} is {value!r}; a whole number of at least 1 is expected.")
        self._check_views()
        if self.width % 2:
            raise ConfigError(f"width is {self.width}; it must be even, because sinusoids come in pairs.")
        if type(self.dropout) not in (int, float) or not 0.0 <= self.dropout < 1.0:
            raise ConfigError(f"dropout is {self.dropout!r}; a number from 0 up to 1 is expected.")
        for name in ("shared_position_biases", "tied_arc_rows", "output_bias", "constrained"):
            if type(getattr(self, name)) is not bool:
                raise ConfigError(f"{name} is {getattr(self, name)!r}; true or false is expected.")

    def _check_views(self) -> None:
        views = FAMILIES[self.family].rule.views
        expected = (
            f"{self.family} has {len(views)} views ({', '.join(views)}) and {self.attention_heads} attention heads"
        )
        if not self.view_heads:
            if len(views) > 1:
                raise ConfigError(f"view_heads is missing: {expected}; say how many heads see through each view.")
            return
        if not all(type(count) is int and count >= 0 for count in self.view_heads):
            raise ConfigError(f"view_heads is {self.view_heads!r}; whole numbers of at least 0 are expected.")
        if len(self.view_heads) != len(views) or sum(self.view_heads) != self.attention_heads:
            raise ConfigError(f"view_heads is {self.view_heads!r}; but {expected}.")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ModelConfig:
        """From a table of a configuration file, or of a saved model."""
        known = [f.name for f in fields(cls)]
        if unknown := sorted(set(values) - set(known)):
            raise ConfigError(f"the model has no setting {', '.join(unknown)}. Known: {', '.join(known)}.")
        heads = values.get("view_heads", ())
        return cls(**{**values, "view_heads": tuple(heads) if isinstance(heads, list) else heads})

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


CHOICES: dict[str, tuple[str, ...]] = {
    "head": get_args(HeadName),
    "arc_representation": get_args(ArcRepresentation),
    "activation": get_args(Activation),
    "norm": get_args(Norm),
    "end": get_args(End),
}
