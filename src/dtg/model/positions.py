"""Sinusoids for relative positions (Transformer-XL): positions in, one vector each out."""

from __future__ import annotations

import torch
from torch import Tensor

from dtg.model.precision import finest


def sinusoids(positions: Tensor, width: int) -> Tensor:
    """(positions, width): sines, then cosines, of each position at `width / 2` wavelengths."""
    steps = torch.arange(0, width, 2, device=positions.device, dtype=finest(positions.device))
    angles = positions.to(steps.dtype)[:, None] / 10000 ** (steps / width)
    return torch.cat([angles.sin(), angles.cos()], dim=1)
