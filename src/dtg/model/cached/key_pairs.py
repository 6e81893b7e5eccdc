"""Attention to rows in a KV cache, pair by pair: each row with the few keys that it attends to.

Hypotheses of a search see little, and hardly any two of them see the same: a row of a stack has about four keys, a block of
sixteen such rows more than forty. There it costs less to fetch each row's own keys than to multiply a block with all of them.
Values are not fetched at all: a sum of rows of a table, with weights, is what looking up a bag of embeddings is.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from dtg.model.attention import HeadGroup

ROWS_TOGETHER = 256  # what their pairs need stays in a core's own cache
KEYS_AT_MOST = 8  # of a row, on average: where rows have more of them, some are shared, and blocks are no slower


@dataclass(frozen=True, slots=True)
class KeyPairs:
    """Some consecutive rows and the keys that each of them attends to; pairs stand row by row."""

    first: int
    rows: int
    row: Tensor  # (pairs,) counted from `first`
    column: Tensor  # (pairs,) its place among the row's keys
    number: Tensor  # (pairs,) of the cached row
    key: Tensor  # (pairs,) its key's place among (cached rows, 2)
    # (rows, width) at which of the occurring positions a row sees each of its keys; one past the last where it has none
    position: Tensor
    channel: Tensor | None  # (same)
    lookups: dict[HeadGroup, Lookup]  # the same in every layer, once found

    @classmethod
    def of(cls, first: int, attends: Tensor, position: Tensor, channel: Tensor | None, unused: int) -> KeyPairs:
        """From (rows, width) numbers of cached rows and positions, of which `unused` marks no key."""
        row, column = (position != unused).nonzero(as_tuple=True)
        number = attends[row, column]
        return cls(first, len(attends), row, column, number, 2 * number, position, channel, {})

    def attend(
        self, content: Tensor, by_position: Tensor, by_channel: Tensor | None, stored: Tensor, group: HeadGroup
    ) -> Tensor:
        """(rows, heads of the group, head width); see `LayerCachedKeys.attend_to`, of whose tables these are the rows."""
        heads, head_width = content.shape[1:]
        if group not in self.lookups:
            self.lookups[group] = Lookup.of(self, group, stored.shape[2])
        lookup = self.lookups[group]
        scores = by_position.gather(-1, self.position.expand(heads, -1, -1))  # (heads, rows, width)
        if self.channel is not None and by_channel is not None:
            scores = scores + by_channel.gather(-1, self.channel.expand(heads, -1, -1))
        keys = stored.flatten(0, 1)[:, group.first : group.stop].flatten(1).index_select(0, self.key)
        keys *= content.flatten(1).index_select(0, self.row)
        fits = keys.view(-1, heads, head_width).sum(-1)  # (pairs, heads)
        scores.view(-1).index_add_(0, lookup.score, fits.view(-1))
        weights = scores.permute(2, 0, 1).softmax(0)  # few keys and many rows: much faster than key by key
        weights = weights.view(-1).index_select(0, lookup.weight)
        mixed = functional.embedding_bag(
            lookup.value, stored.flatten(0, 2), lookup.offsets, mode="sum", per_sample_weights=weights
        )
        return mixed.view(self.rows, heads, head_width)


@dataclass(frozen=True, slots=True)
class Lookup:
    """Where scores and values of the pairs are, for the heads of a group."""

    score: Tensor  # (pairs x heads,) each pair's place among (heads, rows, width)
    weight: Tensor  # (heads x pairs,) its place among (width, heads, rows), a row's heads one after the other
    value: Tensor  # (heads x pairs,) in that order, the place of the value among (cached rows, 2, all heads)
    offsets: Tensor  # (rows x heads,) where each row's and head's begin

    @classmethod
    def of(cls, pairs: KeyPairs, group: HeadGroup, all_heads: int) -> Lookup:
        heads = group.stop - group.first
        head = torch.arange(heads, device=pairs.row.device)
        height, width = pairs.position.shape
        seen, column = head * height + pairs.row[:, None], pairs.column[:, None]  # (pairs, heads), (pairs, 1)
        value = (2 * pairs.number[:, None] + 1) * all_heads + (head + group.first)
        count = torch.bincount(pairs.row, minlength=height)
        begin = heads * (count.cumsum(0) - count)  # of each row
        offsets = begin[:, None] + head * count[:, None]  # (rows, heads)
        place = (offsets[pairs.row] + column).flatten()
        weight = torch.empty_like(place).index_copy_(0, place, (column * (heads * height) + seen).flatten())
        value = torch.empty_like(place).index_copy_(0, place, value.flatten())
        return cls((seen * width + column).flatten(), weight, value, offsets.flatten())
