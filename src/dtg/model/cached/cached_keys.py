"""Attention to rows in a KV cache, by their numbers: rows in blocks, each with the keys that its rows share.

Rows that stand together (neighbours in a trie, hypotheses with deep stacks) attend to much the same rows. A block of them
is multiplied with all keys that any of them needs; each row then picks its own scores. That costs far less than gathering
keys for each row, which would move every shared key once for each row that attends to it. Many blocks go together, each
with as many places for keys as the one that needs most. Where rows attend to few keys and share little, pairs of a row and a
key are faster (`key_pairs.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from dtg.model.attention import HeadGroup, HeadGroups, Projected
from dtg.model.cached.key_pairs import KEYS_AT_MOST, ROWS_TOGETHER, KeyPairs

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
    # (blocks x BLOCK_ROWS, keys) at which of the occurring positions a row sees each key of its block; one past the last
    # where it does not see it
    position: Tensor
    channel: Tensor | None  # (same)
    places: dict[HeadGroup, Tensor] = field(default_factory=dict)  # of a group's keys and values in a table, once found

    def attend(
        self, content: Tensor, by_position: Tensor, by_channel: Tensor | None, stored: Tensor, group: HeadGroup
    ) -> Tensor:
        """(rows, heads of the group, head width); see `LayerCachedKeys.attend_to`, of whose tables these are the rows."""
        return attend_to_blocks(
            filled(content.transpose(0, 1), self),
            filled(by_position, self),
            None if by_channel is None else filled(by_channel, self),
            self,
            stored,
            group,
        )


SomeKeys = KeyBlocks | KeyPairs  # of some consecutive rows


class OfView(NamedTuple):
    """What rows attend to through one view."""

    all_rows: tuple[SomeKeys, ...]
    left: tuple[SomeKeys, ...]  # in the last layer, which may skip the first rows


@dataclass(frozen=True, slots=True)
class CachedKeys:
    """What new rows attend to. `positions` are the relative positions that occur; the last layer may skip the first rows."""

    views: tuple[OfView, ...]
    positions: Tensor
    span: tuple[int, int]  # the first and the last of them
    groups: tuple[HeadGroups, ...]  # of every layer
    store: Store
    skip: int

    @classmethod
    def of(
        cls,
        views: Sequence[VisibleRows],
        groups: tuple[HeadGroups, ...],
        store: Store = lambda layer, keys_values: keys_values,
        skip: int = 0,
        *,
        share_little: bool = False,
    ) -> CachedKeys:
        """From what new rows see through each view. Without `store`, the new rows are all that there are.

        Rows that stand together and `share_little` of what they see, as hypotheses do, attend pair by pair if that is little.
        """
        views = [cut(view) for view in views]
        lowest = min(int(view.relative.min()) for view in views)
        highest = max(int(view.relative.max()) for view in views)
        positions = torch.arange(lowest, highest + 1, device=views[0].keys.device)
        keys = tuple(keys_of_view(view, lowest, len(positions), skip, share_little) for view in views)
        return cls(keys, positions, (lowest, highest), groups, store, skip)

    def of_layer(self, layer: int, last: bool) -> LayerCachedKeys:
        return LayerCachedKeys(self, layer, self.skip if last else 0)


def cut(view: VisibleRows) -> VisibleRows:
    """The same, no wider than it must be, with 0 in places that are not used."""
    width = int(view.keys.max())
    unused = torch.arange(width, device=view.keys.device) >= view.keys[:, None]
    relative = view.relative[:, :width].long().masked_fill(unused, 0)
    channel = None if view.channel is None else view.channel[:, :width].long().masked_fill(unused, 0)
    return VisibleRows(view.attends[:, :width].long(), relative, view.keys, channel)


def keys_of_view(view: VisibleRows, lowest: int, unused: int, skip: int, share_little: bool) -> OfView:
    """The keys of all rows of a view, and of those that are left without the first `skip`.

    `unused` is the position of places without a key.
    """
    empty = torch.arange(view.attends.shape[1], device=view.keys.device) >= view.keys[:, None]
    position = (view.relative - lowest).masked_fill(empty, unused)
    rows = len(position)
    in_pairs = share_little and int(view.keys.sum()) <= KEYS_AT_MOST * rows
    make, together = (KeyPairs.of, ROWS_TOGETHER) if in_pairs else (blocks_of, BLOCK_ROWS * BLOCKS_TOGETHER)

    def of_rows(start: int, stop: int) -> Iterator[SomeKeys]:
        widest = int(view.keys[start:stop].max()) if stop > start else 0
        for first in range(start, stop, together):
            some = slice(first, min(first + together, stop)), slice(widest)
            channel = None if view.channel is None else view.channel[some]
            yield make(first, view.attends[some], position[some], channel, unused)

    left = tuple(of_rows(skip, rows))
    if not skip:
        return OfView(left, left)
    if in_pairs:  # the fewer parts the better
        return OfView(tuple(of_rows(0, rows)), left)
    return OfView((*of_rows(0, skip), *left), left)  # rows to skip attend to little: they need not have all columns


def blocks_of(first: int, attends: Tensor, position: Tensor, channel: Tensor | None, unused: int) -> KeyBlocks:
    """Blocks of some rows, from (rows, width) numbers of cached rows and positions, of which `unused` marks no key."""
    count = -(-len(attends) // BLOCK_ROWS)
    used = (position != unused).nonzero(as_tuple=True)
    numbers, of_block = attends[used], used[0] // BLOCK_ROWS
    span = numbers.max() + 1
    different, which = (of_block * span + numbers).unique(return_inverse=True)
    block = different // span
    begins = torch.searchsorted(block, torch.arange(count + 1, device=block.device))
    most = int(begins.diff().max())
    keys = attends.new_zeros(count, most + 1)
    keys[block, torch.arange(len(different), device=block.device) - begins[block]] = different % span
    by_key = position.new_full((count * BLOCK_ROWS, most + 1), unused)
    by_key[len(attends) :, most] = 0  # rows that fill the last block attend to the key that fills places
    place = used[0], which - begins[of_block]
    by_key[place] = position[used]
    if channel is not None:
        channel = torch.zeros_like(by_key).index_put(place, channel[used])
    return KeyBlocks(first, len(attends), keys, by_key, channel)


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
        # Where a key is not seen, its position fits not at all.
        seen = functional.pad(projected.position.transpose(0, 1) @ projected.encoded, (0, 1), value=-torch.inf)
        channel = None if projected.channel is None else projected.position.transpose(0, 1) @ projected.channel
        return self.attend_to(stored, projected.content, seen, channel)

    def attend_to(self, stored: Tensor, content: Tensor, by_position: Tensor, by_channel: Tensor | None) -> Tensor:
        """The same, from how well positions fit.

        Args:
            stored: (cached rows, 2, heads, head width) keys and values of this layer, those of the new rows included.
            content: (rows, heads, head width) queries for content, scaled, with u.
            by_position: (heads, rows, positions + 1) the score of each position that occurs; minus infinity in the last place.
            by_channel: (heads, rows, channel values) the score of each value of a view's channel, if it has one.
        """
        groups = self.keys.groups[self.layer]
        parts = [view.left if self.skip else view.all_rows for view in self.keys.views]
        if len(groups) == 1 and len(only := parts[groups[0].view]) == 1:
            return only[0].attend(content, by_position, by_channel, stored, groups[0]).flatten(1)
        mixed = torch.empty_like(content)
        for group in groups:
            heads = slice(group.first, group.stop)
            for some in parts[group.view]:
                first = some.first - self.skip
                rows = slice(first, first + some.rows)
                mixed[rows, heads] = some.attend(
                    content[rows, heads],
                    by_position[heads, rows],
                    None if by_channel is None else by_channel[heads, rows],
                    stored,
                    group,
                )
        return mixed.flatten(1)


def filled(table: Tensor, blocks: KeyBlocks) -> Tensor:
    """(heads, rows, ...) with rows that fill the last block."""
    fill = len(blocks.position) - blocks.rows
    return functional.pad(table, (0, 0, 0, fill)) if fill else table


def attend_to_blocks(
    content: Tensor, by_position: Tensor, by_channel: Tensor | None, blocks: KeyBlocks, stored: Tensor, group: HeadGroup
) -> Tensor:
    """(rows, heads of the group, head width)"""
    heads, (count, places) = len(content), blocks.keys.shape
    key, value = by_head(stored, blocks, group)  # each (heads x blocks, keys, head width)
    scores = by_position.gather(-1, blocks.position.expand(heads, -1, -1))  # (heads, rows, keys)
    if blocks.channel is not None and by_channel is not None:
        scores = scores + by_channel.gather(-1, blocks.channel.expand(heads, -1, -1))
    scores = torch.baddbmm(
        scores.view(heads * count, BLOCK_ROWS, places),
        content.reshape(heads * count, BLOCK_ROWS, -1),
        key.transpose(1, 2),
    )
    mixed: Tensor = scores.softmax(-1) @ value
    return mixed.view(heads, count * BLOCK_ROWS, -1)[:, : blocks.rows].transpose(0, 1)


def by_head(stored: Tensor, blocks: KeyBlocks, group: HeadGroup) -> Tensor:
    """(2, heads x blocks, keys, head width) keys and values of a group, from the table of cached rows, which is read once."""
    heads, head_width = stored.shape[2:]
    if group not in blocks.places:  # the same in every layer
        parts = torch.arange(2 * heads, device=stored.device).view(2, heads, 1, 1)[:, group.first : group.stop]
        blocks.places[group] = (blocks.keys * (2 * heads) + parts).flatten()
    found = stored.flatten(0, 2).index_select(0, blocks.places[group])
    return found.view(2, (group.stop - group.first) * len(blocks.keys), blocks.keys.shape[1], head_width)
