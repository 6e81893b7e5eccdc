"""A transition system's state for many lanes at once (sentences in training, hypotheses in search), as integer tensors.

One action per lane goes in; each lane's stack of items changes accordingly. An item is a word or a word with what it has
absorbed; items are numbered from the bottom, `<ROOT>` is item 0, and a word in the buffer head is the topmost item. The
clauses of `rules.py` read these tensors through the same names as a single `State`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from dtg.transitions.action import Operation
from dtg.transitions.rules import allows
from dtg.transitions.system import TransitionSystem

IDLE = -1  # in place of an operation: nothing happens in this lane


@dataclass(frozen=True, slots=True)
class LaneActions:
    """One action for each lane."""

    operation: Tensor  # (lanes,)  an Operation, or IDLE
    piece: Tensor  # (lanes,)      what GEN generates
    starts_word: Tensor  # (lanes,)  bool: GEN begins a word, rather than going on with one
    distance: Tensor  # (lanes,)   of an arc; 1 where arcs carry none


@dataclass(frozen=True, slots=True)
class Change:
    """What an action does to a lane's items: those from `lower` up go, one may be put there, the topmost may stay."""

    generates: Tensor  # (lanes,) bool
    starts_word: Tensor  # (lanes,) bool
    left: Tensor  # (lanes,) bool
    arc: Tensor  # (lanes,) bool
    removes: Tensor  # (lanes,) bool: an arc or a POP
    lower: Tensor  # (lanes,) the item that GEN adds to, or the lowest that an arc or POP takes away
    head: Tensor  # (lanes,) the item that an arc makes the head
    keeps_top: Tensor  # (lanes,) bool: the topmost item stays, above what is put in
    items: Tensor  # (lanes,) how many there are afterwards


class Tensors:
    """Dataclasses of tensors whose first dimension is lanes, possibly nested."""

    def fork(self, parents: Tensor) -> Self:
        """New lanes, each a copy of the lane named in `parents`."""
        return self._of_each(lambda tensor: tensor.index_select(0, parents))

    def first(self, count: int) -> Self:
        """The first `count` lanes, sharing memory with these."""
        return self._of_each(lambda tensor: tensor[:count])

    def _of_each(self, change: Callable[[Tensor], Tensor]) -> Self:
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        for name, value in values.items():
            if isinstance(value, Tensor):
                values[name] = change(value)
            elif isinstance(value, Tensors):
                values[name] = value._of_each(change)
        return type(self)(**values)

    __dataclass_fields__: ClassVar[dict[str, Any]]


