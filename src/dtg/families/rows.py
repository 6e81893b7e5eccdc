"""Rows: what a decoder reads, position by position (paper, Figure 2).

A row reads a word piece, an operation, or both; attends to earlier rows and itself, each at a relative position; and
predicts the next action, or nothing. `Row` is one such row for people; `LaneRows` is what one action adds to many lanes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import NamedTuple

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


class LaneRows(NamedTuple):
    """Rows that one action adds, at most one for each lane; where `present` is false, the rest has no meaning.

    All but the last two are columns, (lanes, 1). Tables share memory with the lanes: use them before the next `advance`.
    """

    kind: KindCode  # of all of them; after a POP, STACK is POPSTACK
    predicts: bool  # these rows predict the next action
    present: Tensor  # bool
    id: Tensor
    piece: Tensor  # the piece generated, or the head's
    keys: Tensor  # how many rows it attends to, itself included
    attends: Tensor  # (lanes, width) row ids, as many as `keys` says, the row's own last; the rest has no meaning
    relative: Tensor  # (lanes, width)
