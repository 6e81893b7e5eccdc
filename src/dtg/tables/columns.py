"""The columns and rows of a table, and the units of log-probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Base = Literal["2", "e"]
Value = str | int | float | None  # and bool, which is an int
Kind = type[str] | type[int] | type[float] | type[bool]
Row = tuple[Value, ...]

UNITS: dict[Base, str] = {"2": "bits", "e": "nats"}
NATS: dict[Base, float] = {"2": math.log(2), "e": 1.0}  # in one unit


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, what its values are, and what they mean."""

    name: str
    kind: Kind
    meaning: str
