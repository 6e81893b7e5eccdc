"""The softmax over the vocabulary, for the one token of each row that training asks about.

Logits are written once, a few rows at a time, which stay in the processor's cache while they become exponentials; the
backward pass makes gradients of these in place. As autograd would have it, the whole table is written five times.
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
    """See `target_log_probability`; here `hidden` and `weight` have the type that matrices are multiplied in."""

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
        table = (constants if bias is None else constants + bias).to(fine)
        exponentials = torch.empty((len(hidden), len(weight)), dtype=fine, device=hidden.device)
        sums = torch.empty(len(hidden), dtype=fine, device=hidden.device)
        found = torch.empty_like(sums)
        with torch.autocast(hidden.device.type, enabled=False):
            for first in range(0, len(hidden), ROWS_AT_ONCE):
                rows = slice(first, first + ROWS_AT_ONCE)
                logits = exponentials[rows]
                logits.copy_(table.expand_as(logits) if which is None else table.index_select(0, which[rows]))
                if hidden.dtype == fine:
                    logits.addmm_(hidden[rows], weight.t())
                else:
                    logits.add_(hidden[rows] @ weight.t())
                highest = logits.amax(1, keepdim=True)
                logits.sub_(highest)
                at_target = logits.gather(1, target[rows, None])[:, 0]
                sums[rows] = logits.exp_().sum(1)
                found[rows] = at_target - sums[rows].log()
        ctx.save_for_backward(hidden, weight, target, sums)
        ctx.exponentials, ctx.has_bias = exponentials, bias is not None
        return found

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        hidden, weight, target, sums = ctx.saved_tensors
        of_logits, ctx.exponentials = ctx.exponentials, None  # is overwritten
        assert of_logits is not None, "the gradient of a target's softmax is computed once"
        of_logits.mul_((-grad / sums)[:, None]).scatter_add_(1, target[:, None], grad[:, None])
        of_bias = of_logits.sum(0) if ctx.has_bias and ctx.needs_input_grad[2] else None
        of_logits = of_logits.to(hidden.dtype)
        of_hidden = of_logits @ weight if ctx.needs_input_grad[0] else None
        of_weight = of_logits.t() @ hidden if ctx.needs_input_grad[1] else None
        return of_hidden, of_weight, of_bias, None, None, None
