"""The softmax over the vocabulary, for the one token of each row that training asks about.

Logits become probabilities in place, a few rows at a time, which stay in the processor's cache; the backward pass only
reads these. As autograd would have it, the whole table is written five times.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

ROWS_AT_ONCE = 64  # of 8,192 float32: two megabytes


def target_log_probability(
    hidden: Tensor, weight: Tensor, target: Tensor, bias: Tensor | None, constants: Tensor, which: Tensor | None
) -> Tensor:
    """The log-softmax of `hidden @ weight.t() + bias + constant`, at one token of each row.

    Args:
        hidden: (rows, width).
        weight: (tokens, width).
        target: (rows,) the tokens asked for.
        bias: (tokens,), or None.
        constants: (kinds, tokens) has no gradient; minus infinity rules a token out.
        which: (rows,) the kind of each row; None where there is one.

    Returns:
        (rows,) in float32 at least.
    """
    device = hidden.device.type
    kind = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else hidden.dtype
    found: Tensor = TargetSoftmax.apply(  # type: ignore[no-untyped-call]
        hidden.to(kind), weight.to(kind), bias, target, constants, which
    )
    return found


class TargetSoftmax(torch.autograd.Function):
    """See `target_log_probability`; here `hidden` and `weight` have the type that matrices are multiplied in.

    The gradient of a row's logits is g (1 at the target - p), where g is that of its result: the factor g goes to the
    narrow side of the products, so that p is only read.
    """

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        target: Tensor,
        constants: Tensor,
        which: Tensor | None,
    ) -> Tensor:
        fine = torch.promote_types(hidden.dtype, torch.float32)
        added = (constants if bias is None else constants + bias).to(fine)  # (kinds, tokens)
        found = torch.empty(len(hidden), dtype=fine, device=hidden.device)
        with torch.autocast(hidden.device.type, enabled=False):
            table = hidden @ weight.t()  # of logits, then of probabilities
            for first in range(0, len(hidden), ROWS_AT_ONCE):
                rows = slice(first, first + ROWS_AT_ONCE)
                logits = table[rows].to(fine)
                logits.add_(added if which is None else added.index_select(0, which[rows]))
                at_target = logits.gather(1, target[rows, None])[:, 0]
                highest = logits.amax(1)
                probabilities = torch.softmax(logits, 1, out=logits)
                found[rows] = at_target - highest + probabilities.amax(1).log()  # the highest logit has the highest p
                table[rows] = probabilities
        ctx.save_for_backward(hidden, weight, target)
        ctx.probabilities, ctx.has_bias = table, bias is not None
        return found

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        hidden, weight, target = ctx.saved_tensors
        table, ctx.probabilities = ctx.probabilities, None  # is overwritten
        assert table is not None, "the gradient of a target's softmax is computed once"
        places = torch.arange(len(table), device=table.device) * table.shape[1] + target
        table.view(-1).index_add_(0, places, table.new_full((1,), -1).expand(len(places)))
        factor = -grad[:, None]
        of_hidden = (table @ weight * factor).to(hidden.dtype) if ctx.needs_input_grad[0] else None
        of_weight = table.t() @ (hidden * factor).to(hidden.dtype) if ctx.needs_input_grad[1] else None
        of_bias = (table.t() @ factor.to(table.dtype))[:, 0] if ctx.has_bias and ctx.needs_input_grad[2] else None
        return of_hidden, of_weight, of_bias, None, None, None
