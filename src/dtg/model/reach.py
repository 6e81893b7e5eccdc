"""Attention to stored rows by their number: what each new row attends to in, blocks of rows with the keys they share out.

Rows that stand together (hypotheses of one sentence, neighbours in a trie) attend to much the same rows. A block of them
is multiplied with all keys that any of them needs; each row then picks its own scores. That costs far less than gathering
keys for each row, which would move every shared key once for each row that attends to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from dtg.model.attention import Projected

BLOCK_ROWS = 128  # enough work at once, few keys that only other rows need

# Takes the number of a layer and what it made of the new rows, (rows, 2, heads, head width) keys and values; gives the
# table of all stored rows of that layer, the new ones included, in the same form.
Store = Callable[[int, Tensor], Tensor]


@dataclass(frozen=True, slots=True)
class ReachBlock:
    """Some consecutive rows. The last key only fills places: it gets no weight."""

    first: int
    rows: int
    keys: Tensor  # (keys,) numbers of stored rows
    place: Tensor  # (1, rows, width) which of `keys` each row attends to
    position: Tensor  # (1, rows, width) at which of the reach's positions; one past the last where a place is not used


@dataclass(frozen=True, slots=True)
class Reach:
    """What new rows attend to. `positions` are the relative positions that occur."""

    blocks: tuple[ReachBlock, ...]
    positions: Tensor
    store: Store

    @classmethod
    def of(cls, attends: Tensor, relative: Tensor, count: Tensor, store: Store) -> Reach:
        """From (rows, width) numbers of stored rows and their relative positions, of which the first `count` (rows,) hold."""
        width = int(count.max())
        attends, relative = attends[:, :width].long(), relative[:, :width].long()
        unused = torch.arange(width, device=count.device) >= count[:, None]
        relative = relative.masked_fill(unused, 0)
        lowest, highest = int(relative.min()), int(relative.max())
        positions = torch.arange(lowest, highest + 1, device=count.device)
        position = (relative - lowest).masked_fill(unused, len(positions))
        blocks = []
        for first in range(0, len(attends), BLOCK_ROWS):
            some = slice(first, first + BLOCK_ROWS)
            keys, place = distinct(attends[some], unused[some])
            blocks.append(ReachBlock(first, len(place), keys, place[None], position[some][None]))
        return cls(tuple(blocks), positions, store)

    def of_layer(self, layer: int) -> LayerReach:
        return LayerReach(self, layer)


def distinct(attends: Tensor, unused: Tensor) -> tuple[Tensor, Tensor]:
    """The different numbers in a table, with one more to fill places, and where in them each entry is."""
    keys, place = attends.masked_fill(unused, -1).unique(return_inverse=True)
    if keys[0] >= 0:
        return torch.cat([keys, keys[:1]]), place
    # Unused places came first as -1: send them to the end.
    return torch.cat([keys[1:], keys[-1:]]), torch.where(unused, len(keys) - 1, place - 1)


@dataclass(frozen=True, slots=True)
class LayerReach:
    """A reach within one layer."""

    reach: Reach
    layer: int

    def mix(self, projected: Projected) -> Tensor:
        """See `LayerKeys`. New rows are stored first: they may attend to each other."""
        stored = self.reach.store(self.layer, projected.keys_values)
        rows, heads, head_width = projected.content.shape
        mixed = projected.content.new_empty(rows, heads, head_width)
        for block in self.reach.blocks:
            some = slice(block.first, block.first + block.rows)
            mixed[some] = attend(projected, block, some, stored)
        return mixed.flatten(1)


def attend(projected: Projected, block: ReachBlock, some: slice, stored: Tensor) -> Tensor:
    """(rows of the block, heads, head width)"""
    key, value = stored.index_select(0, block.keys).permute(1, 2, 0, 3)  # each (heads, keys, head width)
    by_content = projected.content[some].transpose(0, 1) @ key.transpose(-1, -2)  # (heads, rows, keys)
    by_position = projected.position[some].transpose(0, 1) @ projected.encoded  # (heads, rows, positions)
    by_position = functional.pad(by_position, (0, 1), value=-torch.inf)
    place = block.place.expand(len(key), -1, -1)
    scores = by_content.gather(-1, place) + by_position.gather(-1, block.position.expand_as(place))
    weights = torch.zeros_like(by_content).scatter_(-1, place, scores.softmax(-1))
    mixed: Tensor = weights @ value
    return mixed.transpose(0, 1)
