"""Products of rows with a weight that does not change any more, as fast as this processor has them.

On AMD's processors MKL multiplies float32 by the instructions of 2013, at half the rate of oneDNN, which uses AVX-512. There,
the weight is packed for oneDNN once; its product is one of the operations that torch.compile uses on CPUs.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor

from dtg.environment import processor

EXPECTED_ROWS = 256  # what the packed form is chosen for; it serves any number


class FixedWeight:
    """The weight of a linear map, (outputs, inputs)."""

    def __init__(self, weight: Tensor) -> None:
        self.packed = pack(weight.detach()) if suits_onednn(weight) else None
        # (inputs, outputs) side by side in memory: products of few rows are faster by a third
        self.weight = weight.detach().t() if self.packed is not None else weight.detach().t().contiguous()

    def __call__(self, rows: Tensor, bias: Tensor | None = None) -> Tensor:
        """(rows, outputs) of (rows, inputs)."""
        if self.packed is not None and len(rows):
            return linear(rows, self.packed, bias)
        return rows @ self.weight if bias is None else torch.addmm(bias, rows, self.weight)

    def write(self, rows: Tensor, out: Tensor, residual: Tensor | None = None) -> None:
        """The same, with a residual if there is one, written to (rows, outputs) `out`."""
        if self.packed is not None and len(rows):
            found = linear(rows, self.packed, None)
            out.copy_(found) if residual is None else torch.add(found, residual, out=out)
        elif residual is None:
            torch.mm(rows, self.weight, out=out)
        else:
            torch.addmm(residual, rows, self.weight, out=out)


def suits_onednn(weight: Tensor) -> bool:
    """Whether oneDNN multiplies this weight markedly faster than MKL."""
    return weight.device.type == "cpu" and weight.dtype == torch.float32 and mkl_is_slow()


@cache
def mkl_is_slow() -> bool:
    """Whether torch has MKL and oneDNN, and the processor has AVX-512 that MKL does not use."""
    maker, flags = processor()
    has_both = torch.backends.mkl.is_available() and torch.backends.mkldnn.is_available()
    return has_both and maker == "AuthenticAMD" and "avx512f" in flags and hasattr(operations(), "_linear_pointwise")


def operations() -> Any:
    """torch's own operations on oneDNN."""
    return torch.ops.mkldnn


def pack(weight: Tensor) -> Tensor:
    """The weight as oneDNN reads it."""
    packed: Tensor = operations()._reorder_linear_weight(weight.contiguous(), EXPECTED_ROWS)
    return packed


def linear(rows: Tensor, packed: Tensor, bias: Tensor | None) -> Tensor:
    """The product in float32, without rounding to less, and the bias."""
    found: Tensor = operations()._linear_pointwise(rows, packed, bias, "none", [], "")
    return found
