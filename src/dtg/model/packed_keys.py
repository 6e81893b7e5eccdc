"""Attention among the packed rows of a batch, as a GPU likes it: sentences of similar length side by side in blocks.

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

    index: Tensor  # (sentences, 1, queries, longest) which of `PackedKeys.positions` a key is seen at
    channel: Tensor | None  # (sentences, 1, queries, longest)


@dataclass(frozen=True, slots=True)
class Block:
    """Some sentences of a batch, each padded to the longest of them."""

    row: Tensor  # (sentences x longest,) the packed row at each place; any row where the place is empty
    query: Tensor  # (sentences x most queries,) the same for rows that have queries, counted among these
    filled: Tensor  # (queries of this block,) the places of queries that hold one
    views: tuple[BlockView, ...]
    sentences: int


@dataclass(frozen=True, slots=True)
class PackedKeys:
    """A batch in blocks. A key that is not attended to has the index one past the last position."""

    blocks: tuple[Block, ...]
    last: tuple[Block, ...]  # as the last layer sees them
    chosen: Tensor | None  # (queries,) the rows that have queries there; None: all
    positions: Tensor  # (positions,) the relative positions that occur, in ascending order
    groups: tuple[HeadGroups, ...]  # of every layer
    padding: float

    @classmethod
    def of(cls, packed: PackedRows, groups: tuple[HeadGroups, ...], *, all_outputs: bool = True) -> PackedKeys:
        """Without `all_outputs`, only rows that predict have queries in the last layer."""
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
        places = sum(len(block.row) for block in blocks)
        predicts = (packed.target >= 0).nonzero()[:, 0]
        chosen = None if all_outputs or len(predicts) == len(packed) else predicts
        last = blocks if chosen is None else tuple(of_queries(block, chosen) for block in blocks)
        return cls(blocks, last, chosen, positions, groups, 1.0 - len(packed) / places)

    def of_layer(self, layer: int, last: bool) -> LayerPackedKeys:
        """Every layer attends to its own rows."""
        blocks, chosen = (self.last, self.chosen) if last else (self.blocks, None)
        return LayerPackedKeys(blocks, self.groups[layer], chosen)


@dataclass(frozen=True, slots=True)
class LayerPackedKeys:
    """A batch as one layer's groups of heads see it."""

    blocks: tuple[Block, ...]
    groups: HeadGroups
    chosen: Tensor | None

    def queries(self, rows: Tensor) -> Tensor:
        """See `LayerKeys`."""
        return rows if self.chosen is None else functional.embedding(self.chosen, rows)

    def attend(self, projected: Projected) -> Tensor:
        """See `LayerKeys`."""
        parts = []
        filled = torch.cat([block.query.index_select(0, block.filled) for block in self.blocks])
        order = torch.empty_like(filled).index_copy_(0, filled, torch.arange(len(filled), device=filled.device))
        for group in self.groups:
            some = projected.of_heads(group)
            mixed = torch.cat([attend_in_block(some, block, block.views[group.view]) for block in self.blocks])
            parts.append(mixed.index_select(0, order))
        return parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)


def attend_in_block(projected: Projected, block: Block, view: BlockView) -> Tensor:
    """(queries of the block, heads x head width)"""

    def by_sentence(rows: Tensor, which: Tensor) -> Tensor:
        return rows.index_select(0, which).view(block.sentences, -1, *rows.shape[1:])

    # each (sentences, heads, longest or queries, head width)
    key, value = by_sentence(projected.keys_values, block.row).permute(2, 0, 3, 1, 4)
    by_content = by_sentence(projected.content, block.query).transpose(1, 2) @ key.transpose(-1, -2)
    position = by_sentence(projected.position, block.query).transpose(1, 2)
    # Each key at its relative position; one that is not attended to finds minus infinity behind the last position.
    by_position = functional.pad(position @ projected.encoded, (0, 1), value=-torch.inf)
    scores = by_content + by_position.gather(-1, view.index.expand_as(by_content))
    if view.channel is not None and projected.channel is not None:
        scores = scores + (position @ projected.channel).gather(-1, view.channel.expand_as(by_content))
    mixed: Tensor = scores.softmax(-1) @ value  # (sentences, heads, queries, head width)
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
    return Block(row, row, filled, views, len(members))


def of_queries(block: Block, chosen: Tensor) -> Block:
    """The block of the same sentences in which only these rows, in ascending order, have queries."""
    longest = len(block.row) // block.sentences
    first = block.row.view(block.sentences, longest)[:, 0].contiguous()
    held = torch.zeros_like(block.row).index_fill_(0, block.filled, 1).view(block.sentences, longest).sum(1)
    begin, end = torch.searchsorted(chosen, first), torch.searchsorted(chosen, first + held)
    column = torch.arange(int((end - begin).max()), device=chosen.device)
    inside = column < (end - begin)[:, None]  # (sentences, queries)
    query = torch.where(inside, begin[:, None] + column, begin[:, None]).clamp(max=len(chosen) - 1)
    place = torch.where(inside, chosen[query] - first[:, None], 0)[:, None, :, None]

    def of_them(table: Tensor) -> Tensor:
        return table.gather(2, place.expand(-1, -1, -1, longest))

    views = tuple(
        BlockView(of_them(view.index), None if view.channel is None else of_them(view.channel)) for view in block.views
    )
    return Block(block.row, query.flatten(), inside.flatten().nonzero()[:, 0], views, block.sentences)


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
