"""Products with fixed weights: plain ones, and those by oneDNN, which only some processors take."""

from __future__ import annotations

import pytest
import torch

from dtg.model import fixed_weight
from dtg.model.fixed_weight import FixedWeight


@pytest.fixture(params=[False, True], ids=["plain", "packed"], autouse=True)
def is_packed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    packed = bool(request.param)
    if packed and not torch.backends.mkldnn.is_available():
        pytest.skip("torch was built without oneDNN")
    monkeypatch.setattr(fixed_weight, "mkl_is_slow", lambda: packed)
    return packed


@pytest.mark.parametrize("rows", [0, 1, 7, 300])
def test_products_biases_and_residuals(rows: int, is_packed: bool) -> None:
    generator = torch.Generator().manual_seed(rows)
    weight, bias = torch.randn(40, 24, generator=generator), torch.randn(40, generator=generator)
    table, residual = torch.randn(rows, 24, generator=generator), torch.randn(rows, 40, generator=generator)
    expected = (table.double() @ weight.double().t()).float()
    fixed = FixedWeight(weight)
    assert (fixed.packed is not None) == is_packed

    def close(found: torch.Tensor, wanted: torch.Tensor) -> None:
        torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-5)  # of float32: nothing is rounded to less

    with torch.inference_mode():
        close(fixed(table), expected)
        close(fixed(table, bias), expected + bias)
        out = torch.full((rows, 2, 40), torch.nan)
        fixed.write(table, out[:, 0])
        close(out[:, 0], expected)
        fixed.write(table, out[:, 1], residual)
        close(out[:, 1], expected + residual)
        close(out[:, 0], expected)


def test_a_part_of_a_table(is_packed: bool) -> None:
    """Neither weights nor rows need stand side by side in memory."""
    table = torch.arange(48.0).view(6, 8)
    weight = table[2:5, ::2]
    rows = table.t()[:, :4]
    torch.testing.assert_close(FixedWeight(weight)(rows), rows @ weight.t())


def test_doubles_are_never_packed() -> None:
    assert FixedWeight(torch.ones(3, 2, dtype=torch.float64)).packed is None
