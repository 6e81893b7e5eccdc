"""Attention with relative positions (Transformer-XL; paper, section 3.2), in groups of heads that see through different views.

The score of a key is how well its content fits (with bias u) plus how well its position fits (with bias v). There are two
ways to find keys: among the rows of the same batch (`packed_keys.py`), and in a KV cache by row number (`cached/`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from dtg.families import Family
from dtg.model.config import ModelConfig
from dtg.model.norms import RMSNorm
from dtg.model.positions import sinusoids


@dataclass(frozen=True, slots=True)
class HeadGroup:
    """Consecutive attention heads, from `first` up to `stop`, that see rows through one view."""

    view: int
    first: int
    stop: int


HeadGroups = tuple[HeadGroup, ...]  # of one layer: all of its heads, in order


class Projected(NamedTuple):
    """What a layer makes of its rows, by attention head. Queries are scaled, and hold u and v already."""

    content: Tensor  # (rows, heads, head width) queries for content
    position: Tensor  # (rows, heads, head width) queries for positions
    keys_values: Tensor  # (rows, 2, heads, head width)
    encoded: Tensor  # (heads, head width, positions) what positions look like to queries
    channel: Tensor | None = None  # (head width, channel values) what the values of a view's channel look like to them

    def of_heads(self, group: HeadGroup) -> Projected:
        """The same of a group of heads."""
        if group.first == 0 and group.stop == self.content.shape[1]:
            return self
        heads = slice(group.first, group.stop)
        return Projected(
            self.content[:, heads],
            self.position[:, heads],
            self.keys_values[:, :, heads],
            self.encoded[heads],
            self.channel,
        )


class LayerKeys(Protocol):
    """Where one layer's rows find what they attend to."""

    def queries(self, rows: Tensor) -> Tensor:
        """The rows that attend to others, in order: all, or in the last layer those whose output is needed."""

    def attend(self, projected: Projected) -> Tensor:
        """(queries, heads x head width) for each row that has a query, what it attends to, weighted."""


class Keys(Protocol):
    """The same for all layers; `positions` are the relative positions that occur, in ascending order."""

    @property
    def positions(self) -> Tensor: ...

    def of_layer(self, layer: int, last: bool) -> LayerKeys:
        """What the layer with this number, from 0, attends to. In the last one not all rows need queries."""


class PositionBiases(nn.Module):
    """u and v, for each attention head."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.content = nn.Parameter(torch.zeros(config.attention_heads, config.head_width))
        self.position = nn.Parameter(torch.zeros(config.attention_heads, config.head_width))


class RelativeAttention(nn.Module):
    """One layer's attention, without normalisation and residual. `channel_size` is the number of values of a channel."""

    def __init__(self, config: ModelConfig, channel_size: int = 0) -> None:
        super().__init__()
        self.heads, self.head_width = config.attention_heads, config.head_width
        inner = self.heads * self.head_width
        self.queries_keys_values = nn.Linear(config.width, 3 * inner, bias=False)
        self.positions = nn.Linear(config.width, inner, bias=False)
        self.output = nn.Linear(inner, config.width, bias=config.attention_output_bias)
        self.channel = nn.Embedding(channel_size, self.head_width) if channel_size else None
        self.query_norm = RMSNorm(self.head_width) if config.query_key_norm else None
        self.key_norm = RMSNorm(self.head_width) if config.query_key_norm else None
        self.gates = nn.Linear(config.width, self.heads) if config.head_gates else None

    def forward(self, rows: Tensor, keys: LayerKeys, biases: PositionBiases | None, encoded: Tensor) -> Tensor:
        """`encoded` (positions, width) are the sinusoids of the positions that occur. Rows without a query have no output."""
        asking = keys.queries(rows)
        query, keys_values = self.project(asking, rows)
        kind, scale = query.dtype, 1 / math.sqrt(self.head_width)
        if self.query_norm is not None and self.key_norm is not None:
            query = self.query_norm(query, scale).to(kind)
            keys_values = torch.stack([self.key_norm(keys_values[:, 0]).to(kind), keys_values[:, 1]], dim=1)
        else:
            query = query * scale
        projected = Projected(
            content=query if biases is None else query + (biases.content * scale).to(kind),
            position=query if biases is None else query + (biases.position * scale).to(kind),
            keys_values=keys_values,
            encoded=self.positions(encoded).view(-1, self.heads, self.head_width).permute(1, 2, 0),
            channel=None if self.channel is None else self.channel.weight.to(query.dtype).t(),
        )
        mixed = keys.attend(projected)
        if self.gates is not None:
            gates = 2 * self.gates(asking).sigmoid()  # 1 at first
            mixed = (mixed.view(len(mixed), self.heads, self.head_width) * gates[:, :, None]).flatten(1)
        output: Tensor = self.output(mixed)
        return output

    def project(self, asking: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        """(rows that ask, heads, head width) queries, and (rows, 2, heads, head width) keys and values."""
        shape = self.heads, self.head_width
        if asking is rows:
            parts = self.queries_keys_values(rows).view(len(rows), 3, *shape)
            query, keys_values = parts.split((1, 2), dim=1)
            return query[:, 0], keys_values
        inner = self.heads * self.head_width
        of_query, of_keys_values = self.queries_keys_values.weight.split((inner, 2 * inner))
        query = functional.linear(asking, of_query).view(len(asking), *shape)
        return query, functional.linear(rows, of_keys_values).view(len(rows), 2, *shape)


def head_groups(config: ModelConfig, family: type[Family]) -> tuple[HeadGroups, ...]:
    """The groups of heads of every layer: as many heads for each view as the configuration says, or the family."""
    counts = config.view_heads or family.split_heads(config.attention_heads)
    assert sum(counts) == config.attention_heads and len(counts) == len(family.views)
    groups = groups_of(counts)
    if config.memory_layers == "all":
        return (groups,) * config.layers
    stack_alone = groups_of((config.attention_heads, 0))
    lower = config.layers // 2  # where their number is odd, the upper half is the larger one
    halves = (groups, stack_alone) if config.memory_layers == "lower" else (stack_alone, groups)
    return (halves[0],) * lower + (halves[1],) * (config.layers - lower)


def groups_of(counts: Sequence[int]) -> HeadGroups:
    """The groups of a layer, from how many heads see through each view."""
    groups, first = [], 0
    for view, count in enumerate(counts):
        if count:
            groups.append(HeadGroup(view, first, first + count))
        first += count
    return tuple(groups)


def encode_positions(keys: Keys, like: Tensor, width: int) -> Tensor:
    """The sinusoids of the positions that occur, in the type of `like`."""
    return sinusoids(keys.positions, width).to(like.dtype)
