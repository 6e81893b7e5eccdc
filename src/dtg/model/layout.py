"""How packed rows meet in attention: the rows of each sentence side by side in a block, as long as the longest sentence.

Only attention is computed on blocks; everything else runs on packed rows, where nothing is padding. Batches should hold
sentences of similar length: `padding` says which share of the blocks is empty.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from dtg.families import PackedRows


@dataclass(frozen=True, slots=True)
class Layout:
    """Where rows go, and who attends to whom. `positions` are the relative positions that occur."""

    sentences: int
    longest: int
    place: Tensor  # (rows,) of each packed row among the sentences x longest places of the blocks
    mask: Tensor  # (sentences, 1, longest, longest) bool: attended to
    index: Tensor  # (sentences, 1, longest, longest) which of `positions` it is seen at
    positions: Tensor  # (positions,)
    padding: float

    @classmethod
    def of(cls, packed: PackedRows) -> Layout:
        lengths = packed.offsets.diff()
        sentences, longest = len(lengths), int(lengths.max()) if len(lengths) else 0
        sentence = torch.repeat_interleave(torch.arange(sentences, device=lengths.device), lengths)
        row = torch.arange(len(packed), device=lengths.device)
        place = row + (sentence * longest - packed.offsets[:-1][sentence])
        dense = packed.dense()
        lowest = int(packed.relative.min()) if len(packed) else 0
        highest = int(packed.relative.max()) if len(packed) else 0
        return cls(
            sentences=sentences,
            longest=longest,
            place=place,
            mask=dense.mask[:, None],
            index=(dense.relative.long() - lowest)[:, None].clamp(min=0),
            positions=torch.arange(lowest, highest + 1, device=lengths.device),
            padding=1.0 - len(packed) / max(1, sentences * longest),
        )

    def to_blocks(self, rows: Tensor) -> Tensor:
        """(rows, ...) into (sentences, longest, ...); empty places are zero."""
        blocks = rows.new_zeros(self.sentences * self.longest, *rows.shape[1:])
        return blocks.index_copy(0, self.place, rows).view(self.sentences, self.longest, *rows.shape[1:])

    def to_rows(self, blocks: Tensor) -> Tensor:
        """And back."""
        return blocks.reshape(self.sentences * self.longest, *blocks.shape[2:]).index_select(0, self.place)
