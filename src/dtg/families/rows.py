"""Rows: what a decoder reads, position by position (paper, Figure 2).

A row reads a subword, an operation, or both; sees earlier rows through one or more *views*, each row at a relative position;
and predicts the next action, or nothing. `Row` is one such row for people; `LaneRows` is what one action adds to many lanes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from torch import Tensor


class Kind(StrEnum):
    """How a row attends."""

    STACK = "STACK"  # to everything on the stack
    COMPOSE = "COMPOSE"  # to a head and what it absorbs
    POPSTACK = "POPSTACK"  # to what a POP leaves on the stack
    LINEAR = "LINEAR"  # to all earlier rows

    @property
    def code(self) -> int:
        """The number that tensors hold for it."""
        return KINDS.index(self)


KINDS = tuple(Kind)


@dataclass(frozen=True, slots=True)
class RowView:
    """The rows that one view shows, the relative position of each, and what the view's channel says of each, if it has one."""

    name: str
    attends: tuple[int, ...]
    relative: tuple[int, ...]
    channel: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One row. `attends` and `relative` are what the first view shows; `views` has all of them where there are several."""

    index: int
    reads: tuple[str, ...]
    kind: Kind
    attends: tuple[int, ...]
    relative: tuple[int, ...]
    predicts: str | None
    views: tuple[RowView, ...] = ()


class LaneView(NamedTuple):
    """What rows of many lanes see through one view. Tables share memory with the lanes: use them before the next `advance`."""

    keys: Tensor  # (lanes, 1) how many rows are visible
    attends: Tensor  # (lanes, width) row ids, as many as `keys` says; the rest has no meaning
    relative: Tensor  # (lanes, width)
    channel: Tensor | None = None  # (lanes, width) an integer for each key that adds to its score
    constituent: Tensor | None = None  # (lanes, width) which constituent each key is in, for models that attach to them


class LaneRows(NamedTuple):
    """Rows that one action adds, at most one for each lane; where `present` is false, the rest has no meaning.

    Tensors are columns, (lanes, 1).
    """

    kind: Kind  # of all of them; after a POP, STACK is POPSTACK
    predicts: bool  # these rows predict the next action
    second: bool  # where the action composes, these are its second rows
    present: Tensor  # bool
    id: Tensor
    piece: Tensor  # the subword generated, or the head's
    views: tuple[LaneView, ...]  # in the order of the family's `views`