@dataclass(slots=True)
class LaneStates(Tensors):
    """The `Features` of every lane, and what is needed to keep them up to date."""

    has_buffer: bool
    keeps_right_dependent: bool
    items: Tensor  # (lanes,) the buffer head included
    in_buffer: Tensor  # (lanes,) bool
    last_operation: Tensor  # (lanes,)
    without_head: Tensor  # (lanes,)
    root_taken: Tensor  # (lanes,) bool
    text_left: Tensor  # (lanes,) words of a known text, or -1
    right: Tensor  # (lanes, items) bool: the item has a right dependent
    run: Tensor  # (lanes, items) how many items have heads from this one down

    @classmethod
    def begin(cls, system: TransitionSystem, text_left: Tensor, width: int) -> LaneStates:
        """Every lane with `<ROOT>` alone."""
        count, device = text_left.shape[0], text_left.device
        number = torch.zeros(count, dtype=torch.long, device=device)
        table = torch.zeros(count, width, dtype=torch.long, device=device)
        return cls(
            has_buffer=system.has_buffer,
            keeps_right_dependent=system.keeps_right_dependent,
            items=number + 1,
            in_buffer=number.bool(),
            last_operation=number - 1,
            without_head=number,
            root_taken=number.bool(),
            text_left=text_left.long().clone(),
            right=table.bool(),
            run=table,
        )

    # What the clauses ask, a column each so that it meets distances in a row.

    @property
    def depth(self) -> Tensor:
        return (self.items - self.in_buffer.long())[:, None]

    @property
    def buffered(self) -> Tensor:
        return self.in_buffer[:, None]

    @property
    def headless(self) -> Tensor:
        return self.without_head[:, None]

    @property
    def root_has_word(self) -> Tensor:
        return self.root_taken[:, None]

    @property
    def words_left(self) -> Tensor:
        return self.text_left[:, None]

    @property
    def last(self) -> Tensor:
        return self.last_operation[:, None]

    @property
    def top_has_right_dependent(self) -> Tensor:
        return self.right.gather(1, self._top)

    @property
    def headed_run(self) -> Tensor:
        return self.run.gather(1, self._top)

    @property
    def _top(self) -> Tensor:
        return (self.depth - 1).clamp(min=0)

    def change(self, actions: LaneActions) -> Change:
        """What the actions will do to the items."""
        operation = actions.operation
        generates = operation == Operation.GEN
        left, right, pop = operation == Operation.LEFTARC, operation == Operation.RIGHTARC, operation == Operation.POP
        arc = left | right
        starts_word = generates & actions.starts_word
        goes = arc * (actions.distance + 1) + pop * (self.in_buffer + 1) + (generates ^ starts_word)
        lower = self.items - goes
        keeps_top = (pop & self.in_buffer) | right if self.keeps_right_dependent else pop & self.in_buffer
        return Change(
            generates=generates,
            starts_word=starts_word,
            left=left,
            arc=arc,
            removes=arc | pop,
            lower=lower,
            head=torch.where(left, self.items - 1, lower),
            keeps_top=keeps_top,
            items=lower + (generates | arc) + keeps_top,
        )

    def apply(self, actions: LaneActions, change: Change) -> None:
        """Carry out what `change` says."""
        lower, top = change.lower[:, None], (self.items - 1).clamp(min=0)[:, None]
        is_right = (change.arc ^ change.left)[:, None]
        run_below = self.run.gather(1, lower)
        top_right, top_run = self.right.gather(1, top), self.run.gather(1, top)
        # The head: after LEFTARC the former top; after RIGHTARC what it was, now with a right dependent. A new word: nothing.
        self.right.scatter_(1, lower, is_right | (change.left[:, None] & top_right))
        self.run.scatter_(1, lower, run_below * is_right)
        if self.keeps_right_dependent:
            new_top = (change.items - 1).clamp(min=0)[:, None]
            stays = change.keeps_top[:, None]
            self.right.scatter_(1, new_top, torch.where(stays, top_right, self.right.gather(1, new_top)))
            run = torch.where(is_right, run_below + 1, top_run)
            self.run.scatter_(1, new_top, torch.where(stays, run, self.run.gather(1, new_top)))
        if self.has_buffer:
            self.in_buffer = change.generates | (self.in_buffer & ~is_right[:, 0])
        self.last_operation = torch.where(actions.operation >= 0, actions.operation, self.last_operation)
        self.without_head = self.without_head + (change.starts_word.long() - change.arc.long())
        self.root_taken = self.root_taken | (change.arc & (change.head == 0))
        self.text_left = self.text_left - (change.starts_word & (self.text_left > 0)).long()
        self.items = change.items

    def widen(self, width: int) -> None:
        """Make room for `width` items."""
        self.right = pad_columns(self.right, width)
        self.run = pad_columns(self.run, width)


def legal(system: TransitionSystem, states: LaneStates) -> dict[Operation, Tensor]:
    """For each operation, (lanes, distances): where it is legal. Distances matter to arc-swift's arcs only."""
    known = [distance for distance in system.distances if distance is not None]
    far = torch.tensor(known or [1], device=states.items.device)
    near = far[:1]
    running = states.last != Operation.END
    verdicts = {}
    for operation, clauses in system.active_rules.items():
        arc = operation in (Operation.LEFTARC, Operation.RIGHTARC)
        k = far if arc else near
        verdict: Tensor = running & allows(clauses, states, k)
        verdicts[operation] = verdict.expand(-1, k.shape[0])
    return verdicts


def pad_columns(table: Tensor, width: int, value: int = 0) -> Tensor:
    """The table with columns of `value` added up to `width`."""
    return torch.nn.functional.pad(table, (0, max(0, width - table.shape[1])), value=value)
