"""Attention with relative positions (Transformer-XL; paper, section 3.2): rows and who attends to whom in, rows out.

The score of a key is how well its content fits (with bias u) plus how well its position fits (with bias v).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from dtg.model.config import ModelConfig
from dtg.model.layout import Block, Layout
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
        projected = self.queries_keys_values(rows)  # (rows, 3 x inner)
        position = self.positions(encoded).view(-1, self.heads, self.head_width).permute(1, 2, 0)
        mixed = [self._attend(projected, block, biases, position) for block in layout.blocks]
        output: Tensor = self.output(torch.cat(mixed).index_select(0, layout.order))
        return output

    def _attend(self, projected: Tensor, block: Block, biases: PositionBiases, position: Tensor) -> Tensor:
        """(rows of the block, inner). `position` is (heads, head width, positions)."""
        parts = projected.index_select(0, block.row)
        parts = parts.view(block.sentences, block.longest, 3, self.heads, self.head_width)
        query, key, value = parts.permute(2, 0, 3, 1, 4)  # each (sentences, heads, longest, head width)
        query = query / math.sqrt(self.head_width)
        by_content = (query + biases.content[:, None] / math.sqrt(self.head_width)) @ key.transpose(-1, -2)
        by_position = (query + biases.position[:, None] / math.sqrt(self.head_width)) @ position
        # Each key at its stack distance; one that is not attended to finds minus infinity behind the last position.
        by_position = functional.pad(by_position, (0, 1), value=-torch.inf)
        scores = by_content + by_position.gather(-1, block.index.expand_as(by_content))
        mixed: Tensor = scores.softmax(-1) @ value  # (sentences, heads, longest, head width)
        return mixed.transpose(1, 2).reshape(block.sentences * block.longest, -1).index_select(0, block.filled)


def encode_positions(layout: Layout, like: Tensor, width: int) -> Tensor:
    """The sinusoids of the positions that occur, in the type of `like`."""
    return sinusoids(layout.positions, width).to(like.dtype)
