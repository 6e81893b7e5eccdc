"""Normalisation of vectors: torch's LayerNorm, and RMSNorm with its gradient in closed form.

On a CPU torch computes RMSNorm as a chain of small operations, forward and backward, which takes five times as long.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

NORM_EPSILON = 1e-5


class RMSNorm(nn.RMSNorm):
    """Divides vectors by their root mean square, and multiplies by learned weights, in whose precision it computes."""

    def __init__(self, width: int) -> None:
        super().__init__(width, eps=NORM_EPSILON)

    def forward(self, vectors: Tensor) -> Tensor:
        found: Tensor = RootMeanSquare.apply(vectors.to(self.weight.dtype), self.weight)  # type: ignore[no-untyped-call]
        return found


class RootMeanSquare(torch.autograd.Function):
    """y = w x / r with r = sqrt(mean(x²) + ε); dy/dx = (w g − n mean(w g n)) / r, where n = x / r and g is y's gradient."""

    @staticmethod
    def forward(ctx: Any, vectors: Tensor, weight: Tensor) -> Tensor:
        length = torch.linalg.vector_norm(vectors, dim=-1, keepdim=True)
        inverse = (length.square() / vectors.shape[-1] + NORM_EPSILON).rsqrt()
        normal = vectors * inverse
        ctx.save_for_backward(normal, inverse, weight)
        scaled: Tensor = normal * weight
        return scaled

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor]:
        (gradient,) = gradients
        normal, inverse, weight = ctx.saved_tensors
        of_weight = (gradient * normal).flatten(0, -2).sum(0)
        weighted = gradient * weight
        along = torch.linalg.vecdot(weighted, normal)[..., None] / normal.shape[-1]
        return torch.addcmul(weighted, normal, along, value=-1) * inverse, of_weight


def make_norm(kind: str, width: int) -> nn.Module:
    """A normalisation of rows: "layer" or "rms"."""
    return nn.LayerNorm(width, eps=NORM_EPSILON) if kind == "layer" else RMSNorm(width)
