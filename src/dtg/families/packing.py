"""Whole sentences as rows: derivations in, packed rows out, by folding a family's `advance` over them.

Sentences run in lockstep, longest first, so that those that are finished drop out of the batch. In the result the rows
of a sentence stand together, and sentences are in the order they came in. Nothing is padded but the lists of attended
rows, which are as wide as the deepest stack.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from dtg.families.lanes import FIRST_WIDTH
from dtg.families.rows import NOTHING, KindCode, LaneRows
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
    features: Tensor  # (rows, 6) the transition system's state after each row that predicts; see FeatureTable

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
    total = offsets(rows_added(family, actions))
    row_offsets = offsets(1 + total[actions.offsets[1:]] - total[actions.offsets[:-1]])
    folded = Folded(int(row_offsets[-1]), lengths.device)
    # The tables of `folded` are ordinary tensors; what is used up on the way need not be.
    with torch.inference_mode():
        order = torch.argsort(lengths, descending=True, stable=True)
        first, lengths = actions.offsets[:-1][order], lengths[order]
        lanes, rows = family.begin(torch.full_like(order, -1), root, row_offsets[:-1][order])
        folded.add([rows], first[:, None] - 1, lanes.states.features())
        places, counts = by_step(first, lengths), still_running(lengths)
        steps = LaneActions.steps(
            actions.operation[places],
            actions.piece[places],
            actions.starts_word[places],
            actions.distance[places],
            counts,
        )
        for now, step in zip(torch.split(places[:, None], counts), steps, strict=True):
            if len(now) < len(lanes):
                lanes = lanes.first(len(now))
            folded.add(family.advance(lanes, step), now, lanes.states.features())
    return folded.packed(family, actions, row_offsets, actions.offsets[:-1])


def by_step(first: Tensor, lengths: Tensor) -> Tensor:
    """Places of all first actions, then of all second actions, and so on; `first` and `lengths` go by falling length."""
    longest = int(lengths[0]) if len(lengths) else 0
    step = torch.arange(longest, device=first.device)[:, None]
    return (first + step)[step < lengths]


def rows_added(family: Family, actions: ActionBatch) -> Tensor:
    """(actions,) how many rows each action adds."""
    added = (actions.operation != Operation.END).long()
    if family.doubles_arcs:
        added = added + (actions.operation == Operation.LEFTARC) + (actions.operation == Operation.RIGHTARC)
        if family.end == "pop_root":
            added[actions.offsets[1:] - 2] = 1  # the last arc, which stands before <END>
    return added


def still_running(lengths: Tensor) -> list[int]:
    """How many sentences are longer than 0, 1, 2, ... actions."""
    finished = torch.bincount(lengths).cumsum(0) if len(lengths) else lengths
    counts: list[int] = (len(lengths) - finished[:-1]).tolist()
    return counts


class Folded:
    """Collects rows step by step. Lanes without a row write to one extra place, which is cut off at the end.

    Tables are filled in place and only once: fresh memory costs more here than arithmetic.
    """

    def __init__(self, total: int, device: torch.device) -> None:
        self.total = total
        self.columns = torch.empty((total + 1, 4), dtype=torch.long, device=device)  # piece, keys, action, kind
        self.attends = torch.empty((total + 1, FIRST_WIDTH), dtype=torch.int32, device=device)
        self.relative = torch.empty((total + 1, FIRST_WIDTH), dtype=torch.int16, device=device)
        self.features = torch.empty((total + 1, 6), dtype=torch.long, device=device)
        self.kinds = {kind: torch.full((1, 1), int(kind), device=device) for kind in KindCode}

    def add(self, groups: Iterable[LaneRows], action: Tensor, features: Tensor) -> None:
        """Rows that `action` (lanes, 1), a place in the ActionBatch, has added, and the lanes' state after it."""
        for rows in groups:
            width = rows.attends.shape[1]
            if width > self.attends.shape[1]:
                with torch.inference_mode(False):
                    self.attends, self.relative = pad_columns(self.attends, width), pad_columns(self.relative, width)
            place = torch.where(rows.present, rows.id, self.total)[:, 0]
            self.attends[:, :width].index_copy_(0, place, rows.attends.int())
            self.relative[:, :width].index_copy_(0, place, rows.relative.short())
            kind = self.kinds[rows.kind].expand_as(action)
            self.columns.index_copy_(0, place, torch.cat((rows.piece, rows.keys, action, kind), dim=1))
            if rows.predicts:
                self.features.index_copy_(0, place, features)

    def packed(self, family: Family, actions: ActionBatch, row_offsets: Tensor, first_actions: Tensor) -> PackedRows:
        """The whole; `first_actions` are what the `<ROOT>` rows, which begin at `row_offsets`, predict."""
        piece, keys, action, kind = self.columns[: self.total].unbind(1)
        action[row_offsets[:-1]] = NOTHING  # <ROOT> rows come from no action
        operation = torch.where(action == NOTHING, NOTHING, actions.operation[action])
        target = action + 1
        target[row_offsets[:-1]] = first_actions
        predicts = kind != KindCode.COMPOSE
        pop = operation == Operation.POP
        ends = (operation == Operation.RIGHTARC) & (actions.operation[target] == Operation.END)
        operation_read, piece_read = family.represent(operation, piece, ends)
        if family.end == "pop_root":
            kind = torch.where(ends & (kind == KindCode.STACK), int(KindCode.COMPOSE), kind)
        width = int(keys.max()) if self.total else 0
        unused = torch.arange(width, device=keys.device) >= keys[:, None]
        return PackedRows(
            offsets=row_offsets,
            kind=torch.where(pop & (kind == KindCode.STACK), int(KindCode.POPSTACK), kind),
            piece=piece_read,
            operation=operation_read,
            distance=actions.distance[action],
            target=torch.where(predicts, target, NOTHING),
            attends=self.attends[: self.total, :width].masked_fill_(unused, NOTHING),
            relative=self.relative[: self.total, :width].masked_fill_(unused, 0),
            keys=keys,
            features=self.features[: self.total],
        )
