"""Muon in float32, for processors on which bfloat16 is no faster.

torch's own Muon makes updates orthogonal in bfloat16, whatever the machine. The updates here are the same but for that
rounding, and take half the time or less on such processors. State and settings are torch's, so checkpoints are too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

WIDE = 1.8  # times as long as wide: from there on, steps on the small square matrix are cheaper


class Float32Muon(torch.optim.Muon):
    """`torch.optim.Muon` with `adjust_lr_fn="match_rms_adamw"`."""

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """One update of every matrix that has a gradient."""
        if closure is not None:
            raise ValueError("closures are not supported; compute gradients before the step.")
        for group in self.param_groups:
            rate, momentum = float(group["lr"]), float(group["momentum"])
            for matrix in group["params"]:
                if matrix.grad is None:
                    continue
                state = self.state[matrix]
                if "momentum_buffer" not in state:
                    state["momentum_buffer"] = torch.zeros_like(matrix.grad)
                mean = state["momentum_buffer"].lerp_(matrix.grad, 1 - momentum)
                update = matrix.grad.lerp(mean, momentum) if group["nesterov"] else mean
                update = orthogonalize(update.float(), group["ns_coefficients"], group["ns_steps"], group["eps"])
                matrix.mul_(1 - rate * float(group["weight_decay"]))
                matrix.add_(update, alpha=-rate * 0.2 * math.sqrt(max(matrix.shape)))


def orthogonalize(matrix: Tensor, coefficients: tuple[float, float, float], steps: int, least: float) -> Tensor:
    """A matrix with the same singular vectors, and singular values near 1.

    Newton and Schulz's iteration: X becomes (a + b XX' + c (XX')²) X. A matrix much longer than wide is multiplied only twice:
    all factors are polynomials of the first XX', and are multiplied with each other.
    """
    is_long = matrix.shape[0] > matrix.shape[1]
    rows: Tensor = matrix.t() if is_long else matrix
    rows = rows / rows.norm().clamp(min=least)
    if rows.shape[1] >= WIDE * rows.shape[0]:
        rows = product_of_factors(rows @ rows.t(), coefficients, steps) @ rows
    else:
        for _ in range(steps):
            rows = factor(rows @ rows.t(), coefficients) @ rows
    return rows.t() if is_long else rows


def product_of_factors(square: Tensor, coefficients: tuple[float, float, float], steps: int) -> Tensor:
    """What all steps together multiply X with, from XX'."""
    product = factor(square, coefficients)
    last = product
    for _ in range(steps - 1):
        square = last @ square @ last
        last = factor(square, coefficients)
        product = last @ product
    return product


def factor(square: Tensor, coefficients: tuple[float, float, float]) -> Tensor:
    """a + b S + c S²"""
    a, b, c = coefficients
    found = torch.addmm(square, square, square, beta=b, alpha=c)
    found.diagonal().add_(a)
    return found
