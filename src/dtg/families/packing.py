"""Whole sentences as rows: derivations in, packed rows out, by folding a family's `advance` over them.

Sentences run in lockstep, longest first, so that those that are finished drop out of the batch. In the result the rows
of a sentence stand together, and sentences are in the order they came in. Nothing is padded but the lists of attended
rows, which are as wide as the deepest stack.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from dtg.families.rows import NOTHING, LaneRows
from dtg.transitions.action import Operation
from dtg.transitions.batch import ActionBatch, offsets
from dtg.transitions.lanes import LaneActions, pad_columns

if TYPE_CHECKING:
    from dtg.families.family import Family


@dataclass(frozen=True, slots=True)
class Dense:
    """Attention of padded sentences, for looking at and for attention routines that want a mask."""

    mask: Tensor  # (sentences, rows, rows) bool: [s, i, j] if row i attends to row j
    relative: Tensor  # (sentences, rows, rows) relative position of j seen from i; 0 where masked


@dataclass(frozen=True, slots=True)
class PackedRows:
    """The rows of many sentences. `attends` holds places in this pack; unused entries are NOTHING (-1)."""

    offsets: Tensor  # (sentences + 1,) where each sentence's rows begin
    kind: Tensor  # (rows,) a KindCode
    piece: Tensor  # (rows,) the piece read, or NOTHING
    operation: Tensor  # (rows,) the operation read, or NOTHING
    distance: Tensor  # (rows,) the distance of that operation
    target: Tensor  # (rows,) the action predicted, as a place in the ActionBatch, or NOTHING
    attends: Tensor  # (rows, keys) int32
    relative: Tensor  # (rows, keys) int16
    keys: Tensor  # (rows,) how many rows each attends to, itself included

    def __len__(self) -> int:
        return self.kind.shape[0]

    def dense(self) -> Dense:
        """The same attention as a mask and a table of relative positions for each sentence."""
        lengths = self.offsets.diff()
        longest = int(lengths.max()) if len(lengths) else 0
        sentence = torch.repeat_interleave(torch.arange(len(lengths), device=lengths.device), lengths)
        mask = torch.zeros(len(lengths), longest, longest, dtype=torch.bool, device=lengths.device)
        relative = torch.zeros_like(mask, dtype=torch.int16)
        row, key = (self.attends != NOTHING).nonzero(as_tuple=True)
        first = self.offsets[sentence[row]]
        place = (sentence[row], row - first, self.attends[row, key].long() - first)
        mask[place] = True
        relative[place] = self.relative[row, key]
        return Dense(mask, relative)


def pack(family: Family, actions: ActionBatch, root: int) -> PackedRows:
    """Every row of every derivation; `root` is the piece that the `<ROOT>` rows read."""
    lengths = actions.offsets.diff() - 1  # <END> adds no rows
    row_offsets = offsets(1 + rows_of(family, actions))
    order = torch.argsort(lengths, descending=True, stable=True)
    first_action, first_row = actions.offsets[:-1][order], row_offsets[:-1][order]
    running = still_running(lengths)
    columns = torch.stack([actions.operation, actions.piece, actions.starts_word.long(), actions.distance], dim=1)

    folded = Folded(int(row_offsets[-1]), lengths.device)
    unknown = torch.full_like(first_row, -1)
    lanes, rows = family.begin(unknown, root, first_row)
    folded.add([rows], first_action)
    for step, count in enumerate(running):
        if count < len(lanes):
            lanes = lanes.first(count)
        now = first_action[:count] + step
        operation, piece, starts_word, distance = columns.index_select(0, now).unbind(1)
        step_actions = LaneActions(operation, piece, starts_word.bool(), distance)
        folded.add(family.advance(lanes, step_actions), now + 1)
    return folded.packed(row_offsets)


def rows_of(family: Family, actions: ActionBatch) -> Tensor:
    """(sentences,) how many rows the actions of each derivation add."""
    added = (actions.operation != Operation.END).long()
    if family.doubles_arcs:
        added = added + (actions.operation == Operation.LEFTARC) + (actions.operation == Operation.RIGHTARC)
    total = offsets(added)
    return total[actions.offsets[1:]] - total[actions.offsets[:-1]]


def still_running(lengths: Tensor) -> list[int]:
    """How many sentences are longer than 0, 1, 2, ... actions."""
    finished = torch.bincount(lengths).cumsum(0) if len(lengths) else lengths
    counts: list[int] = (len(lengths) - finished[:-1]).tolist()
    return counts


class Folded:
    """Collects rows step by step. Lanes without a row write to one extra place, which is cut off at the end."""

    def __init__(self, total: int, device: torch.device) -> None:
        self.total = total
        self.attends = torch.full((total + 1, 1), NOTHING, dtype=torch.int32, device=device)
        self.relative = torch.zeros((total + 1, 1), dtype=torch.int16, device=device)
        self.collected: list[tuple[Tensor, ...]] = []

    def add(self, groups: Iterable[LaneRows], next_action: Tensor) -> None:
        for rows in groups:
            width = rows.attends.shape[1]
            if width > self.attends.shape[1]:
                self.attends = pad_columns(self.attends, width, NOTHING)
                self.relative = pad_columns(self.relative, width)
            place = torch.where(rows.present, rows.id, self.total)
            self.attends[:, :width].index_copy_(0, place, rows.attends.int())
            self.relative[:, :width].index_copy_(0, place, rows.relative.short())
            target = next_action if rows.predicts else torch.full_like(next_action, NOTHING)
            self.collected.append((place, rows.kind, rows.piece, rows.operation, rows.distance, rows.keys, target))

    def packed(self, row_offsets: Tensor) -> PackedRows:
        place, *columns = (torch.cat(parts) for parts in zip(*self.collected, strict=True))
        kind, piece, operation, distance, keys, target = (self._in_order(place, column) for column in columns)
        width = int(keys.max()) if self.total else 0
        return PackedRows(
            offsets=row_offsets,
            kind=kind,
            piece=piece,
            operation=operation,
            distance=distance,
            target=target,
            attends=self.attends[: self.total, :width],
            relative=self.relative[: self.total, :width],
            keys=keys,
        )

    def _in_order(self, place: Tensor, column: Tensor) -> Tensor:
        ordered = torch.empty(self.total + 1, dtype=column.dtype, device=column.device)
        ordered[place] = column
        return ordered[: self.total]


def sentence_rows(packed: PackedRows, sentence: int) -> slice:
    """Where one sentence's rows are."""
    bounds: Sequence[int] = packed.offsets[sentence : sentence + 2].tolist()
    return slice(*bounds)
