"""What a family remembers of every lane: the transition system's state, and which rows are still attended to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from dtg.transitions.lanes import LaneStates, Tensors, pad_columns
from dtg.transitions.system import TransitionSystem

FIRST_WIDTH = 16


@dataclass(slots=True)
class Lanes(Tensors):
    """One lane per sentence or hypothesis. `rows` holds row ids from the bottom of the stack to its top.

    A word's pieces are several rows that form one item. A linear history is a stack that nothing is popped from.
    """

    states: LaneStates
    next_id: Tensor  # (lanes, 1) what the next row is called, unless the caller names it
    size: Tensor  # (lanes, 1) rows on the stack
    rows: Tensor  # (lanes, width) row ids
    item: Tensor  # (lanes, width) the item each row belongs to
    start: Tensor  # (lanes, width) by item: where its rows begin
    piece: Tensor  # (lanes, width) by item: the last piece of its head word
    room: int  # rows that can be pushed before sizes must be looked at again

    @classmethod
    def begin(cls, system: TransitionSystem, words_left: Tensor, root: int, ids: Tensor | None) -> Lanes:
        """Lanes with the `<ROOT>` row alone on the stack; `ids` (lanes,) are its names."""
        ids = torch.zeros_like(words_left, dtype=torch.long)[:, None] if ids is None else ids[:, None]
        table = torch.zeros_like(ids).repeat(1, FIRST_WIDTH)
        rows, piece = table.clone(), table.clone()
        rows[:, :1], piece[:, :1] = ids, root
        return cls(
            states=LaneStates.begin(system, words_left, FIRST_WIDTH),
            next_id=ids + 1,
            size=torch.ones_like(ids),
            rows=rows,
            item=table.clone(),
            start=table,
            piece=piece,
            room=FIRST_WIDTH - 3,
        )

    @classmethod
    def join(cls, parts: Sequence[Lanes]) -> Lanes:
        """The lanes of several one after another, as wide as the widest (to which the others' tables are widened)."""
        width = max(part.rows.shape[1] for part in parts)
        for part in parts:
            part.widen(width)
        joined = cls.cat(parts)
        joined.room = min(part.room for part in parts)
        return joined

    def renumbered(self, more: int) -> Lanes:
        """The same lanes, with row ids that are higher by `more`."""
        return replace(self, rows=self.rows + more, next_id=self.next_id + more)

    def __len__(self) -> int:
        return self.size.shape[0]

    def make_room(self) -> None:
        """See that one more row fits. Looks at the lanes only when the room reckoned with last time is used up."""
        self.room -= 1
        if self.room > 0:
            return
        width = self.rows.shape[1]
        used = int(self.size.max()) if len(self) else 0
        while width - used < 4:
            width += width // 2
        self.room = width - used - 2  # a row that is not pushed is written above the top as well
        self.widen(width)

    def widen(self, width: int) -> None:
        """Make the tables at least that wide."""
        self.rows, self.item = pad_columns(self.rows, width), pad_columns(self.item, width)
        self.start, self.piece = pad_columns(self.start, width), pad_columns(self.piece, width)
        self.states.widen(width)
