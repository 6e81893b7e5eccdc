"""Attention to stored rows by their number: what each new row attends to in, blocks of rows with the keys they share out.

Rows that stand together (hypotheses of one sentence, neighbours in a trie) attend to much the same rows. A block of them
is multiplied with all keys that any of them needs; each row then picks its own scores. That costs far less than gathering
keys for each row, which would move every shared key once for each row that attends to it. Many blocks go together, each
with as many places for keys as the one that needs most.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from dtg.model.attention import Projected

BLOCK_ROWS = 16  # enough work at once, few keys that only other rows need
BLOCKS_TOGETHER = 32  # bounds the memory for the keys of a large pass

# Takes the number of a layer and what it made of the new rows, (rows, 2, heads, head width) keys and values; gives the
# table of all stored rows of that layer, the new ones included, in the same form.
Store = Callable[[int, Tensor], Tensor]


@dataclass(frozen=True, slots=True)
class ReachBlocks:
    """Some consecutive rows in blocks; the last block may be filled up. Each block's last key only fills places."""

    first: int
    rows: int  # without those that fill the last block
    keys: Tensor  # (blocks, keys) numbers of stored rows
    place: Tensor  # (blocks x BLOCK_ROWS, width) which of its block's keys each row attends to
    position: Tensor  # (same) at which of the reach's positions; one past the last where a place is not used


@dataclass(frozen=True, slots=True)
class Reach:
    """What new rows attend to. `positions` are the relative positions that occur; the last layer may skip the first rows."""

    blocks: tuple[ReachBlocks, ...]
    positions: Tensor
    store: Store
    skip: int

    @classmethod
    def of(cls, attends: Tensor, relative: Tensor, count: Tensor, store: Store, skip: int = 0) -> Reach:
        """From (rows, width) numbers of stored rows and their relative positions, of which the first `count` (rows,) hold."""
        width = int(count.max())
        attends, relative = attends[:, :width].long(), relative[:, :width].long()
        unused = torch.arange(width, device=count.device) >= count[:, None]
        relative = relative.masked_fill(unused, 0)
        lowest, highest = int(relative.min()), int(relative.max())
        positions = torch.arange(lowest, highest + 1, device=count.device)
        position = (relative - lowest).masked_fill(unused, len(positions))
        together = BLOCK_ROWS * BLOCKS_TOGETHER
        blocks = []
        for start, stop in ((0, skip), (skip, len(attends))):  # rows to skip attend to little: no need for all columns
            widest = int(count[start:stop].max()) if stop > start else 0
            for first in range(start, stop, together):
                some = slice(first, min(first + together, stop)), slice(widest)
                blocks.append(blocks_of(first, attends[some], position[some], len(positions)))
        return cls(tuple(blocks), positions, store, skip)

    def of_layer(self, layer: int, last: bool) -> LayerReach:
        return LayerReach(self, layer, self.skip if last else 0)


def blocks_of(first: int, attends: Tensor, position: Tensor, unused: int) -> ReachBlocks:
    """Blocks of some rows, from (rows, width) numbers of stored rows and positions, of which `unused` marks no key."""
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
    position = functional.pad(position, (0, 0, 0, len(place) - rows))
    return ReachBlocks(first, rows, keys, place, position)


@dataclass(frozen=True, slots=True)
class LayerReach:
    """A reach within one layer, without the first `skip` rows."""

    reach: Reach
    layer: int
    skip: int

    def mix(self, projected: Projected) -> Tensor:
        """See `LayerKeys`. New rows are stored first: they may attend to each other."""
        stored = self.reach.store(self.layer, projected.keys_values)
        rows, heads, head_width = projected.content.shape
        mixed = projected.content.new_empty(rows, heads, head_width)
        for blocks in self.reach.blocks:
            first = blocks.first - self.skip
            if first >= 0:
                some = slice(first, first + blocks.rows)
                mixed[some] = attend(projected, blocks, some, stored)
        return mixed.flatten(1)


def attend(projected: Projected, blocks: ReachBlocks, some: slice, stored: Tensor) -> Tensor:
    """(rows, heads, head width)"""
    heads, (count, places) = stored.shape[2], blocks.keys.shape
    fill = len(blocks.place) - blocks.rows
    content, position = (
        functional.pad(query[some].transpose(0, 1), (0, 0, 0, fill))
        for query in (projected.content, projected.position)
    )
    key, value = by_head(stored, blocks.keys)  # each (heads x blocks, keys, head width)
    by_content = content.reshape(heads * count, BLOCK_ROWS, -1) @ key.transpose(1, 2)
    by_content = by_content.view(heads, -1, places)  # (heads, rows, keys)
    by_position = functional.pad(position @ projected.encoded, (0, 1), value=-torch.inf)  # (heads, rows, positions)
    place, at = (which.expand(heads, -1, -1) for which in (blocks.place, blocks.position))
    scores = by_content.gather(-1, place) + by_position.gather(-1, at)
    weights = torch.zeros_like(by_content).scatter_(-1, place, scores.softmax(-1))
    mixed: Tensor = weights.view(heads * count, BLOCK_ROWS, places) @ value
    return mixed.view(heads, len(blocks.place), -1)[:, : blocks.rows].transpose(0, 1)


def by_head(stored: Tensor, keys: Tensor) -> Tensor:
    """(2, heads x blocks, keys, head width) keys and values, from the stored rows' table, which is read once."""
    heads, head_width = stored.shape[2:]
    parts = torch.arange(2 * heads, device=keys.device).view(2, heads, 1, 1)
    found = stored.flatten(0, 2).index_select(0, (keys * (2 * heads) + parts).flatten())
    return found.view(2, heads * len(keys), keys.shape[1], head_width)
