"""Whole sentences as rows: a family's `advance` folded over derivations gives the packed rows of a training batch.

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
from dtg.families.rows import Kind, LaneRows, LaneView
from dtg.transitions.action import NOTHING, Operation
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
class PackedView:
    """What every row sees through one view. `attends` holds indices in the pack; unused entries are NOTHING (-1)."""

    attends: Tensor  # (rows, keys) int32
    relative: Tensor  # (rows, keys) int16
    keys: Tensor  # (rows,) how many rows are visible
    channel: Tensor | None = None  # (rows, keys) int16
    constituent: Tensor | None = None  # (rows, keys) int16


@dataclass(frozen=True, slots=True)
class PackedRows:
    """The rows of many sentences."""

    offsets: Tensor  # (sentences + 1,) where each sentence's rows begin
    kind: Tensor  # (rows,) the code of a `Kind`
    piece: Tensor  # (rows,) the subword read, or NOTHING
    action: Tensor  # (rows,) the id of the action read, or NOTHING
    second: Tensor  # (rows,) bool: the second row of an action that composes
    target: Tensor  # (rows,) the action predicted, as an index in the ActionBatch, or NOTHING
    views: tuple[PackedView, ...]
    features: Tensor  # (rows, features) the transition system's state after each row that predicts; see FeatureTable

    def __len__(self) -> int:
        return self.kind.shape[0]

    def dense(self, view: int = 0) -> Dense:
        """The attention of one view as a mask and a table of relative positions for each sentence."""
        seen = self.views[view]
        lengths = self.offsets.diff()
        longest = int(lengths.max()) if len(lengths) else 0
        sentence = torch.repeat_interleave(torch.arange(len(lengths), device=lengths.device), lengths)
        mask = torch.zeros(len(lengths), longest, longest, dtype=torch.bool, device=lengths.device)
        relative = torch.zeros_like(mask, dtype=torch.int16)
        row, key = (seen.attends != NOTHING).nonzero(as_tuple=True)
        first = self.offsets[sentence[row]]
        place = (sentence[row], row - first, seen.attends[row, key].long() - first)
        mask[place] = True
        relative[place] = seen.relative[row, key]
        return Dense(mask, relative)


def pack(family: Family, actions: ActionBatch, root: int) -> PackedRows:
    """Every row of every derivation; `root` is the subword that the `<ROOT>` rows read."""
    lengths = actions.offsets.diff() - 1  # <END> adds no rows
    total = offsets(family.rows_added(actions.id))
    row_offsets = offsets(1 + total[actions.offsets[1:]] - total[actions.offsets[:-1]])
    folded = Folded(family, int(row_offsets[-1]), lengths.device)
    # The tables of `folded` are ordinary tensors; what is used up on the way need not be.
    with torch.inference_mode():
        order = torch.argsort(lengths, descending=True, stable=True)
        first, lengths = actions.offsets[:-1][order], lengths[order]
        lanes, rows = family.begin(torch.full_like(order, -1), root, row_offsets[:-1][order])
        folded.add([rows], first[:, None] - 1, lanes.states.features())
        places, counts = by_step(first, lengths), still_running(lengths)
        steps = LaneActions.steps(
            family.system.table, actions.id[places], actions.piece[places], actions.starts_word[places], counts
        )
        for now, step in zip(torch.split(places[:, None], counts), steps, strict=True):
            if len(now) < len(lanes):
                lanes = lanes.first(len(now))
            folded.add(family.advance(lanes, step), now, lanes.states.features())
    return folded.packed(actions, row_offsets, actions.offsets[:-1])


def by_step(first: Tensor, lengths: Tensor) -> Tensor:
    """Indices of all first actions, then of all second actions, and so on; `first` and `lengths` go by falling length."""
    longest = int(lengths[0]) if len(lengths) else 0
    step = torch.arange(longest, device=first.device)[:, None]
    return (first + step)[step < lengths]


def still_running(lengths: Tensor) -> list[int]:
    """How many sentences are longer than 0, 1, 2, ... actions."""
    finished = torch.bincount(lengths).cumsum(0) if len(lengths) else lengths
    counts: list[int] = (len(lengths) - finished[:-1]).tolist()
    return counts


class FoldedView:
    """The attended rows of one view, while they are collected."""

    def __init__(self, total: int, device: torch.device, *, channel: bool, constituent: bool) -> None:
        self.attends = torch.empty((total + 1, FIRST_WIDTH), dtype=torch.int32, device=device)
        self.relative = torch.empty((total + 1, FIRST_WIDTH), dtype=torch.int16, device=device)
        self.channel = torch.empty_like(self.relative) if channel else None
        self.constituent = torch.empty_like(self.relative) if constituent else None

    def add(self, view: LaneView, place: Tensor) -> None:
        """The rows that stand at these places, (lanes,)."""
        width = view.attends.shape[1]
        if width > self.attends.shape[1]:
            with torch.inference_mode(False):
                self.attends, self.relative = pad_columns(self.attends, width), pad_columns(self.relative, width)
                self.channel = None if self.channel is None else pad_columns(self.channel, width)
                self.constituent = None if self.constituent is None else pad_columns(self.constituent, width)
        self.attends[:, :width].index_copy_(0, place, view.attends.int())
        self.relative[:, :width].index_copy_(0, place, view.relative.short())
        if self.channel is not None and view.channel is not None:
            self.channel[:, :width].index_copy_(0, place, view.channel.short())
        if self.constituent is not None and view.constituent is not None:
            self.constituent[:, :width].index_copy_(0, place, view.constituent.short())

    def packed(self, keys: Tensor) -> PackedView:
        total = len(keys)
        width = int(keys.max()) if total else 0
        unused = torch.arange(width, device=keys.device) >= keys[:, None]
        return PackedView(
            attends=self.attends[:total, :width].masked_fill_(unused, NOTHING),
            relative=self.relative[:total, :width].masked_fill_(unused, 0),
            keys=keys,
            channel=None if self.channel is None else self.channel[:total, :width].masked_fill_(unused, 0),
            constituent=None if self.constituent is None else self.constituent[:total, :width].masked_fill_(unused, 0),
        )


class Folded:
    """Collects rows step by step. Lanes without a row write to one extra place, which is cut off at the end.

    Tables are filled in place and only once: fresh memory costs more here than arithmetic.
    """

    def __init__(self, family: Family, total: int, device: torch.device) -> None:
        self.family, self.total = family, total
        # piece, action, kind, whether it predicts, whether it is a second row; then how many keys each view has
        self.columns = torch.empty((total + 1, 5 + len(family.views)), dtype=torch.long, device=device)
        self.views = [
            FoldedView(
                total, device, channel=view in family.channel_views, constituent=view in family.constituent_views
            )
            for view in family.views
        ]
        features = len(family.system.lane_states.feature_names)
        self.features = torch.empty((total + 1, features), dtype=torch.long, device=device)
        self.constants: dict[tuple[Kind, bool, bool], Tensor] = {}

    def add(self, groups: Iterable[LaneRows], action: Tensor, features: Tensor) -> None:
        """Rows that `action` (lanes, 1), an index in the ActionBatch, has added, and the lanes' state after it."""
        for rows in groups:
            place = torch.where(rows.present, rows.id, self.total)[:, 0]
            for folded, view in zip(self.views, rows.views, strict=True):
                folded.add(view, place)
            same = (rows.kind, rows.predicts, rows.second)
            if same not in self.constants:
                self.constants[same] = torch.tensor([[rows.kind.code, rows.predicts, rows.second]], device=place.device)
            constant = self.constants[same].expand(len(place), -1)
            columns = (rows.piece, action, constant, *(view.keys for view in rows.views))
            self.columns.index_copy_(0, place, torch.cat(columns, dim=1))
            if rows.predicts:
                self.features.index_copy_(0, place, features)

    def packed(self, actions: ActionBatch, row_offsets: Tensor, first_actions: Tensor) -> PackedRows:
        """The whole; `first_actions` are what the `<ROOT>` rows, which begin at `row_offsets`, predict."""
        piece, action, kind, predicts, second, *keys = self.columns[: self.total].unbind(1)
        action[row_offsets[:-1]] = NOTHING  # <ROOT> rows come from no action
        ids = torch.where(action == NOTHING, NOTHING, actions.id[action])
        target = action + 1
        target[row_offsets[:-1]] = first_actions
        action_read, piece_read = self.family.represent(ids, piece)
        return PackedRows(
            offsets=row_offsets,
            kind=self.named_kinds(kind, ids),
            piece=piece_read,
            action=action_read,
            second=second.bool(),
            target=torch.where(predicts.bool(), target, NOTHING),
            views=tuple(view.packed(count) for view, count in zip(self.views, keys, strict=True)),
            features=self.features[: self.total],
        )

    def named_kinds(self, kind: Tensor, ids: Tensor) -> Tensor:
        """Kinds as people know them: a STACK row after a POP is POPSTACK, and POPROOT's one row composes."""
        operation = self.family.system.table.on(ids.device).operation[ids]
        stack = kind == Kind.STACK.code
        kind = torch.where(stack & (operation == Operation.POP), Kind.POPSTACK.code, kind)
        return torch.where(stack & (operation == Operation.POPROOT), Kind.COMPOSE.code, kind)
