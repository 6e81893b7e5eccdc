"""The protocols through which the training loop uses a model and its data.

A model gives the summed loss of a batch, its parameters in groups, and saves itself. Data are splits of sentences that
can be counted and put into batches. The loop never looks inside a batch, so a decoder and a parser are trained alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor, nn

from dtg.losses import BatchLoss

Integers = np.ndarray[Any, np.dtype[Any]]


class Trainable(Protocol):
    """An `nn.Module` that can be trained. Every parameter must take part in the loss of every batch."""

    def loss(self, batch: Any) -> BatchLoss:
        """The loss of a batch. Called inside `forward` of a wrapper, so layers must be called, not reached into."""

    def parameter_groups(self, learning_rate: float) -> list[dict[str, Any]]:
        """Groups for the optimizer: `params`, and `scale`, which multiplies the schedule's rate."""

    def save(self, folder: Path) -> None:
        """Write config.json, model.safetensors and what else belongs to it into an empty folder that exists."""


@runtime_checkable
class FollowsProgress(Protocol):
    """A model that trains differently as the run goes on."""

    def follow(self, progress: float) -> None:
        """Called before every step with the share of all steps that are done: 0 at the first, 1 at the last."""


@runtime_checkable
class PreparesBatches(Protocol):
    """A model of whose batches a part can be computed beforehand, which is cheaper for several batches at once."""

    def prepare(self, batch: Any, sizes: Sequence[int] | None = None) -> list[Any]:
        """Batches that `loss` takes, each as if prepared by itself, from one that holds all their sentences.

        Called in another thread while the model computes: it must neither draw random numbers nor look at the weights.
        """


@runtime_checkable
class HasMatrices(Protocol):
    """A model that can be trained by Muon."""

    def matrices(self) -> list[Tensor]:
        """The weights of linear maps between hidden vectors; not embeddings, not what makes the output."""


class TrainingSplit(Protocol):
    """The sentences of one split of a corpus."""

    @property
    def word_counts(self) -> Integers: ...

    @property
    def piece_counts(self) -> Integers: ...

    def __len__(self) -> int: ...

    def batch(self, indices: Any, device: Any) -> Any: ...


class TrainingCorpus(Protocol):
    """A prepared corpus."""

    @property
    def hash(self) -> str: ...

    @property
    def tokenizer(self) -> Any: ...  # has a hash: two with the same hash give the same subwords

    @property
    def splits(self) -> Mapping[str, Any]: ...


class OpaqueBatch:
    """Hides a batch from wrappers for data parallelism, which would copy its fields: it is a frozen dataclass."""

    def __init__(self, batch: Any) -> None:
        self.batch = batch


class LossModule(nn.Module):
    """Computes `model.loss` in `forward`, which is what data-parallel wrappers and autocast act on."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: OpaqueBatch) -> BatchLoss:
        loss: BatchLoss = self.model.loss(batch.batch)  # type: ignore[operator]  # nn.Module types every attribute as Tensor
        assert loss.total.ndim == 0 and torch.is_floating_point(loss.total)
        return loss
