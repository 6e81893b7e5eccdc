"""The softmax of one token a row against torch's own, with gradients."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from dtg.model.batch import target_softmax
from dtg.model.batch.target_softmax import target_log_probability


@pytest.mark.parametrize("has_bias", [True, False])
@pytest.mark.parametrize("has_kinds", [True, False])
def test_equal_to_log_softmax(has_bias: bool, has_kinds: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target_softmax, "ROWS_AT_ONCE", 4)
    generator = torch.Generator().manual_seed(0)

    def numbers(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64).requires_grad_()

    hidden, weight, bias = numbers(11, 5), numbers(9, 5), numbers(9) if has_bias else None
    target = torch.arange(11) % 4  # the first four tokens are never ruled out
    constants = torch.zeros(2 if has_kinds else 1, 9, dtype=torch.float64)
    which = None
    if has_kinds:
        constants[1, 6:] = -torch.inf
        which = torch.arange(11) % 2
    upstream = torch.randn(11, generator=generator, dtype=torch.float64)
    trained = [one for one in (hidden, weight, bias) if one is not None]

    logits = functional.linear(hidden, weight, bias) + (constants[0] if which is None else constants[which])
    expected = logits.log_softmax(1).gather(1, target[:, None])[:, 0]
    found = target_log_probability(hidden, weight, target, bias, constants, which)
    assert torch.allclose(found, expected, rtol=1e-12, atol=1e-12)
    expected_gradients = torch.autograd.grad(expected, trained, upstream)
    for ours, theirs in zip(torch.autograd.grad(found, trained, upstream), expected_gradients, strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-10, atol=1e-12)


def test_improbable_tokens_keep_their_digits() -> None:
    """In float32 a probability of e^-200 is 0, its logarithm is not."""
    weight = torch.tensor([[0.0], [-200.0]], requires_grad=True)
    found = target_log_probability(torch.ones(1, 1), weight, torch.tensor([1]), None, torch.zeros(1, 2), None)
    assert float(found.detach()) == pytest.approx(-200.0)
    found.sum().backward()
    assert weight.grad is not None
    assert weight.grad.flatten().tolist() == pytest.approx([-1.0, 1.0])
