"""The loss of a batch, as every model returns it to the training loop."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class BatchLoss(NamedTuple):
    """A sum, not a mean: only the whole step, over all processes, knows by how much to divide."""

    total: Tensor  # scalar: the sum of -log p over everything predicted in the batch
    predicted: int  # the number of predictions in that sum
    words: int
    pieces: int  # subwords
    padding: float = 0.0  # the share of the computation that was spent on padding
