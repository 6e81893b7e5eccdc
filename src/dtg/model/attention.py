"""Attention with relative positions (Transformer-XL; paper, section 3.2): rows and who attends to whom in, rows out.

The score of a key is how well its content fits (with bias u) plus how well its position fits (with bias v).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from dtg.model.config import ModelConfig
from dtg.model.layout import Layout
from dtg.model.positions import sinusoids


class PositionBiases(nn.Module):
    """u and v, for each attention head."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.content = nn.Parameter(torch.zeros(config.attention_heads, config.head_width))
        self.position = nn.Parameter(torch.zeros(config.attention_heads, config.head_width))


class RelativeAttention(nn.Module):
    """One layer's attention, without normalisation and residual."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.heads, self.head_width = config.attention_heads, config.head_width
        inner = self.heads * self.head_width
        self.queries_keys_values = nn.Linear(config.width, 3 * inner, bias=False)
        self.positions = nn.Linear(config.width, inner, bias=False)
        self.output = nn.Linear(inner, config.width, bias=False)

    def forward(self, rows: Tensor, layout: Layout, biases: PositionBiases, encoded: Tensor) -> Tensor:
        """`encoded` (positions, width) are the sinusoids of `layout.positions`."""
        blocks = layout.to_blocks(self.queries_keys_values(rows))  # (sentences, longest, 3 x inner)
        parts = blocks.view(layout.sentences, layout.longest, 3, self.heads, self.head_width)
        query, key, value = parts.permute(2, 0, 3, 1, 4)  # each (sentences, heads, longest, head width)
        position = self.positions(encoded).view(-1, self.heads, self.head_width)
        scores = (query + biases.content[:, None]) @ key.transpose(-1, -2)  # (sentences, heads, longest, longest)
        by_position = (query + biases.position[:, None]) @ position.permute(1, 2, 0)  # (..., longest, positions)
        scores = scores + by_position.gather(-1, layout.index.expand_as(scores))  # each key at its stack distance
        scores = (scores / math.sqrt(self.head_width)).masked_fill(~layout.mask, -torch.inf)
        # Empty places attend to nothing; their weights would be 0/0, and they are dropped by to_rows.
        weights = scores.softmax(-1).masked_fill(~layout.mask, 0.0)
        mixed = (weights @ value).transpose(1, 2).flatten(2)  # (sentences, longest, inner)
        output: Tensor = self.output(layout.to_rows(mixed))
        return output


def encode_positions(layout: Layout, like: Tensor, width: int) -> Tensor:
    """The sinusoids of the positions that occur, in the type of `like`."""
    return sinusoids(layout.positions, width).to(like.dtype)
