"""A transition system's state for many lanes at once (sentences in training, hypotheses in search), as integer tensors.

One action per lane goes in; each lane's stack of items changes accordingly. An item is a word or a word with what it has
absorbed; items are numbered from the bottom, `<ROOT>` is item 0, and a word in the buffer head is the topmost item. The
clauses of `rules.py` read these tensors through the same names as a single `State`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import torch
from torch import Tensor

from dtg.transitions.action import Operation
from dtg.transitions.rules import Features, allows
from dtg.transitions.system import TransitionSystem

IDLE = -1  # in place of an operation: nothing happens in this lane


class LaneActions(NamedTuple):
    """One action for each lane, and what follows from the action alone. Every field is a column, (lanes, 1)."""

    operation: Tensor  # an Operation, or IDLE
    piece: Tensor  # what GEN generates
    distance: Tensor  # of an arc; 1 where arcs carry none
    taken: Tensor  # items taken off before one is put in: by an arc, a POP, or a piece that joins its word's item
    headless_more: Tensor  # words without a head: one more where one begins, one less after an arc
    rows_added: Tensor  # 2 for an arc, 1 for GEN and POP (in families that double arcs)
    arcs: Tensor  # 1 for an arc, else 0
    generated: Tensor  # 1 for GEN, else 0
    idle: Tensor  # bool, and so are the rest
    generates: Tensor
    starts_word: Tensor  # GEN begins a word, rather than going on with one
    left: Tensor
    right: Tensor
    arc: Tensor
    pop: Tensor
    removes: Tensor  # an arc or a POP
    puts_in: Tensor  # GEN or an arc
    adds_row: Tensor  # anything but <END> and IDLE

    @classmethod
    def of(cls, operation: Tensor, piece: Tensor, starts_word: Tensor, distance: Tensor) -> LaneActions:
        """From (lanes,) operations, the pieces that GEN generates, whether they start a word, and distances of arcs."""
        return next(cls.steps(operation, piece, starts_word, distance, [operation.shape[0]]))

    @classmethod
    def steps(
        cls, operation: Tensor, piece: Tensor, starts_word: Tensor, distance: Tensor, lanes: list[int]
    ) -> Iterator[LaneActions]:
        """The same for several steps, given one after another; `lanes` says how many lanes each has."""
        generates = operation == Operation.GEN
        starts_word = generates & starts_word
        left, right, pop = operation == Operation.LEFTARC, operation == Operation.RIGHTARC, operation == Operation.POP
        arc = left | right
        taken = arc * (distance + 1) + pop + (generates & ~starts_word)
        rows_added = 2 * arc.long() + generates + pop
        headless_more = starts_word.long() - arc.long()
        numbers = [operation, piece, distance, taken, headless_more, rows_added, arc.long(), generates.long()]
        flags = [operation == IDLE, generates, starts_word, left, right, arc, pop, arc | pop, generates | arc]
        # As two tables, so that a step is cut out of all columns at once.
        by_number = torch.split(torch.stack(numbers)[:, :, None], lanes, dim=1)
        by_flag = torch.split(torch.stack([*flags, generates | arc | pop])[:, :, None], lanes, dim=1)
        for some_numbers, some_flags in zip(by_number, by_flag, strict=True):
            yield cls(*some_numbers.unbind(0), *some_flags.unbind(0))


class Change(NamedTuple):
    """What an action does to a lane's items: those from `lower` up go, one may be put there, the topmost may stay.

    Every field is a column, (lanes, 1).
    """

    top: Tensor  # the topmost item
    lower: Tensor  # the item that GEN adds to, or the lowest that an arc or POP takes away
    head: Tensor  # the item that an arc makes the head
    keeps_top: Tensor | None  # bool: the topmost item stays, above what is put in; None where it never does
    new_top: Tensor  # the topmost item afterwards; -1 if there is none


class Tensors:
    """Dataclasses of tensors whose first dimension is lanes, possibly nested."""

    def fork(self, parents: Tensor) -> Self:
        """New lanes, each a copy of the lane named in `parents`."""
        return self._of_each(lambda tensor: tensor.index_select(0, parents))

    def first(self, count: int) -> Self:
        """The first `count` lanes, sharing memory with these."""
        return self._of_each(lambda tensor: tensor[:count])

    @classmethod
    def cat(cls, parts: Sequence[Self]) -> Self:
        """The lanes of several one after another; what is not a tensor is taken from the first."""
        values = {name: getattr(parts[0], name) for name in cls.__dataclass_fields__}
        for name, value in values.items():
            if isinstance(value, Tensor):
                values[name] = torch.cat([getattr(part, name) for part in parts])
            elif isinstance(value, Tensors):
                values[name] = type(value).cat([getattr(part, name) for part in parts])
        return cls(**values)

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
    """The `Features` of every lane, and what is needed to keep them up to date. Numbers are columns, (lanes, 1)."""

    has_buffer: bool
    keeps_right_dependent: bool
    items: Tensor  # the buffer head included
    buffered: Tensor  # bool
    last: Tensor
    headless: Tensor
    root_has_word: Tensor  # bool
    words_left: Tensor
    notes: (
        Tensor  # (lanes, items) of each item: where RIGHTARC keeps the dependent, how many items have heads from this
    )
    # one down; elsewhere, 1 if it has a right dependent. Each is what that kind of system's rules need.

    @classmethod
    def begin(cls, system: TransitionSystem, words_left: Tensor, width: int) -> LaneStates:
        """Every lane with `<ROOT>` alone; `words_left` (lanes,) is -1 where the text is not known."""
        zero = torch.zeros_like(words_left, dtype=torch.long)[:, None]
        return cls(
            has_buffer=system.has_buffer,
            keeps_right_dependent=system.keeps_right_dependent,
            items=zero + 1,
            buffered=zero.bool(),
            last=zero - 1,
            headless=zero,
            root_has_word=zero.bool(),
            words_left=words_left.long()[:, None],
            notes=zero.repeat(1, width),
        )

    @property
    def depth(self) -> Tensor:
        return self.items - self.buffered.long()

    @property
    def top_has_right_dependent(self) -> Tensor:
        return self._note_of_top()

    @property
    def headed_run(self) -> Tensor:
        return self._note_of_top()

    def _note_of_top(self) -> Tensor:
        return self.notes.gather(1, (self.depth - 1).clamp(min=0))

    def change(self, actions: LaneActions) -> Change:
        """What the actions will do to the items."""
        top = self.items - 1
        lower = self.items - actions.taken
        keeps_top = None
        new_top = lower + actions.puts_in - 1
        if self.keeps_right_dependent:
            pop_below = actions.pop & self.buffered
            below = pop_below.long()
            lower = lower - below
            keeps_top = actions.right | pop_below
            new_top = new_top + keeps_top - below
        return Change(top, lower, torch.where(actions.left, top, lower), keeps_top, new_top)

    def apply(self, actions: LaneActions, change: Change) -> None:
        """Carry out what `change` says."""
        if change.keeps_top is not None:
            below = self.notes.gather(1, change.lower)
            # LEFTARC's head is in the buffer and has no head; RIGHTARC's keeps what is known of it; a new word is headless.
            self.notes.scatter_(1, change.lower, below * actions.right)
            new_top = change.new_top.clamp(min=0)
            run = torch.where(change.keeps_top, (below + 1) * actions.right, self.notes.gather(1, new_top))
            self.notes.scatter_(1, new_top, run)
        else:
            had_one = self.notes.gather(1, change.top) * actions.left
            self.notes.scatter_(1, change.lower, had_one + actions.right)
        if self.has_buffer:
            self.buffered = actions.generates | (self.buffered & ~actions.right)
        self.last = torch.where(actions.idle, self.last, actions.operation)
        self.headless = self.headless + actions.headless_more
        self.root_has_word = self.root_has_word | (actions.arc & (change.head == 0))
        self.words_left = self.words_left - (actions.starts_word & (self.words_left > 0)).long()
        self.items = change.new_top + 1

    def features(self) -> Tensor:
        """(lanes, 6) all that the clauses ask of a lane, but for the words left; see `FeatureTable`."""
        columns = (self.depth, self.buffered, self.headless, self.root_has_word, self.last, self._note_of_top())
        return torch.cat(columns, dim=1)

    def widen(self, width: int) -> None:
        """Make room for `width` items."""
        self.notes = pad_columns(self.notes, width)


class FeatureTable:
    """The `Features` of states, from columns that were kept of them (`LaneStates.features`).

    How many words are left is said here, for all of them or (states, 1) each: -1 is a text that is not known.
    """

    def __init__(self, table: Tensor, words_left: int | Tensor = -1) -> None:
        self.depth, self.buffered, self.headless, self.root_has_word, self.last, note = torch.split(table, 1, dim=1)
        self.top_has_right_dependent = self.headed_run = note
        self.words_left = words_left


def legal(system: TransitionSystem, states: Features) -> dict[Operation, Tensor]:
    """For each operation, (lanes, distances): where it is legal. Distances matter to arc-swift's arcs only."""
    known = [distance for distance in system.distances if distance is not None]
    far = torch.tensor(known or [1], device=states.last.device)
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
