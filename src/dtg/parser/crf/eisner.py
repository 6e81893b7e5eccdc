"""Eisner's algorithm: the chart of all spans, all of one width at a time, the log-partition function and the arcs' marginals.

There are three kinds of spans over words i..j (Eisner 1996, 2000); each splits in one way at each split point p, i <= p < j:

    LEFT    j and all its dependents back to i     LEFT(i, p)  +  the arc j -> p over OPEN(p, j)
    RIGHT   i and all its dependents up to j       the arc i -> p + 1 over OPEN(i, p + 1)  +  RIGHT(p + 1, j)
    OPEN    what lies beneath an arc of i and j    RIGHT(i, p)  +  LEFT(p + 1, j)

A tree is its root word r with LEFT(1, r) and RIGHT(r, n). LEFT and RIGHT split off the outermost dependent and OPEN has
one point where the two sides meet, so every tree is derived in exactly one way. `<ROOT>` is no word of the chart: it can
have no second dependent.

The two parts of a split stand in two tables so laid out that the parts of all spans of one width, at all their splits, are
two rectangles: spans of width w = j - i use starts[:, :n - w, :w] + ends[:, w:, n - w:]. The batch comes last, where it
makes long runs in memory.

The gradient of the log-partition function is the arcs' marginals: the outside pass, written out rather than left to
autograd. It visits the widths from the widest down, and each span passes on how much it is used to its splits, by their
shares of its value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

Reduce = Callable[[Tensor, int], Tensor]  # over the splits: logsumexp for sums over trees, amax for the best tree

LEFT, RIGHT, OPEN = 0, 1, 2  # the kinds, and where their parts stand in `starts` and `ends`


@dataclass(frozen=True, slots=True)
class EisnerChart:
    """Values in the log domain. Entries that no span uses are 0."""

    starts: Tensor  # (3, words, splits, batch) first parts of LEFT, RIGHT, OPEN by the span's first word
    ends: Tensor  # (3, words, splits, batch) second parts, by the last word; a span of width w uses the last w splits
    open: Tensor  # (words, widths, batch) OPEN by first word and width
    roots: Tensor  # (words, batch) the value of all trees with this root word

    @property
    def left(self) -> Tensor:
        """(words, widths, batch) LEFT by first word and width: it is LEFT's own first part."""
        return self.starts[LEFT]

    @property
    def right(self) -> Tensor:
        """(words, widths, batch) RIGHT by first word and width: it is OPEN's first part."""
        return self.starts[OPEN]


def fill_chart(scores: Tensor, lengths: Tensor, reduce: Reduce) -> EisnerChart:
    """The chart of (batch, words, heads) scores; head 0 is `<ROOT>`. Nothing here is recorded for autograd."""
    batch, words, _ = scores.shape
    arcs = by_width(scores[:, :, 1:])
    starts, ends = scores.new_zeros(2, 3, words, words, batch).unbind()
    beneath = scores.new_zeros(words, words, batch)
    for width in range(1, words):
        rest = words - width
        value = reduce(starts[OPEN, :rest, :width] + ends[OPEN, width:, rest:], 1)
        beneath[:rest, width] = value
        ends[LEFT, width:, rest] = value + arcs[0, width, :rest]
        starts[RIGHT, :rest, width - 1] = value + arcs[1, width, :rest]
        value = reduce(starts[:OPEN, :rest, :width] + ends[:OPEN, width:, rest:], 2)
        starts[::2, :rest, width] = value  # LEFT and RIGHT, which are the first parts of LEFT and OPEN
        ends[1:, width:, rest - 1] = value.flip(0)  # RIGHT and LEFT, which are the second parts of RIGHT and OPEN
    up_to_last = starts[OPEN].gather(1, width_to_last(lengths, words)).squeeze(1)
    roots = scores[:, :, 0].T + starts[LEFT, 0] + up_to_last  # minus infinity for padding, whose scores are that
    return EisnerChart(starts, ends, beneath, roots)


