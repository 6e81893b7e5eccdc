"""Attention to rows in a KV cache, by their numbers: rows in blocks, each with the keys that its rows share.

Rows that stand together (hypotheses of one sentence, neighbours in a trie) attend to much the same rows. A block of them
is multiplied with all keys that any of them needs; each row then picks its own scores. That costs far less than gathering
keys for each row, which would move every shared key once for each row that attends to it. Many blocks go together, each
with as many places for keys as the one that needs most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from dtg.model.attention import HeadGroup, HeadGroups, Projected

BLOCK_ROWS = 16  # enough work at once, few keys that only other rows need
BLOCKS_TOGETHER = 32  # bounds the memory for the keys of a large pass

# Takes the number of a layer and what it made of the new rows, (rows, 2, heads, head width) keys and values; gives the
# table of all cached rows of that layer, the new ones included, in the same form.
Store = Callable[[int, Tensor], Tensor]


@dataclass(frozen=True, slots=True)
class VisibleRows:
    """What new rows see through one view."""

    attends: Tensor  # (rows, width) numbers of cached rows, of which the first `keys` hold
    relative: Tensor  # (rows, width)
    keys: Tensor  # (rows,)
    channel: Tensor | None = None  # (rows, width)


@dataclass(frozen=True, slots=True)
class KeyBlocks:
    """Some consecutive rows in blocks; the last block may be filled up. Each block's last key only fills places."""

    first: int
    rows: int  # without those that fill the last block
    keys: Tensor  # (blocks, keys) numbers of cached rows
    place: Tensor  # (blocks x BLOCK_ROWS, width) which of its block's keys each row attends to
    position: Tensor  # (same) at which of the occurring positions; one past the last where a place is not used
    channel: Tensor | None  # (same)


@dataclass(frozen=True, slots=True)
class CachedKeys:
    """What new rows attend to. `positions` are the relative positions that occur; the last layer may skip the first rows."""

    views: tuple[tuple[KeyBlocks, ...], ...]
    positions: Tensor
    groups: tuple[HeadGroups, ...]  # of every layer
    store: Store
    skip: int

    @classmethod
    def of(
        cls, views: Sequence[VisibleRows], groups: tuple[HeadGroups, ...], store: Store, skip: int = 0
    ) -> CachedKeys:
        """From what new rows see through each view."""
        views = [cut(view) for view in views]
        lowest = min(int(view.relative.min()) for view in views)
        highest = max(int(view.relative.max()) for view in views)
        positions = torch.arange(lowest, highest + 1, device=views[0].keys.device)
        blocks = tuple(blocks_of_view(view, lowest, len(positions), skip) for view in views)
        return cls(blocks, positions, groups, store, skip)

    def of_layer(self, layer: int, last: bool) -> LayerCachedKeys:
        return LayerCachedKeys(self, layer, self.skip if last else 0)


def cut(view: VisibleRows) -> VisibleRows:
    """The same, no wider than it must be, with 0 in places that are not used."""
    width = int(view.keys.max())
    unused = torch.arange(width, device=view.keys.device) >= view.keys[:, None]
    relative = view.relative[:, :width].long().masked_fill(unused, 0)
    channel = None if view.channel is None else view.channel[:, :width].long().masked_fill(unused, 0)
    return VisibleRows(view.attends[:, :width].long(), relative, view.keys, channel)


def blocks_of_view(view: VisibleRows, lowest: int, unused: int, skip: int) -> tuple[KeyBlocks, ...]:
    """All rows of a view in blocks; `unused` is the position of places without a key."""
    empty = torch.arange(view.attends.shape[1], device=view.keys.device) >= view.keys[:, None]
    position = (view.relative - lowest).masked_fill(empty, unused)
    together = BLOCK_ROWS * BLOCKS_TOGETHER
    blocks = []
    for start, stop in ((0, skip), (skip, len(position))):  # rows to skip attend to little: no need for all columns
        widest = int(view.keys[start:stop].max()) if stop > start else 0
        for first in range(start, stop, together):
            some = slice(first, min(first + together, stop)), slice(widest)
            channel = None if view.channel is None else view.channel[some]
            blocks.append(blocks_of(first, view.attends[some], position[some], channel, unused))
    return tuple(blocks)


