"""How finely sums of log-probabilities are kept."""

import torch


def finest(device: torch.device) -> torch.dtype:
    """float64, but for Apple's GPUs, which have nothing finer than float32."""
    return torch.float32 if device.type == "mps" else torch.float64
