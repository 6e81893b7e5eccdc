"""The chart of n-ary phrase-structure trees, all spans of one width at a time: log-partition function and span marginals.

A tree is a labelled constituent, and a constituent of two words or more has two children or more, each a bare word or a
constituent. Three values are kept of words i..j:

    COMPLETE(i, j)    one child: the score of the span + CHILDREN(i, j); of a single word, with its span or without it
    CHILDREN(i, j)    two children or more: SEQUENCE(i, p) + COMPLETE(p + 1, j), for each p, i <= p < j
    SEQUENCE(i, j)    one child or more: COMPLETE(i, j), or CHILDREN(i, j) as it is

The last child of a sequence is split off whole, so every tree is derived in exactly one way. As COMPLETE is CHILDREN with the
span's score, SEQUENCE is CHILDREN with or without it: one sum over splits is enough for all three. The score of a span here
is that of all its labels together; labels are a sum, or a maximum, of their own.

As in `eisner`, the two parts of a split stand in two tables such that those of all spans of one width are two rectangles:
spans of width w = j - i use starts[:n - w, :w] + ends[w:, n - w:]. The batch comes last. The gradient is the outside pass,
written out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from dtg.parser.crf.eisner import Reduce


@dataclass(frozen=True, slots=True)
class SpanChart:
    """Values in the log domain. Entries that no span uses are 0."""

    spans: Tensor  # (words, widths, batch) the score of each span, by first word and width, as given
    starts: Tensor  # (words, widths, batch) SEQUENCE by first word and width
    ends: Tensor  # (words, splits, batch) COMPLETE by last word; of width w, at words - 1 - w
    children: Tensor  # (words, widths, batch) CHILDREN by first word and width; 0 for single words
    total: Tensor  # (batch,) the value of all trees


def fill_span_chart(spans: Tensor, lengths: Tensor, reduce: Reduce) -> SpanChart:
    """The chart of (batch, words, words) spans by first and last word. Nothing here is recorded for autograd."""
    batch, words, _ = spans.shape
    scores = by_width(spans)
    either = with_or_without(scores, reduce)
    starts, ends, children = scores.new_zeros(3, words, words, batch).unbind()
    starts[:, 0] = ends[:, words - 1] = either[:, 0]
    for width in range(1, words):
        rest = words - width
        value = reduce(starts[:rest, :width] + ends[width:, rest:], 1)
        children[:rest, width] = value
        starts[:rest, width] = value + either[:rest, width]
        ends[width:, rest - 1] = value + scores[:rest, width]
    whole = (lengths - 1).unsqueeze(0)
    total = scores[0].gather(0, whole) + children[0].gather(0, whole)
    return SpanChart(scores, starts, ends, children, total.squeeze(0))


def with_or_without(scores: Tensor, reduce: Reduce) -> Tensor:
    """What words are worth that may be a constituent with these scores or not."""
    return reduce(torch.stack([scores, torch.zeros_like(scores)]), 0)


def by_width(spans: Tensor) -> Tensor:
    """(batch, words, words) by first and last word as (words, widths, batch) by first word and width; 0 past the end."""
    words = spans.shape[1]
    first = torch.arange(words, device=spans.device).unsqueeze(1)
    last = first + torch.arange(words, device=spans.device)
    found = spans.permute(1, 2, 0)[first, last.clamp(max=words - 1)]
    return torch.where((last < words).unsqueeze(2), found, 0)


def by_last_word(spans: Tensor) -> Tensor:
    """The way back: (words, widths, batch) to (batch, words, words), 0 where the last word comes before the first."""
    words = spans.shape[0]
    word = torch.arange(words, device=spans.device)
    width = word - word.unsqueeze(1)
    found = spans[word.unsqueeze(1), width.clamp(min=0)]
    return torch.where((width >= 0).unsqueeze(2), found, 0).permute(2, 0, 1)


def span_log_partition(spans: Tensor, lengths: Tensor) -> Tensor:
    """(batch,) log Z of (batch, words, words) spans, of which those past the end of a sentence are finite."""
    total: Tensor = SpanLogPartition.apply(spans, lengths)  # type: ignore[no-untyped-call]
    return total


class SpanLogPartition(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, spans: Tensor, lengths: Tensor) -> Tensor:
        chart = fill_span_chart(spans, lengths, torch.logsumexp)
        ctx.save_for_backward(chart.spans, chart.starts, chart.ends, chart.children, chart.total, lengths)
        return chart.total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        *tables, lengths = ctx.saved_tensors
        return span_marginals(SpanChart(*tables), lengths) * gradient.view(-1, 1, 1), None


def span_marginals(chart: SpanChart, lengths: Tensor) -> Tensor:
    """(batch, words, words) the probability that first to last word are a constituent; 0 in a sentence without trees."""
    words = chart.spans.shape[0]
    starts, ends = torch.zeros_like(chart.starts), torch.zeros_like(chart.ends)  # how much each part is used
    has_tree = (chart.total > -torch.inf).to(chart.spans.dtype)
    roots = torch.zeros_like(chart.starts[0]).scatter_(0, (lengths - 1).unsqueeze(0), has_tree.unsqueeze(0))
    found = torch.zeros_like(chart.starts)
    share = chart.spans.sigmoid()  # of the trees with a span among those with it or without it
    for width in range(words - 1, 0, -1):
        rest = words - width
        complete = ends[width:, rest - 1].clone()
        complete[0] += roots[width]
        sequence = starts[:rest, width]
        found[:rest, width] = complete + sequence * share[:rest, width]
        shares = (chart.starts[:rest, :width] + chart.ends[width:, rest:]).sub_(
            chart.children[:rest, width].unsqueeze(1)
        )
        shares = shares.exp_().mul_((complete + sequence).unsqueeze(1))
        starts[:rest, :width] += shares
        ends[width:, rest:] += shares
    found[:, 0] = (starts[:, 0] + ends[:, words - 1]) * share[:, 0]
    found[0, 0] += roots[0]
    return by_last_word(found)
