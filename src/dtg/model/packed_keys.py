"""How packed rows meet in attention: sentences of similar length side by side in blocks.

Only attention is computed on blocks; everything else runs on packed rows, where nothing is padding. A batch is cut into
several blocks so that a long sentence does not make the short ones pay: `padding` says which share of the places is empty.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from dtg.families import PackedRows
from dtg.model.attention import Projected

BLOCK_PLACES = 1024  # a block has about this many rows: enough work at once, little padding
SLACK = 0.9  # sentences shorter than this share of the longest in a block start the next one


@dataclass(frozen=True, slots=True)
class Block:
    """Some sentences of a batch, each padded to the longest of them."""

    row: Tensor  # (sentences x longest,) the packed row at each place; any row where the place is empty
    filled: Tensor  # (rows of this block,) the places that hold a row
    index: Tensor  # (sentences, 1, longest, longest) which of the layout's positions a key is seen at; see `Layout`
    sentences: int
    longest: int


@dataclass(frozen=True, slots=True)
class Layout:
    """A batch in blocks. A key that is not attended to has the index one past the last position."""

    blocks: tuple[Block, ...]
    order: Tensor  # (rows,) where each packed row is in the blocks' filled places, one block after another
    positions: Tensor  # (positions,) the relative positions that occur, in ascending order
    padding: float

    @classmethod
    def of(cls, packed: PackedRows) -> Layout:
        device = packed.offsets.device
        lengths = packed.offsets.diff()
        sizes: list[int] = lengths.tolist()
        lowest, highest = int(packed.relative.min()), int(packed.relative.max())
        positions = torch.arange(lowest, highest + 1, device=device)
        blocks = tuple(
            block_of(packed, torch.tensor(group, device=device), lengths, lowest, len(positions))
            for group in groups(sizes)
        )
        rows = torch.cat([block.row[block.filled] for block in blocks])
        order = torch.empty_like(rows)
        order[rows] = torch.arange(len(rows), device=device)
        places = sum(block.sentences * block.longest for block in blocks)
        return cls(blocks, order, positions, 1.0 - len(rows) / places)

    @property
    def skip(self) -> int:
        """Any row may predict."""
        return 0

    def of_layer(self, layer: int, last: bool) -> Layout:
        """Every layer attends to its own rows, in the same way."""
        return self

    def mix(self, projected: Projected) -> Tensor:
        """See `LayerKeys`."""
        mixed = [attend(projected, block) for block in self.blocks]
        return torch.cat(mixed).index_select(0, self.order)


def attend(projected: Projected, block: Block) -> Tensor:
    """(rows of the block, heads x head width)"""

    def by_sentence(rows: Tensor) -> Tensor:
        return rows.index_select(0, block.row).view(block.sentences, block.longest, *rows.shape[1:])

    key, value = by_sentence(projected.keys_values).permute(
        2, 0, 3, 1, 4
    )  # each (sentences, heads, longest, head width)
    by_content = by_sentence(projected.content).transpose(1, 2) @ key.transpose(-1, -2)
    by_position = by_sentence(projected.position).transpose(1, 2) @ projected.encoded
    # Each key at its stack distance; one that is not attended to finds minus infinity behind the last position.
    by_position = functional.pad(by_position, (0, 1), value=-torch.inf)
    scores = by_content + by_position.gather(-1, block.index.expand_as(by_content))
    mixed: Tensor = scores.softmax(-1) @ value  # (sentences, heads, longest, head width)
    return mixed.transpose(1, 2).flatten(0, 1).flatten(1).index_select(0, block.filled)


def groups(sizes: list[int]) -> list[list[int]]:
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
    attends = packed.attends.index_select(0, row).view(len(members), longest, -1).long()  # (sentences, longest, keys)
    relative = packed.relative.index_select(0, row).view_as(attends).long() - lowest
    # Keys that are only padding go to one extra column, which is cut off.
    key = torch.where(attends >= 0, attends - first[:, :, None], longest)
    index = torch.full((len(members), longest, longest + 1), masked, device=members.device)
    index.scatter_(2, key, relative)
    return Block(row, filled, index[:, None, :, :longest], len(members), longest)
