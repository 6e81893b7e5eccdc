"""Trees from a chart, top down: partial derivations of many sentences side by side, each deciding one split a step.

A derivation first chooses the root word, then splits the spans that it has still to split, one by one. Each choice has a
share: what it keeps of the value of all choices (of sums over trees, its log-probability; of best trees, minus what it
costs). Since a tree has one derivation, the choices open to a derivation divide its trees into sets that do not meet.

Derivations share what they have in common: one that forks copies three numbers, neither its stack nor its tree.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from dtg.parser.crf.chart import LEFT, RIGHT, Chart, Reduce
from dtg.parser.crf.spans import Spans, take


@dataclass(frozen=True, slots=True)
class Derivations:
    """Rows: so many for each sentence, one sentence after another."""

    span: Tensor  # (rows,) what is split next
    below: Tensor  # (rows,) where in the descent's stacks the rest is
    parent: Tensor  # (rows,) which row of the step before each comes from ...
    place: Tensor  # (rows,) ... by splitting that row's span here; at first, the root word
    previous: Derivations | None  # the step before


@dataclass(frozen=True, slots=True)
class Choices:
    """All choices of all rows, row after row."""

    row: Tensor  # (choices,)
    value: Tensor  # (choices,) the row's value plus the choice's share
    shift: Tensor  # (rows,) from a choice's number to its place, which splits between words p and p + 1, counted from 0
    offsets: Tensor  # (batch + 1,) where each sentence's choices begin


class Descent:
    """All ways down one chart, in which every sentence must have a tree, with at most `rows` derivations for each."""

    def __init__(self, chart: Chart, lengths: Tensor, reduce: Reduce, rows: int) -> None:
        self.words, self.batch = chart.roots.shape
        self.roots = (chart.roots - reduce(chart.roots, 0)).T  # (batch, words) the shares of the first choice
        self._last = lengths - 1
        self._spans = Spans.of(chart)
        # A step puts aside at most one span a row, and an arc takes at most two steps.
        self._stacks = lengths.new_zeros(2, 1 + 2 * self.words * self.batch * rows)  # spans, and what is below each
        self._stacks[0, 0] = self._spans.done
        self._used = 1

    def begin(self, root: Tensor) -> Derivations:
        """Derivations with these (batch, rows) root words, counted from 0."""
        last = self._last.unsqueeze(1).expand_as(root).flatten()
        root = torch.minimum(root.flatten(), last)  # beyond the sentence is chosen only by rows that stand for no tree
        bottom = torch.zeros_like(root)
        left, right = self._spans.number(LEFT, bottom, root), self._spans.number(RIGHT, root, last)
        span, below = self._next(bottom, left, root > 0, right, root < last)
        return Derivations(span, below, bottom, root, None)

    def finished(self, derivations: Derivations) -> bool:
        return bool((derivations.span == self._spans.done).all())

    def choices(self, derivations: Derivations, value: Tensor) -> Choices:
        """What every row can do, given the (rows,) values that shares are added to."""
        spans, span = self._spans, derivations.span
        each = span.shape[0] // self.batch
        sentence = torch.arange(self.batch, device=span.device).repeat_interleave(each)
        count = take(spans.count, span)
        ends = count.cumsum(0)
        row = torch.repeat_interleave(count)
        # A row's choices are its first place and the places after it, and their parts stand one after another too.
        number, before = torch.arange(row.shape[0], device=span.device), ends - count
        shift = sentence * spans.stride - before
        value = take(value - take(spans.values, span * self.batch + sentence), row)
        value += take(spans.first, take(take(spans.first_begin, span) + shift, row).add_(number))
        value += take(spans.second, take(take(spans.second_begin, span) + shift, row).add_(number))
        return Choices(row, value, take(spans.place, span) - before, torch.cat([before[::each], ends[-1:]]))

    def follow(self, derivations: Derivations, choices: Choices, chosen: Tensor) -> Derivations:
        """The derivations that come of the (rows,) choices with these numbers."""
        parent = take(choices.row, chosen)
        place = chosen + take(choices.shift, parent)
        spans, span = self._spans, take(derivations.span, parent)
        first = take(spans.first_part, span) + place
        second = take(spans.second_part, span) + place * self.words
        # A span of one word has no split, and what lies beneath an arc between neighbours has only one: both are left out.
        has_first, has_second = take(spans.place, span) < place, place + 1 < take(spans.last, span)
        span, below = self._next(take(derivations.below, parent), first, has_first, second, has_second)
        return Derivations(span, below, parent, place, derivations)

    def heads(self, derivations: Derivations) -> Tensor:
        """(batch, rows, words) the finished trees; 0 is `<ROOT>`."""
        rows = derivations.span.shape[0]
        heads = derivations.span.new_full((rows, self.words + 1), -1)
        row, step = torch.arange(rows, device=heads.device), derivations
        while step.previous is not None:
            parent, place = take(step.parent, row), take(step.place, row)
            dependent, head = self._spans.arc(take(step.previous.span, parent), place)
            heads.scatter_(1, dependent.unsqueeze(1), head.unsqueeze(1))
            row, step = parent, step.previous
        heads.scatter_(1, take(step.place, row).unsqueeze(1), 0)
        return heads[:, :-1].view(self.batch, -1, self.words)  # the last column took the choices that make no arc

    def _next(
        self, below: Tensor, later: Tensor, has_later: Tensor, soon: Tensor, has_soon: Tensor
    ) -> tuple[Tensor, Tensor]:
        """What to split next and what is below it, given two new spans, where there are such, on top of `below`."""
        start, self._used = self._used, self._used + below.shape[0]
        self._stacks[0, start : self._used], self._stacks[1, start : self._used] = later, below
        here = torch.arange(start, self._used, device=below.device)
        popped, its_below = (take(stack, below) for stack in self._stacks)
        span = torch.where(has_soon, soon, torch.where(has_later, later, popped))
        return span, torch.where(has_soon & has_later, here, torch.where(has_soon | has_later, below, its_below))