def blocks_of(first: int, attends: Tensor, position: Tensor, channel: Tensor | None, unused: int) -> KeyBlocks:
    """Blocks of some rows, from (rows, width) numbers of cached rows and positions, of which `unused` marks no key."""
    rows, count = len(attends), -(-len(attends) // BLOCK_ROWS)
    used = (position != unused).nonzero(as_tuple=True)
    numbers = attends[used]
    span = numbers.max() + 1
    different, which = (used[0] // BLOCK_ROWS * span + numbers).unique(return_inverse=True)
    block = different // span
    begins = torch.searchsorted(block, torch.arange(count + 1, device=block.device))
    most = int(begins.diff().max())
    keys = attends.new_zeros(count, most + 1)
    keys[block, torch.arange(len(different), device=block.device) - begins[block]] = different % span
    place = attends.new_full((count * BLOCK_ROWS, attends.shape[1]), most)
    place[used] = which - begins[used[0] // BLOCK_ROWS]
    # Rows that fill the last block attend to the key that fills places.
    fill = (0, 0, 0, len(place) - rows)
    channel = None if channel is None else functional.pad(channel, fill)
    return KeyBlocks(first, rows, keys, place, functional.pad(position, fill), channel)


@dataclass(frozen=True, slots=True)
class LayerCachedKeys:
    """Cached keys within one layer, without the first `skip` rows."""

    keys: CachedKeys
    layer: int
    skip: int

    def queries(self, rows: Tensor) -> Tensor:
        """See `LayerKeys`."""
        return rows[self.skip :] if self.skip else rows

    def attend(self, projected: Projected) -> Tensor:
        """See `LayerKeys`. New rows are stored first: they may attend to each other."""
        stored = self.keys.store(self.layer, projected.keys_values)
        mixed = torch.empty_like(projected.content)
        for group in self.keys.groups[self.layer]:
            some = projected.of_heads(group)
            for blocks in self.keys.views[group.view]:
                first = blocks.first - self.skip
                if first >= 0:
                    rows = slice(first, first + blocks.rows)
                    mixed[rows, group.first : group.stop] = attend_to_blocks(some, blocks, rows, stored, group)
        return mixed.flatten(1)


def attend_to_blocks(projected: Projected, blocks: KeyBlocks, rows: slice, stored: Tensor, group: HeadGroup) -> Tensor:
    """(rows, heads of the group, head width)"""
    heads, (count, places) = group.stop - group.first, blocks.keys.shape
    fill = len(blocks.place) - blocks.rows
    content, position = (
        functional.pad(query[rows].transpose(0, 1), (0, 0, 0, fill))
        for query in (projected.content, projected.position)
    )
    key, value = by_head(stored, blocks.keys, group)  # each (heads x blocks, keys, head width)
    by_content = content.reshape(heads * count, BLOCK_ROWS, -1) @ key.transpose(1, 2)
    by_content = by_content.view(heads, -1, places)  # (heads, rows, keys)
    by_position = functional.pad(position @ projected.encoded, (0, 1), value=-torch.inf)  # (heads, rows, positions)
    place, at = (which.expand(heads, -1, -1) for which in (blocks.place, blocks.position))
    scores = by_content.gather(-1, place) + by_position.gather(-1, at)
    if blocks.channel is not None and projected.channel is not None:
        scores = scores + (position @ projected.channel).gather(-1, blocks.channel.expand(heads, -1, -1))
    weights = torch.zeros_like(by_content).scatter_(-1, place, scores.softmax(-1))
    mixed: Tensor = weights.view(heads * count, BLOCK_ROWS, places) @ value
    return mixed.view(heads, len(blocks.place), -1)[:, : blocks.rows].transpose(0, 1)


def by_head(stored: Tensor, keys: Tensor, group: HeadGroup) -> Tensor:
    """(2, heads x blocks, keys, head width) keys and values of a group, from the table of cached rows, which is read once."""
    heads, head_width = stored.shape[2:]
    parts = torch.arange(2 * heads, device=keys.device).view(2, heads, 1, 1)[:, group.first : group.stop]
    found = stored.flatten(0, 2).index_select(0, (keys * (2 * heads) + parts).flatten())
    return found.view(2, parts.shape[1] * len(keys), keys.shape[1], head_width)
