"""What a model says of a batch it is trained on: shared by every model and by the training loop."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class BatchLoss(NamedTuple):
    """A sum, not a mean: only the whole step, over all processes, knows by how much to divide."""

    total: Tensor  # scalar: the sum of -log p over everything predicted in the batch
    predicted: int  # how many predictions that sums
    words: int
    pieces: int
    padding: float = 0.0  # the share of the computation that was spent on padding
