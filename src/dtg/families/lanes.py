"""What a family remembers of every lane: the transition system's state, and which rows are still visible through any view."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from dtg.transitions.lanes import LaneStates, Tensors, pad_columns
from dtg.transitions.system import TransitionSystem

FIRST_WIDTH = 16


@dataclass(slots=True)
class RowList(Tensors):
    """Rows of each lane that are never removed, in order: a second table for views that see more than the stack."""

    rows: Tensor  # (lanes, width) row ids
    size: Tensor  # (lanes, 1)
    room: int  # rows that can be added before sizes must be looked at again

    @classmethod
    def begin(cls, ids: Tensor) -> RowList:
        """Lanes with one row each, (lanes, 1)."""
        rows = torch.zeros_like(ids).repeat(1, FIRST_WIDTH)
        rows[:, :1] = ids
        return cls(rows, torch.ones_like(ids), FIRST_WIDTH - 3)

    def append(self, ids: Tensor, where: Tensor) -> None:
        """Add rows (lanes, 1) where `where`, (lanes, 1) bool, holds; elsewhere they stand behind the last and do not count."""
        self.room, width = grown(self.room, self.rows, self.size)
        self.widen(width)
        self.rows.scatter_(1, self.size, ids)
        self.size = self.size + where

    def widen(self, width: int) -> None:
        self.rows = pad_columns(self.rows, width)


@dataclass(slots=True)
class Lanes(Tensors):
    """One lane per sentence or hypothesis. `rows` holds row ids from the bottom of the stack to its top.

    A word's subwords are several rows that form one item. A linear history is a stack that nothing is popped from.
    """

    states: LaneStates
    next_id: Tensor  # (lanes, 1) what the next row is called, unless the caller names it
    size: Tensor  # (lanes, 1) rows on the stack
    rows: Tensor  # (lanes, width) row ids
    item: Tensor  # (lanes, width) the item each row belongs to
    start: Tensor  # (lanes, width) by item: where its rows begin
    piece: Tensor  # (lanes, width) by item: the last subword of its head word
    room: int  # rows that can be pushed before sizes must be looked at again
    memory: RowList | None = None  # further rows that a view can see

    @classmethod
    def begin(cls, system: TransitionSystem, words_left: Tensor, root: int, ids: Tensor | None) -> Lanes:
        """Lanes with the `<ROOT>` row alone on the stack; `ids` (lanes,) are its names."""
        ids = torch.zeros_like(words_left, dtype=torch.long)[:, None] if ids is None else ids[:, None]
        table = torch.zeros_like(ids).repeat(1, FIRST_WIDTH)
        rows, piece = table.clone(), table.clone()
        rows[:, :1], piece[:, :1] = ids, root
        return cls(
            states=system.lane_states.begin(words_left, FIRST_WIDTH),
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
        memories = [part.memory for part in parts if part.memory is not None]
        remembered = max((memory.rows.shape[1] for memory in memories), default=0)
        for part in parts:
            part.widen(width)
        for memory in memories:
            memory.widen(remembered)
        joined = cls.cat(parts)
        joined.room = min(part.room for part in parts)
        if joined.memory is not None:
            joined.memory.room = min(memory.room for memory in memories)
        return joined

    def visible(self) -> Tensor:
        """The ids of all rows that some view of some lane can still see, ascending."""
        ids = [rows[torch.arange(rows.shape[1], device=rows.device) < size] for rows, size in self._tables()]
        found: Tensor = torch.cat(ids).unique()
        return found

    def renamed(self, names: Tensor) -> Lanes:
        """The same lanes, whose rows have other ids: `names[old id]`."""
        last = len(names) - 1
        memory = self.memory
        if memory is not None:
            memory = replace(memory, rows=names[memory.rows.clamp(0, last)])
        return replace(self, rows=names[self.rows.clamp(0, last)], memory=memory)

    def _tables(self) -> Iterator[tuple[Tensor, Tensor]]:
        yield self.rows, self.size
        if self.memory is not None:
            yield self.memory.rows, self.memory.size

    def __len__(self) -> int:
        return self.size.shape[0]

    def make_room(self) -> None:
        """See that one more row fits. Looks at the lanes only when the room reckoned with last time is used up."""
        self.room, width = grown(self.room, self.rows, self.size)
        if width > self.rows.shape[1]:
            self.widen(width)

    def widen(self, width: int) -> None:
        """Make the tables at least that wide."""
        self.rows, self.item = pad_columns(self.rows, width), pad_columns(self.item, width)
        self.start, self.piece = pad_columns(self.start, width), pad_columns(self.piece, width)
        self.states.widen(width)


def grown(room: int, rows: Tensor, size: Tensor) -> tuple[int, int]:
    """What room is left once one more row is added, and how wide the table must be for that."""
    width = rows.shape[1]
    if room > 1:
        return room - 1, width
    used = int(size.max()) if len(size) else 0
    while width - used < 4:
        width += width // 2
    return width - used - 2, width  # a row that is not pushed is written above the top as well
