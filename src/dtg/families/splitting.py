"""Cuts what was packed together into batches: one long fold over many sentences costs little more than one over a few."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

import torch
from torch import Tensor

from dtg.families.packing import PackedRows, PackedView
from dtg.transitions.action import NOTHING
from dtg.transitions.batch import ActionBatch


def split_batches(
    actions: ActionBatch, packed: PackedRows, sizes: Sequence[int]
) -> list[tuple[ActionBatch, PackedRows]]:
    """Derivations and their rows, as if every batch had been packed by itself; `sizes` are the batches' sentences."""
    bounds = list(accumulate(sizes, initial=0))
    assert bounds[-1] == len(actions.offsets) - 1
    first_actions: list[int] = actions.offsets[bounds].tolist()
    first_rows: list[int] = packed.offsets[bounds].tolist()
    found = []
    for (start, stop), of_actions, of_rows in zip(
        pairwise(bounds), pairwise(first_actions), pairwise(first_rows), strict=True
    ):
        sentences = slice(start, stop + 1)
        some = slice(*of_actions)
        derived = ActionBatch(
            id=actions.id[some],
            piece=actions.piece[some],
            starts_word=actions.starts_word[some],
            offsets=actions.offsets[sentences] - of_actions[0],
        )
        rows = slice(*of_rows)
        of_batch = PackedRows(
            offsets=packed.offsets[sentences] - of_rows[0],
            kind=packed.kind[rows],
            piece=packed.piece[rows],
            action=packed.action[rows],
            second=packed.second[rows],
            target=counted_from(packed.target[rows], of_actions[0]),
            views=tuple(cut_view(view, rows) for view in packed.views),
            features=packed.features[rows],
        )
        found.append((derived, of_batch))
    return found


def cut_view(view: PackedView, rows: slice) -> PackedView:
    """Some rows of a view, no wider than they need."""
    keys = view.keys[rows]
    width = int(keys.max()) if len(keys) else 0

    def of_them(table: Tensor | None) -> Tensor | None:
        return None if table is None else table[rows, :width].contiguous()

    attends = counted_from(view.attends[rows, :width], rows.start)
    relative = view.relative[rows, :width].contiguous()
    return PackedView(attends, relative, keys, of_them(view.channel), of_them(view.constituent))


def counted_from(numbers: Tensor, first: int) -> Tensor:
    """The same less `first`, with NOTHING where it was."""
    return torch.where(numbers == NOTHING, numbers, numbers - first)


def to_device(packed: PackedRows, device: torch.device) -> PackedRows:
    """The same rows on a device."""

    def moved(table: Tensor | None) -> Tensor | None:
        return None if table is None else table.to(device)

    views = tuple(
        PackedView(
            view.attends.to(device),
            view.relative.to(device),
            view.keys.to(device),
            moved(view.channel),
            moved(view.constituent),
        )
        for view in packed.views
    )
    columns = ("offsets", "kind", "piece", "action", "second", "target", "features")
    return replace(packed, views=views, **{name: getattr(packed, name).to(device) for name in columns})
