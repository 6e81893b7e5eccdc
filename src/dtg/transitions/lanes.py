"""States of a transition system for many lanes at once (sentences in training, hypotheses in search), as integer tensors.

One action per lane goes in; each lane's stack of items changes accordingly. An item is a word, or a word or phrase with what
it has absorbed; items are numbered from the bottom, `<ROOT>` is item 0, and a word in the buffer head is the topmost item.
Each system has a `LaneStates` of its own, in its own file; its rules read these tensors through the same names as a
single `State`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, cast

import torch
from torch import Tensor

from dtg.transitions.action import NOTHING, Operation
from dtg.transitions.rules import allows
from dtg.transitions.table import ActionTable

if TYPE_CHECKING:
    from dtg.transitions.system import TransitionSystem


class LaneActions(NamedTuple):
    """One action for each lane, and what follows from the action alone. Every tensor is a column, (lanes, 1)."""

    does: Mapping[Operation, Tensor]  # for each operation of the system, whether it is this one
    id: Tensor  # in the system's `ActionTable`, or NOTHING: the lane waits
    piece: Tensor  # what GEN generates
    started: Tensor  # 1 for GEN that begins a word, else 0
    headless_more: Tensor  # words without a head: one more where one begins, one less after an action that composes
    operation: Tensor  # or NOTHING
    argument: Tensor  # as a number; 1 where there is none
    taken: (
        Tensor  # items taken off before one is put in, by the action itself or by a subword that joins its word's item
    )
    rows_added: Tensor  # in families that compose: 2 for an action that does, 1 for others that add a row
    composed: Tensor  # 1 for an action that composes, else 0
    pushed: Tensor  # 1 for an action whose row goes onto the stack, else 0
    starts_word: Tensor  # bool, and so are the rest: GEN begins a word, rather than continuing one
    starts_item: Tensor  # a row is pushed that is the first of its item
    idle: Tensor
    generates: Tensor
    pushes: Tensor
    composes: Tensor
    removes: Tensor  # rows leave the stack
    puts_in: Tensor
    adds_row: Tensor  # anything but <END> and waiting

    @classmethod
    def of(cls, table: ActionTable, ids: Tensor, piece: Tensor, starts_word: Tensor) -> LaneActions:
        """From (lanes,) ids of actions, the subwords that GEN generates, and whether they start a word."""
        return next(cls.steps(table, ids, piece, starts_word, [ids.shape[0]]))

    @classmethod
    def steps(
        cls, table: ActionTable, ids: Tensor, piece: Tensor, starts_word: Tensor, lanes: list[int]
    ) -> Iterator[LaneActions]:
        """The same for several steps, given one after another; `lanes` says how many lanes each has."""
        tensors = table.on(ids.device)
        known, flags = tensors.numbers[:, ids], tensors.flags[:, ids]
        generates, pushes = flags[1], flags[2]
        continues = generates & ~starts_word
        starts_word = generates & starts_word
        known[2] += continues  # a subword within a word takes the word's item and puts it in again
        # As two tables, so that a step is cut out of all columns at once.
        started = starts_word.long()
        numbers = torch.cat([torch.stack([ids, piece, started, started - known[4]]), known])
        by_number = torch.split(numbers[:, :, None], lanes, dim=1)
        own = torch.stack([starts_word, pushes & ~continues])
        by_flag = torch.split(torch.cat([own, flags])[:, :, None], lanes, dim=1)
        for some_numbers, some_flags in zip(by_number, by_flag, strict=True):
            columns = some_flags.unbind(0)
            does = dict(zip(table.operations, columns[9:], strict=True))
            yield cls(does, *some_numbers.unbind(0), *columns[:9])


class Change(NamedTuple):
    """What an action does to a lane's items: those from `lower` up go, one may be put there, the topmost may stay.

    Every field is a column, (lanes, 1).
    """

    top: Tensor  # the topmost item
    lower: Tensor  # the item that GEN adds to, or the lowest that an arc or POP takes away
    head: Tensor  # the item that an arc makes the head
    keeps_top: Tensor | None  # bool: the topmost item stays, above what is put in; None where it never does
    new_top: Tensor  # the topmost item afterwards; -1 if there is none


@cache
def field_names(kind: Hashable) -> tuple[str, ...]:
    """The fields of a dataclass, in order."""
    return tuple(field.name for field in fields(cast(Any, kind)))


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
        values = {name: getattr(parts[0], name) for name in field_names(cast(Hashable, cls))}
        for name, value in values.items():
            if isinstance(value, Tensor):
                values[name] = torch.cat([getattr(part, name) for part in parts])
            elif isinstance(value, Tensors):
                values[name] = type(value).cat([getattr(part, name) for part in parts])
        return cls(**values)

    def _of_each(self, change: Callable[[Tensor], Tensor]) -> Self:
        values = {name: getattr(self, name) for name in field_names(cast(Hashable, type(self)))}
        for name, value in values.items():
            if isinstance(value, Tensor):
                values[name] = change(value)
            elif isinstance(value, Tensors):
                values[name] = value._of_each(change)
        return type(self)(**values)


@dataclass(slots=True)
class LaneStates(Tensors):
    """What a system knows of every lane: columns, (lanes, 1), and tables with a column for each item, (lanes, width)."""

    items: Tensor  # the buffer head included
    last: Tensor  # the operation of the last action
    words_left: Tensor

    feature_names: ClassVar[tuple[str, ...]]  # what `features` has columns of; `last` is always among them
    tables: ClassVar[tuple[str, ...]] = ()  # the fields that have a column for each item

    @classmethod
    def begin(cls, words_left: Tensor, width: int) -> Self:
        """Every lane with `<ROOT>` alone; `words_left` (lanes,) is -1 where the text is not known."""
        zero = torch.zeros_like(words_left, dtype=torch.long)[:, None]
        others = {
            name: zero.repeat(1, width) if name in cls.tables else zero
            for name in field_names(cast(Hashable, cls))
            if name not in ("items", "last", "words_left")
        }
        return cls(items=zero + 1, last=zero + NOTHING, words_left=words_left.long()[:, None], **others)

    @abstractmethod
    def change(self, actions: LaneActions) -> Change:
        """What the actions will do to the items."""

    @abstractmethod
    def apply(self, actions: LaneActions, change: Change) -> None:
        """Carry out what `change` says."""

    def record(self, actions: LaneActions, change: Change) -> None:
        """What `apply` does in every system: remember the action, count words and items."""
        self.last = torch.where(actions.idle, self.last, actions.operation)
        self.words_left = self.words_left - (actions.started & (self.words_left > 0))
        self.items = change.new_top + 1

    def features(self) -> Tensor:
        """(lanes, features) all that the clauses ask of a lane, but for the words left; see `FeatureTable`."""
        return torch.cat([getattr(self, name) for name in self.feature_names], dim=1)

    @property
    def stack_depth(self) -> Tensor:
        """(lanes, 1) words or phrases on the stack, `<ROOT>` not counted."""
        return self.items - 1

    def widen(self, width: int) -> None:
        """Make room for `width` items."""
        for name in self.tables:
            setattr(self, name, pad_columns(getattr(self, name), width))


class FeatureTable:
    """The features of states, from columns that were kept of them (`LaneStates.features`).

    How many words are left is said here, for all of them or (states, 1) each: -1 is a text that is not known.
    """

    last: Tensor

    def __init__(self, names: Sequence[str], table: Tensor, words_left: int | Tensor = -1) -> None:
        for name, column in zip(names, torch.split(table, 1, dim=1), strict=True):
            setattr(self, name, column)
        self.words_left = words_left


def legal(system: TransitionSystem, states: LaneStates | FeatureTable) -> Tensor:
    """(lanes, ids) where each action is legal."""
    running = states.last != Operation.END
    arguments = system.table.on(states.last.device).arguments
    verdicts = []
    for operation in system.table.operations:
        k = arguments[operation]
        verdict: Tensor = running & allows(system.active_rules[operation], states, k)
        verdicts.append(verdict.expand(-1, k.shape[0]))
    return torch.cat(verdicts, dim=1)


def pad_columns(table: Tensor, width: int, value: int = 0) -> Tensor:
    """The table with columns of `value` added up to `width`."""
    return torch.nn.functional.pad(table, (0, max(0, width - table.shape[1])), value=value)
