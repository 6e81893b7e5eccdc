"""The log-partition function with its gradient, which is the arcs' marginals: arc scores in, log Z out.

The gradient is the outside pass, written out rather than left to autograd: it goes through the chart's widths from the
widest down, and each span hands what it is used to its splits in proportion to their share of its value.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from dtg.parser.crf.chart import LEFT, OPEN, RIGHT, Chart, by_word, fill, width_to_last


def log_partition(scores: Tensor, lengths: Tensor) -> Tensor:
    """(batch,) log Z of (batch, words, heads) scores, which are minus infinity where there is no arc."""
    total: Tensor = LogPartition.apply(scores, lengths)  # type: ignore[no-untyped-call]
    return total


class LogPartition(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, lengths: Tensor) -> Tensor:
        chart = fill(scores, lengths, torch.logsumexp)
        ctx.save_for_backward(chart.starts, chart.ends, chart.open, chart.roots, lengths)
        return chart.roots.logsumexp(0)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        *tables, lengths = ctx.saved_tensors
        return marginals(Chart(*tables), lengths) * gradient.view(-1, 1, 1), None


def marginals(chart: Chart, lengths: Tensor) -> Tensor:
    """(batch, words, heads) the probability of each arc; 0 everywhere in a sentence that has no tree."""
    words, batch = chart.roots.shape
    starts, ends = torch.zeros_like(chart.starts), torch.zeros_like(chart.ends)  # how much each part is used
    arcs = chart.open.new_zeros(2, words, words, batch)
    roots = (chart.roots - finite(chart.roots.logsumexp(0))).exp()
    starts[LEFT, 0] = roots
    starts[OPEN].scatter_(1, width_to_last(lengths, words), roots.unsqueeze(1))
    for width in range(words - 1, 0, -1):
        rest = words - width
        value = finite(chart.starts[::2, :rest, width]).unsqueeze(2)  # LEFT and RIGHT, as `fill` lays them out
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