def width_to_last(lengths: Tensor, words: int) -> Tensor:
    """(words, 1, batch) how far the sentence's last word is from each word; 0 past the end."""
    word = torch.arange(words, device=lengths.device).unsqueeze(1)
    return (lengths - 1 - word).clamp(min=0).unsqueeze(1)


def by_width(arcs: Tensor) -> Tensor:
    """(batch, words, words) scores of head h for word m as (2, width, first word, batch): arcs to the left, to the right."""
    words = arcs.shape[1]
    first = torch.arange(words, device=arcs.device)
    last = (first + first.unsqueeze(1)).clamp(max=words - 1)  # (width, first): past the end anything will do
    flat = arcs.permute(1, 2, 0)
    return torch.stack([flat[first, last], flat[last, first]])


def by_word(arcs: Tensor) -> Tensor:
    """The way back: (2, width, first word, batch) to (batch, words, words)."""
    words = arcs.shape[1]
    head = torch.arange(words, device=arcs.device)
    word = head.unsqueeze(1)
    return arcs[(head < word).long(), (head - word).abs(), torch.minimum(head, word)].permute(2, 0, 1)


def log_partition(scores: Tensor, lengths: Tensor) -> Tensor:
    """(batch,) log Z of (batch, words, heads) scores, which are minus infinity where there is no arc."""
    total: Tensor = LogPartition.apply(scores, lengths)  # type: ignore[no-untyped-call]
    return total


class LogPartition(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, lengths: Tensor) -> Tensor:
        chart = fill_chart(scores, lengths, torch.logsumexp)
        ctx.save_for_backward(chart.starts, chart.ends, chart.open, chart.roots, lengths)
        return chart.roots.logsumexp(0)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        *tables, lengths = ctx.saved_tensors
        return marginals(EisnerChart(*tables), lengths) * gradient.view(-1, 1, 1), None


def marginals(chart: EisnerChart, lengths: Tensor) -> Tensor:
    """(batch, words, heads) the probability of each arc; 0 everywhere in a sentence that has no tree."""
    words, batch = chart.roots.shape
    starts, ends = torch.zeros_like(chart.starts), torch.zeros_like(chart.ends)  # how much each part is used
    arcs = chart.open.new_zeros(2, words, words, batch)
    roots = (chart.roots - finite(chart.roots.logsumexp(0))).exp()
    starts[LEFT, 0] = roots
    starts[OPEN].scatter_(1, width_to_last(lengths, words), roots.unsqueeze(1))
    for width in range(words - 1, 0, -1):
        rest = words - width
        value = finite(chart.starts[::2, :rest, width]).unsqueeze(2)  # LEFT and RIGHT, as `fill_chart` lays them out
        used = starts[::2, :rest, width] + ends[1:, width:, rest - 1].flip(0)
        shares = (chart.starts[:OPEN, :rest, :width] + chart.ends[:OPEN, width:, rest:]).sub_(value)
        shares = shares.exp_().mul_(used.unsqueeze(2))
        starts[:OPEN, :rest, :width] += shares
        ends[:OPEN, width:, rest:] += shares
        arcs[0, width, :rest] = ends[LEFT, width:, rest]
        arcs[1, width, :rest] = starts[RIGHT, :rest, width - 1]
        used = arcs[:, width, :rest].sum(0)
        value = finite(chart.open[:rest, width]).unsqueeze(1)
        shares = (chart.starts[OPEN, :rest, :width] + chart.ends[OPEN, width:, rest:]).sub_(value)
        shares = shares.exp_().mul_(used.unsqueeze(1))
        starts[OPEN, :rest, :width] += shares
        ends[OPEN, width:, rest:] += shares
    return torch.cat([roots.T.unsqueeze(2), by_word(arcs)], dim=2)


def finite(values: Tensor) -> Tensor:
    """Minus infinity as the lowest number: a span without trees then has splits of share 0, not NaN."""
    return values.clamp(min=torch.finfo(values.dtype).min)
