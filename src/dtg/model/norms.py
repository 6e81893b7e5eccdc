"""Normalisation of vectors: torch's LayerNorm, and RMSNorm with its gradient in closed form.

On a CPU torch computes RMSNorm as a chain of small operations, forward and backward.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

NORM_EPSILON = 1e-5


class RMSNorm(nn.RMSNorm):
    """Divides vectors by their root mean square, and multiplies by learned weights, in whose precision it computes."""

    def __init__(self, width: int) -> None:
        super().__init__(width, eps=NORM_EPSILON)

    def forward(self, vectors: Tensor, scale: float = 1.0) -> Tensor:
        """`scale` multiplies the result."""
        weight = self.weight if scale == 1.0 else self.weight * scale
        found: Tensor = RootMeanSquare.apply(vectors.to(weight.dtype), weight)  # type: ignore[no-untyped-call]
        return found


class RootMeanSquare(torch.autograd.Function):
    """y = w x / r with r = sqrt(mean(x²) + ε); dy/dx = (w g - n mean(w g n)) / r, where n = x / r and g is y's gradient.

    LayerNorm's gradient, which torch computes in one pass, is that for vectors whose mean is subtracted: with a mean of 0 and
    the same r it is (w g - mean(w g) - n mean(w g n)) / r, so that mean(w g) / r is all that has to be added.
    """

    @staticmethod
    def forward(ctx: Any, vectors: Tensor, weight: Tensor) -> Tensor:
        length = torch.linalg.vector_norm(vectors, dim=-1, keepdim=True)
        inverse = length.square_().div_(vectors.shape[-1]).add_(NORM_EPSILON).rsqrt_()
        ctx.save_for_backward(vectors, inverse, weight)
        normalised: Tensor = (vectors * inverse).mul_(weight)
        return normalised

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        vectors, inverse, weight = ctx.saved_tensors
        width = vectors.shape[-1]
        mean = torch.zeros_like(inverse)
        given = (gradient.contiguous(), vectors, [width], mean, inverse, weight, None, [True, True, False])
        of_vectors, of_weight, _ = torch.ops.aten.native_layer_norm_backward(*given)
        of_vectors.addcmul_((gradient @ (weight / width))[..., None], inverse)
        return of_vectors, of_weight


def make_norm(kind: str, width: int) -> nn.Module:
    """A normalisation of rows: "layer" or "rms"."""
    return nn.LayerNorm(width, eps=NORM_EPSILON) if kind == "layer" else RMSNorm(width)
