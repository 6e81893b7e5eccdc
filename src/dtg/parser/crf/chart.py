"""The inside chart of Eisner's algorithm: arc scores in, the value of every span out, all spans of one width at a time.

There are three kinds of spans over words i..j (Eisner 1996, 2000), and each splits in one way for each place p, i <= p < j:

    LEFT    j and all its dependents back to i     LEFT(i, p)  +  the arc j -> p over OPEN(p, j)
    RIGHT   i and all its dependents up to j       the arc i -> p + 1 over OPEN(i, p + 1)  +  RIGHT(p + 1, j)
    OPEN    what lies beneath an arc of i and j    RIGHT(i, p)  +  LEFT(p + 1, j)

A tree is its root word r with LEFT(1, r) and RIGHT(r, n). LEFT and RIGHT split off the outermost dependent and OPEN has
one place where the two sides meet, so every tree is derived in exactly one way. `<ROOT>` is no word of the chart: it can
have no second dependent.

The two parts of a split stand in two tables so laid out that the parts of all spans of one width, at all their splits, are
two rectangles: spans of width w = j - i use starts[:, :n - w, :w] + ends[:, w:, n - w:]. The batch comes last, where it
makes long runs in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

Reduce = Callable[[Tensor, int], Tensor]  # over the splits: logsumexp for sums over trees, amax for the best tree

LEFT, RIGHT, OPEN = 0, 1, 2  # the kinds, and where their parts stand in `starts` and `ends`


@dataclass(frozen=True, slots=True)
class Chart:
    """Values in the log domain. Places that no span uses hold 0."""

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


def fill(scores: Tensor, lengths: Tensor, reduce: Reduce) -> Chart:
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
    return Chart(starts, ends, beneath, roots)


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
