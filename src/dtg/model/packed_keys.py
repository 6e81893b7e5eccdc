"""Attention among the packed rows of a batch: sentences of similar length side by side in blocks.

Only attention is computed on blocks; everything else runs on packed rows, where nothing is padding. A batch is cut into
several blocks so that a long sentence does not make the short ones pay: `padding` says which share of the places is empty.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from dtg.families import PackedRows, PackedView
from dtg.model.attention import HeadGroups, Projected

BLOCK_PLACES = 1024  # a block has about this many rows: enough work at once, little padding
SLACK = 0.9  # sentences shorter than this share of the longest in a block start the next one


@dataclass(frozen=True, slots=True)
class BlockView:
    """What the rows of a block see through one view."""

    index: Tensor  # (sentences, 1, longest, longest) which of `PackedKeys.positions` a key is seen at
    channel: Tensor | None  # (sentences, 1, longest, longest)


@dataclass(frozen=True, slots=True)
class Block:
    """Some sentences of a batch, each padded to the longest of them."""

    row: Tensor  # (sentences x longest,) the packed row at each place; any row where the place is empty
    filled: Tensor  # (rows of this block,) the places that hold a row
    views: tuple[BlockView, ...]
    sentences: int
    longest: int


@dataclass(frozen=True, slots=True)
class PackedKeys:
    """A batch in blocks. A key that is not attended to has the index one past the last position."""

    blocks: tuple[Block, ...]
    order: Tensor  # (rows,) where each packed row is in the blocks' filled places, one block after another
    positions: Tensor  # (positions,) the relative positions that occur, in ascending order
    groups: tuple[HeadGroups, ...]  # of every layer
    padding: float

    @classmethod
    def of(cls, packed: PackedRows, groups: tuple[HeadGroups, ...]) -> PackedKeys:
        device = packed.offsets.device
        lengths = packed.offsets.diff()
        sizes: list[int] = lengths.tolist()
        lowest = min(int(view.relative.min()) for view in packed.views)
        highest = max(int(view.relative.max()) for view in packed.views)
        positions = torch.arange(lowest, highest + 1, device=device)
        blocks = tuple(
            block_of(packed, torch.tensor(members, device=device), lengths, lowest, len(positions))
            for members in similar_lengths(sizes)
        )
        rows = torch.cat([block.row[block.filled] for block in blocks])
        order = torch.empty_like(rows)
        order[rows] = torch.arange(len(rows), device=device)
        places = sum(block.sentences * block.longest for block in blocks)
        return cls(blocks, order, positions, groups, 1.0 - len(rows) / places)

    def of_layer(self, layer: int, last: bool) -> LayerPackedKeys:
        """Every layer attends to its own rows. Any row may predict, so none is skipped."""
        return LayerPackedKeys(self, self.groups[layer])


@dataclass(frozen=True, slots=True)
class LayerPackedKeys:
    """A batch as one layer's groups of heads see it."""

    keys: PackedKeys
    groups: HeadGroups
    skip: int = 0

    def attend(self, projected: Projected) -> Tensor:
        """See `LayerKeys`."""
        parts = []
        for group in self.groups:
            some = projected.of_heads(group)
            mixed = torch.cat([attend_in_block(some, block, block.views[group.view]) for block in self.keys.blocks])
            parts.append(mixed.index_select(0, self.keys.order))
        return parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)


def attend_in_block(projected: Projected, block: Block, view: BlockView) -> Tensor:
    """(rows of the block, heads x head width)"""

    def by_sentence(rows: Tensor) -> Tensor:
        return rows.index_select(0, block.row).view(block.sentences, block.longest, *rows.shape[1:])

    # each (sentences, heads, longest, head width)
    key, value = by_sentence(projected.keys_values).permute(2, 0, 3, 1, 4)
    by_content = by_sentence(projected.content).transpose(1, 2) @ key.transpose(-1, -2)
    position = by_sentence(projected.position).transpose(1, 2)
    # Each key at its relative position; one that is not attended to finds minus infinity behind the last position.
    by_position = functional.pad(position @ projected.encoded, (0, 1), value=-torch.inf)
    scores = by_content + by_position.gather(-1, view.index.expand_as(by_content))
    if view.channel is not None and projected.channel is not None:
        scores = scores + (position @ projected.channel).gather(-1, view.channel.expand_as(by_content))
    mixed: Tensor = scores.softmax(-1) @ value  # (sentences, heads, longest, head width)
    return mixed.transpose(1, 2).flatten(0, 1).flatten(1).index_select(0, block.filled)


def similar_lengths(sizes: list[int]) -> list[list[int]]:
    """Sentences of similar length together, the longest first."""
    found: list[list[int]] = []
    longest = 0
    for sentence in sorted(range(len(sizes)), key=lambda i: -sizes[i]):
        places = longest * len(found[-1]) if found else 0
        fits = found and places + longest <= BLOCK_PLACES
        similar = sizes[sentence] >= SLACK * longest or places < BLOCK_PLACES // 2
        if not (fits and similar):
            found.append([])
            longest = sizes[sentence]
        found[-1].append(sentence)
    return found


def block_of(packed: PackedRows, members: Tensor, lengths: Tensor, lowest: int, masked: int) -> Block:
    """The block of these sentences."""
    sizes = lengths[members]
    longest = int(sizes.max())
    column = torch.arange(longest, device=members.device)
    inside = column < sizes[:, None]  # (sentences, longest)
    first = packed.offsets[:-1][members][:, None]
    row = torch.where(inside, first + column, first).flatten()
    filled = inside.flatten().nonzero()[:, 0]
    views = tuple(view_of_block(view, row, first, longest, lowest, masked) for view in packed.views)
    return Block(row, filled, views, len(members), longest)


def view_of_block(view: PackedView, row: Tensor, first: Tensor, longest: int, lowest: int, masked: int) -> BlockView:
    """What these rows, `longest` of each sentence, see of the rows of their own sentence."""
    attends = view.attends.index_select(0, row).view(len(first), longest, -1).long()  # (sentences, longest, keys)
    relative = view.relative.index_select(0, row).view_as(attends).long() - lowest
    # Keys that are only padding go to one extra column, which is cut off.
    key = torch.where(attends >= 0, attends - first[:, :, None], longest)
    index = torch.full((len(first), longest, longest + 1), masked, device=row.device)
    index.scatter_(2, key, relative)
    channel = None
    if view.channel is not None:
        found = view.channel.index_select(0, row).view_as(attends).long()
        channel = torch.zeros_like(index).scatter_(2, key, found)[:, None, :, :longest]
    return BlockView(index[:, None, :, :longest], channel)
