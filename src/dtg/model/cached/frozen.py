"""The decoder as a search runs it: the same numbers from weights that are put in order once, in fewer steps.

Queries are scaled, and hold u, when they are made; what positions look like to queries is computed once for all passes; keys
and values are written to where the KV cache keeps them. Weights stand as products read them (`FixedWeight`). The feed-forward
network takes a few rows at a time, which stay in a core's own cache. tests/model/test_frozen.py holds it against `Decoder`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from dtg.model.attention import PositionBiases
from dtg.model.decoder import Decoder, Layer
from dtg.model.fixed_weight import FixedWeight
from dtg.model.positions import sinusoids

ROWS_AT_ONCE = 128  # through a feed-forward network on a CPU
CHUNK = 64  # positions; from -1 on, those of a stack
# For the number of a layer: where its new rows go, (rows, 2, heads, head width), and its table with all of them.
Room = Callable[[int], tuple[Tensor, Tensor]]


class FrozenLayerKeys(Protocol):
    """What rows of one layer attend to; see `LayerCachedKeys`."""

    def queries(self, rows: Tensor) -> Tensor: ...

    def attend_to(self, stored: Tensor, content: Tensor, by_position: Tensor, by_channel: Tensor | None) -> Tensor: ...


class FrozenKeys(Protocol):
    """The same for all layers; see `CachedKeys`."""

    @property
    def span(self) -> tuple[int, int]: ...

    def of_layer(self, layer: int, last: bool) -> FrozenLayerKeys: ...


class PositionTable:
    """What relative positions look like to the queries of one layer: (heads, head width, positions).

    Made for CHUNK positions at a time, always the same ones, so that no number depends on what was asked for before.
    """

    def __init__(self, layer: FrozenLayer) -> None:
        attention = layer.attention
        self._weight, self._heads = attention.positions.weight, attention.heads
        self._more: Tensor | None = None  # (heads, 1, head width) what v has and u has not
        if layer.biases is not None:
            more = (layer.biases.position - layer.biases.content) / math.sqrt(attention.head_width)
            self._more = more[:, None]
        self._make(0, 1)

    def _make(self, first: int, stop: int) -> None:
        """Chunks from `first` up to `stop`, of which number 0 begins with -1."""
        self._first, self._stop = first, stop
        self._encoded = torch.cat([self._chunk(number) for number in range(first, stop)], dim=2)
        self._added = self._encoded.new_zeros(self._heads, 1, self._encoded.shape[2])
        if self._more is not None:
            self._added = (self._more.transpose(1, 2) * self._encoded).sum(1, keepdim=True)

    def _chunk(self, number: int) -> Tensor:
        places = torch.arange(CHUNK, device=self._weight.device) + (CHUNK * number - 1)
        waves = sinusoids(places, self._weight.shape[1]).to(self._weight.dtype)
        return functional.linear(waves, self._weight).view(CHUNK, self._heads, -1).permute(1, 2, 0)

    def scores(self, content: Tensor, first: int, last: int) -> Tensor:
        """(heads, rows, positions + 1) how well positions from `first` to `last` fit; minus infinity in the last place."""
        lowest, highest = (first + 1) // CHUNK, (last + 1) // CHUNK
        if lowest < self._first or highest >= self._stop:
            self._make(min(lowest, self._first), max(highest + 1, self._stop))
        begin = first + 1 - CHUNK * self._first
        count = last + 1 - first
        some = slice(begin, begin + count)
        found = content.new_empty(content.shape[1], content.shape[0], count + 1)
        found[:, :, count] = -torch.inf
        found[:, :, :count] = torch.baddbmm(
            self._added[:, :, some].expand(-1, len(content), -1), content.transpose(0, 1), self._encoded[:, :, some]
        )
        return found


class FrozenLayer:
    """One layer; see `Layer`."""

    def __init__(self, layer: Layer, shared: PositionBiases | None) -> None:
        self.layer, self.attention = layer, layer.attention
        self.biases = shared if layer.biases is None else layer.biases
        heads, head_width = self.attention.heads, self.attention.head_width
        inner, scale = heads * head_width, 1 / math.sqrt(head_width)
        weight = self.attention.queries_keys_values.weight
        self.query = FixedWeight(weight[:inner] * (scale if self.attention.query_norm is None else 1.0))
        self.keys_values = FixedWeight(weight[inner:])
        self.output, self.output_bias = FixedWeight(self.attention.output.weight), self.attention.output.bias
        self.inner, self.outer = (
            FixedWeight(layer.feedforward.inner.weight),
            FixedWeight(layer.feedforward.outer.weight),
        )
        self.content = None if self.biases is None else (self.biases.content * scale).flatten()
        self.positions = PositionTable(self)

    def __call__(
        self, rows: Tensor, new: Tensor, stored: Tensor, keys: FrozenLayerKeys, span: tuple[int, int]
    ) -> Tensor:
        """See `Layer.forward`; `span` is the range of positions that occur."""
        layer = self.layer
        if layer.pre_norm:
            rows = self.attend(layer.attention_norm(rows), keys.queries(rows), new, stored, keys, span)
            return self.feed_forward(layer.feedforward_norm(rows), rows)
        rows = layer.attention_norm(self.attend(rows, keys.queries(rows), new, stored, keys, span))
        normed: Tensor = layer.feedforward_norm(self.feed_forward(rows, rows))
        return normed

    def attend(
        self, rows: Tensor, residual: Tensor, new: Tensor, stored: Tensor, keys: FrozenLayerKeys, span: tuple[int, int]
    ) -> Tensor:
        """Attention, with its residual."""
        attention = self.attention
        heads, head_width = attention.heads, attention.head_width
        self.store(rows, new)
        queries = keys.queries(rows)
        if attention.query_norm is not None:
            query = attention.query_norm(self.query(queries).view(-1, heads, head_width)).to(rows.dtype)
            query = query / math.sqrt(head_width)
            content = query if self.content is None else query + self.content.view(heads, head_width)
        else:
            content = self.query(queries, self.content).view(-1, heads, head_width)
        by_channel = None
        if attention.channel is not None:
            position = content
            if self.biases is not None:
                position = content + (self.biases.position - self.biases.content) / math.sqrt(head_width)
            by_channel = position.transpose(0, 1) @ attention.channel.weight.t()
        mixed = keys.attend_to(stored, content, self.positions.scores(content, *span), by_channel)
        if attention.gates is not None:
            gates = 2 * attention.gates(queries).sigmoid()
            mixed = (mixed.view(-1, heads, head_width) * gates[:, :, None]).flatten(1)
        found = torch.empty_like(residual)
        self.output.write(mixed, found, residual)
        return found if self.output_bias is None else found.add_(self.output_bias)

    def store(self, rows: Tensor, new: Tensor) -> None:
        """Write keys and values of these rows to their place."""
        if self.attention.key_norm is None and new.dtype == rows.dtype:
            self.keys_values.write(rows, new.view(len(rows), -1))
            return
        parts = self.keys_values(rows).view(new.shape)
        if self.attention.key_norm is not None:
            parts[:, 0] = self.attention.key_norm(parts[:, 0]).to(parts.dtype)
        new.copy_(parts)

    def feed_forward(self, rows: Tensor, residual: Tensor) -> Tensor:
        """Feed-forward, with its residual."""
        found = torch.empty_like(residual)
        if len(rows) <= ROWS_AT_ONCE or rows.device.type != "cpu":
            self.feed_some(rows, residual, found)
        else:
            for some in zip(*(table.split(ROWS_AT_ONCE) for table in (rows, residual, found)), strict=True):
                self.feed_some(*some)
        return found.add_(self.layer.feedforward.outer.bias)

    def feed_some(self, rows: Tensor, residual: Tensor, found: Tensor) -> None:
        """The same of some rows, but for the last bias, written to where it goes."""
        network = self.layer.feedforward
        inner = self.inner(rows, network.inner.bias)
        inner = inner.relu_() if isinstance(network.activation, nn.ReLU) else network.activation(inner)
        self.outer.write(inner, found, residual)


class FrozenDecoder:
    """A decoder whose weights do not change any more."""

    @torch.inference_mode()
    def __init__(self, decoder: Decoder) -> None:
        self.decoder = decoder
        self.layers = [FrozenLayer(layer, decoder.biases) for layer in decoder.layers if isinstance(layer, Layer)]

    def __call__(self, operation: Tensor, piece: Tensor, keys: FrozenKeys, room: Room) -> Tensor:
        """See `Decoder.forward`. Keys and values of the new rows are put where `room` says, layer by layer."""
        decoder = self.decoder
        rows = decoder.embed(operation, piece)
        rows = rows if decoder.scale == 1.0 else rows * decoder.scale
        for number, layer in enumerate(self.layers):
            last = number + 1 == len(self.layers)
            rows = layer(rows, *room(number), keys.of_layer(number, last), keys.span)
        output: Tensor = decoder.final_norm(rows)
        return output
