"""Attention with relative positions (Transformer-XL; paper, section 3.2): rows and who attends to whom in, rows out.

The score of a key is how well its content fits (with bias u) plus how well its position fits (with bias v). There are two
ways to find keys: among the rows of the same batch (`layout.py`), and among stored rows by their number (`reach.py`).
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn

from dtg.model.config import ModelConfig
from dtg.model.positions import sinusoids


class Projected(NamedTuple):
    """What a layer makes of its rows, by attention head. Queries are scaled, and hold u and v already."""

    content: Tensor  # (rows, heads, head width) queries for content
    position: Tensor  # (rows, heads, head width) queries for positions
    keys_values: Tensor  # (rows, 2, heads, head width)
    encoded: Tensor  # (heads, head width, positions) what positions look like to queries


class LayerKeys(Protocol):
    """Where one layer's rows find what they attend to. The first `skip` rows are attended to, and attend to nothing."""

    @property
    def skip(self) -> int: ...

    def mix(self, projected: Projected) -> Tensor:
        """(rows, heads x head width) for each row, what it attends to, weighted. Those to skip have no queries."""


class Keys(Protocol):
    """The same for all layers; `positions` are the relative positions that occur, in ascending order."""

    @property
    def positions(self) -> Tensor: ...

    def of_layer(self, layer: int, last: bool) -> LayerKeys:
        """What the layer with this number, from 0, attends to. The last one may skip rows whose output nobody needs."""


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

    def forward(self, rows: Tensor, keys: LayerKeys, biases: PositionBiases, encoded: Tensor) -> Tensor:
        """`encoded` (positions, width) are the sinusoids of the positions that occur. Rows to skip have no output."""
        parts = self.queries_keys_values(rows).view(len(rows), 3, self.heads, self.head_width)
        query = parts[keys.skip :, 0] / math.sqrt(self.head_width)
        projected = Projected(
            content=query + biases.content / math.sqrt(self.head_width),
            position=query + biases.position / math.sqrt(self.head_width),
            keys_values=parts[:, 1:],
            encoded=self.positions(encoded).view(-1, self.heads, self.head_width).permute(1, 2, 0),
        )
        output: Tensor = self.output(keys.mix(projected))
        return output


def encode_positions(keys: Keys, like: Tensor, width: int) -> Tensor:
    """The sinusoids of the positions that occur, in the type of `like`."""
    return sinusoids(keys.positions, width).to(like.dtype)
