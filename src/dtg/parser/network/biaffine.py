"""Scores of arcs and labels from vectors of words (Dozat and Manning 2017, sections 3.1 and 3.2).

A word has a vector as a dependent and another as a head; a score is a bilinear form of the two. `<ROOT>` is a vector that
is learned, before the first word.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from dtg.parser.network.words import SharedDropout


class Role(nn.Module):
    """What of a word matters for one side of an arc."""

    def __init__(self, width: int, role_width: int, dropout: float) -> None:
        super().__init__()
        self.linear = nn.Linear(width, role_width)
        self.dropout = SharedDropout(dropout)

    def forward(self, hidden: Tensor) -> Tensor:
        found: Tensor = self.dropout(functional.leaky_relu(self.linear(hidden), 0.1))
        return found


class ArcScorer(nn.Module):
    """How well each word is a head for each other."""

    def __init__(self, width: int, role_width: int, dropout: float) -> None:
        super().__init__()
        self.dependent, self.head = Role(width, role_width, dropout), Role(width, role_width, dropout)
        self.weight = nn.Parameter(torch.zeros(role_width + 1, role_width))

    def forward(self, words: Tensor, heads: Tensor) -> Tensor:
        """(batch, words, width), (batch, words + 1, width) → (batch, words, words + 1)"""
        above: Tensor = self.head(heads)
        return with_one(self.dependent(words)) @ self.weight @ above.transpose(1, 2)


class LabelScorer(nn.Module):
    """Which label an arc has."""

    def __init__(self, width: int, role_width: int, labels: int, dropout: float) -> None:
        super().__init__()
        self.dependent, self.head = Role(width, role_width, dropout), Role(width, role_width, dropout)
        self.weight = nn.Parameter(torch.zeros(role_width + 1, labels, role_width + 1))

    def forward(self, words: Tensor, heads: Tensor, chosen: Tensor) -> Tensor:
        """(batch, words, labels) the scores of the labels of the arcs to the (batch, words) heads chosen."""
        batch, count, _ = words.shape
        starts = torch.arange(batch, device=words.device).unsqueeze(1) * (count + 1)
        rows = with_one(self.head(heads)).flatten(0, 1).index_select(0, (starts + chosen).flatten())
        forms = with_one(self.dependent(words)).flatten(0, 1) @ self.weight.flatten(
            1
        )  # (batch × words, labels × width)
        return (forms.view(batch * count, *self.weight.shape[1:]) @ rows.unsqueeze(2)).view(batch, count, -1)

    def best(self, words: Tensor, heads: Tensor) -> Tensor:
        """(batch, words, words + 1) the best label of every arc there could be."""
        heads = with_one(self.head(heads)).transpose(1, 2)
        found = []
        for dependents, above in zip(
            with_one(self.dependent(words)), heads, strict=True
        ):  # a table for each: it is large
            forms = torch.einsum("md,dle->mle", dependents, self.weight)
            found.append((forms @ above).argmax(1))
        return torch.stack(found)


def with_one(vectors: Tensor) -> Tensor:
    """Vectors with a 1 added, so that a bilinear form has linear terms."""
    return torch.cat([vectors, vectors.new_ones(*vectors.shape[:-1], 1)], -1)
