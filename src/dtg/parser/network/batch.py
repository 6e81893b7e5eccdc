"""Sentences as tensors: numbers of words in, padded `WordBatch`es and `TreeBatch`es out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class WordBatch:
    """Words by number and by spelling. Different words of a batch are its forms; each is spelt once."""

    words: Tensor  # (batch, longest) the number of each word; 0 past the end
    forms: Tensor  # (batch, longest) its row in `spelling`; 0 past the end
    spelling: Tensor  # (forms, letters) the characters of each form, or its pieces; 0 past the end
    lengths: Tensor  # (batch,)

    @classmethod
    def of(cls, rows: Sequence[Numbers], numbers: Numbers, spelt: Numbers, device: torch.device | str) -> WordBatch:
        """From the forms of each sentence, and of each form its word's number and how it is spelt."""
        lengths = np.array([len(row) for row in rows])
        forms = pad(rows, 0)
        words = np.where(np.arange(forms.shape[1]) < lengths[:, None], numbers[forms], 0)
        tensors = (torch.from_numpy(np.ascontiguousarray(array)) for array in (words, forms, spelt, lengths))
        return cls(*(tensor.long().to(device) for tensor in tensors))

    @property
    def is_word(self) -> Tensor:
        """(batch, longest)"""
        return torch.arange(self.words.shape[1], device=self.words.device) < self.lengths.unsqueeze(1)


@dataclass(frozen=True, slots=True)
class TreeBatch:
    """Sentences with their trees; -1 past the end."""

    words: WordBatch
    heads: Tensor  # (batch, longest)
    labels: Tensor  # (batch, longest) -1 also where a label is not known
    tags: Tensor  # (batch, longest) -1 also where a tag is not known


def pad(rows: Sequence[Sequence[int] | Numbers], value: int) -> Numbers:
    """Rows of different lengths as a rectangle."""
    table = np.full((len(rows), max(map(len, rows))), value, dtype=np.int64)
    for place, row in enumerate(rows):
        table[place, : len(row)] = row
    return table
