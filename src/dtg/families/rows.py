"""Rows: what a decoder reads, position by position (paper, Figure 2).

A row reads a word piece, an operation, or both; attends to earlier rows and itself, each at a relative position; and
predicts the next action, or nothing. `Row` is one such row for people; `LaneRows` is what one action adds to many lanes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from torch import Tensor

NOTHING = -1  # in place of a piece, an operation or an attended row


class Kind(StrEnum):
    """How a row attends."""

    STACK = "STACK"  # to everything on the stack
    COMPOSE = "COMPOSE"  # to a head and what it absorbs
    POPSTACK = "POPSTACK"  # to what a POP leaves on the stack
    LINEAR = "LINEAR"  # to all earlier rows


class KindCode(IntEnum):
    """The same kinds as tensors hold them."""

    STACK = 0
    COMPOSE = 1
    POPSTACK = 2
    LINEAR = 3


@dataclass(frozen=True, slots=True)
class Row:
    """One row, in words. `attends` is in ascending order, `relative` goes with it."""

    index: int
    reads: tuple[str, ...]
    kind: Kind
    attends: tuple[int, ...]
    relative: tuple[int, ...]
    predicts: str | None


@dataclass(frozen=True, slots=True)
class LaneRows:
    """At most one row for each lane; where `present` is false, the lane has none and the rest has no meaning."""

    predicts: bool  # these rows predict the next action
    present: Tensor  # (lanes,) bool
    id: Tensor  # (lanes,)
    kind: Tensor  # (lanes,) a KindCode
    piece: Tensor  # (lanes,) the piece read, or NOTHING
    operation: Tensor  # (lanes,) the operation read, or NOTHING
    distance: Tensor  # (lanes,) the operation's distance
    attends: Tensor  # (lanes, keys) row ids, the row's own last, then NOTHING
    relative: Tensor  # (lanes, keys)
    keys: Tensor  # (lanes,) how many rows it attends to
