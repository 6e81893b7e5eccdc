"""Derivations read off a chart, top down: many partial derivations side by side, each deciding one split a step.

Nothing here knows which trees a chart is of. A chart has *items* (spans of a kind), and an item can be split in several
ways into at most two smaller items; `ChartItems` says how. A derivation first makes a root choice, then splits the items
that are left, one by one. Each choice has a share: the log of its part of the value of all choices (in a chart of sums,
its log-probability; in a chart of best values, minus what it costs). Where a tree has exactly one derivation, the choices
open to a derivation divide its trees into disjoint sets.

Derivations share what they have in common: one that forks copies three numbers, neither its stack nor its history.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Parts:
    """The two items that a choice leaves, and whether each is there; one that cannot be split further is left out."""

    first: Tensor  # (rows,)
    has_first: Tensor  # (rows,)
    second: Tensor  # (rows,)
    has_second: Tensor  # (rows,)


@dataclass(frozen=True, slots=True)
class ChartItems(ABC):
    """The items of a batch of charts by number, and the ways to split each: what a grammar tells `Descent`.

    The splits of an item have consecutive numbers, and the value of a split is the sum of one entry of
    `first_values` and one of `second_values`, where the splits of an item stand one after another. The item `done` lies at the
    bottom of every stack: it has one split, which leaves no parts.
    """

    batch: int
    steps: int  # the most splits of any derivation
    done: int
    roots: Tensor  # (batch, roots) the shares of the root choices
    counts: Tensor  # (items,) how many splits an item has
    first_split: Tensor  # (items,) the number of its first split
    values: Tensor  # (items * batch,) what an item is worth
    stride: int  # how many entries of `first_values` and of `second_values` a sentence has
    first_values: Tensor  # (batch * stride,)
    first_begin: Tensor  # (items,) where an item's entries begin, in sentence 0
    second_values: Tensor  # (batch * stride,)
    second_begin: Tensor  # (items,)

    @abstractmethod
    def root_parts(self, root: Tensor) -> Parts:
        """What (batch, rows) root choices leave; flat."""

    @abstractmethod
    def parts(self, item: Tensor, split: Tensor) -> Parts:
        """What these (rows,) splits leave of (rows,) items."""


@dataclass(frozen=True, slots=True)
class Derivations:
    """One step of partial derivations, equally many for each sentence, sentence after sentence."""

    item: Tensor  # (rows,) what is split next
    below: Tensor  # (rows,) where in the descent's stacks the rest is
    parent: Tensor  # (rows,) backpointer: the row of the step before that each comes from ...
    split: Tensor  # (rows,) ... by this split of that row's item; in the first step, the root choice
    previous: Derivations | None  # the step before


@dataclass(frozen=True, slots=True)
class Choices:
    """All choices of all rows, row after row."""

    row: Tensor  # (choices,)
    value: Tensor  # (choices,) the row's value plus the choice's share
    shift: Tensor  # (rows,) from a choice's index to the number of its split
    offsets: Tensor  # (batch + 1,) where each sentence's choices begin


class Descent:
    """The derivations of a batch of charts, in which every sentence must have a tree; at most `rows` for each sentence."""

    def __init__(self, items: ChartItems, rows: int) -> None:
        self.items = items
        # A step pushes at most one item a row.
        size = 1 + items.steps * items.batch * rows
        self._stacks = items.counts.new_zeros(2, size)  # items, and what is below each
        self._stacks[0, 0] = items.done
        self._used = 1

    def begin(self, root: Tensor) -> Derivations:
        """Derivations with these (batch, rows) root choices."""
        root_choice = root.flatten()
        bottom = torch.zeros_like(root_choice)
        item, below = self._next(bottom, self.items.root_parts(root))
        return Derivations(item, below, bottom, root_choice, None)

    def is_finished(self, derivations: Derivations) -> bool:
        return bool((derivations.item == self.items.done).all())

    def choices(self, derivations: Derivations, value: Tensor) -> Choices:
        """What every row can do, given the (rows,) values that shares are added to."""
        items, item = self.items, derivations.item
        each = item.shape[0] // items.batch
        sentence = torch.arange(items.batch, device=item.device).repeat_interleave(each)
        counts = take(items.counts, item)
        ends = counts.cumsum(0)
        row = torch.repeat_interleave(counts)
        index, before = torch.arange(row.shape[0], device=item.device), ends - counts
        shift = sentence * items.stride - before
        value = take(value - take(items.values, item * items.batch + sentence), row)
        value += take(items.first_values, take(take(items.first_begin, item) + shift, row).add_(index))
        value += take(items.second_values, take(take(items.second_begin, item) + shift, row).add_(index))
        return Choices(row, value, take(items.first_split, item) - before, torch.cat([before[::each], ends[-1:]]))

    def follow(self, derivations: Derivations, choices: Choices, chosen: Tensor) -> Derivations:
        """The derivations that come of the (rows,) choices with these indices."""
        parent = take(choices.row, chosen)
        split = chosen + take(choices.shift, parent)
        parts = self.items.parts(take(derivations.item, parent), split)
        item, below = self._next(take(derivations.below, parent), parts)
        return Derivations(item, below, parent, split, derivations)

    def decisions(self, derivations: Derivations) -> Iterator[tuple[Tensor | None, Tensor]]:
        """(item, split) of every step of every row, the last first; at the end, None and the root choice."""
        row, step = torch.arange(derivations.item.shape[0], device=derivations.item.device), derivations
        while step.previous is not None:
            parent, split = take(step.parent, row), take(step.split, row)
            yield take(step.previous.item, parent), split
            row, step = parent, step.previous
        yield None, take(step.split, row)

    def _next(self, below: Tensor, parts: Parts) -> tuple[Tensor, Tensor]:
        """What to split next and what is below it: the second part, and the first pushed on top of `below`."""
        start, self._used = self._used, self._used + below.shape[0]
        self._stacks[0, start : self._used], self._stacks[1, start : self._used] = parts.first, below
        here = torch.arange(start, self._used, device=below.device)
        popped, its_below = (take(stack, below) for stack in self._stacks)
        has_first, has_second = parts.has_first, parts.has_second
        item = torch.where(has_second, parts.second, torch.where(has_first, parts.first, popped))
        return item, torch.where(has_second & has_first, here, torch.where(has_second | has_first, below, its_below))


def take(table: Tensor, index: Tensor) -> Tensor:
    """table[index] of one dimension, three times as fast."""
    return table.index_select(0, index)
