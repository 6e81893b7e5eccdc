"""Many derivations as a prefix trie: the rows of equal prefixes are made once.

Derivations are sorted, so that each shares its longest prefix with the one before it. What is left of each, its *fresh*
actions, adds rows; everything earlier has its rows already. Rows stand in that order too: neighbours attend to much the
same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from dtg.families.packing import Folded, PackedRows
from dtg.transitions.batch import ActionBatch, offsets
from dtg.transitions.lanes import LaneActions

if TYPE_CHECKING:
    from dtg.families.family import Family


@dataclass(frozen=True, slots=True)
class Trie:
    """Rows of many derivations, and which row predicts each fresh action."""

    packed: PackedRows
    row: Tensor  # (fresh actions,) the row that predicts it
    action: Tensor  # (fresh actions,) the action, as an index in the ActionBatch
    path: Tensor  # (derivations, longest) the fresh action that stands for each action; -1 past the end

    def totals(self, log_probability: Tensor) -> Tensor:
        """(derivations,) sums along each derivation of a number for each fresh action."""
        along = log_probability[self.path.clamp(min=0)]
        return along.masked_fill(self.path < 0, 0.0).sum(1)


def action_codes(actions: ActionBatch) -> Tensor:
    """(actions,) a number for each action, equal where actions are."""
    return ((actions.piece + 1) * 2 + actions.starts_word) * (actions.id.max() + 1) + actions.id


def in_order(actions: ActionBatch) -> tuple[list[int], list[int]]:
    """Derivations sorted by their actions, and how many actions each shares with the one before it in that order."""
    codes = action_codes(actions).cpu().numpy().astype(">i8")
    bounds: list[int] = actions.offsets.tolist()
    spelt = [codes[bounds[i] : bounds[i + 1]] for i in range(len(bounds) - 1)]
    as_bytes = [code.tobytes() for code in spelt]
    order = sorted(range(len(spelt)), key=as_bytes.__getitem__)
    shared = [0] * len(order)
    for place in range(1, len(order)):
        before, here = spelt[order[place - 1]], spelt[order[place]]
        common = min(len(before), len(here))
        differs = (before[:common] != here[:common]).nonzero()[0]
        shared[place] = int(differs[0]) if len(differs) else common
    return order, shared


def pack_trie(family: Family, actions: ActionBatch, order: Sequence[int], shared: Sequence[int], root: int) -> Trie:
    """The rows of these derivations (all different, as `in_order` has them; the first shares nothing)."""
    device = actions.offsets.device
    chosen = torch.tensor(order, device=device)
    first, lengths = actions.offsets[:-1][chosen], actions.offsets.diff()[chosen]
    skipped = torch.tensor(shared, device=device)
    longest = int(lengths.max())
    column = torch.arange(longest, device=device)
    number = torch.arange(len(order), device=device)[:, None]
    fresh = (column >= skipped[:, None]) & (column < lengths[:, None])  # (derivations, longest)
    place = (first[:, None] + column).clamp(max=len(actions.id) - 1)  # in the ActionBatch

    # Whose fresh action stands for an action: the last derivation, up to this one, whose fresh part had begun by then.
    owner = torch.where(column >= skipped[:, None], number, -1).cummax(0).values
    edge = offsets(fresh.sum(1))[:-1][:, None] + column - skipped[:, None]  # of fresh actions, counted one by one
    path = torch.where(column < lengths[:, None], edge.gather(0, owner), -1)
    adds = family.rows_added(actions.id)[place].masked_fill(~fresh, 0)
    next_row = 1 + adds.flatten().cumsum(0).view_as(adds)  # after each fresh action; <ROOT> is row 0
    # Whose fresh action stands for the action before; the first has none.
    owner_before = torch.cat([torch.zeros_like(number), owner[:, :-1]], dim=1)

    def predicting(last: Tensor) -> Tensor:
        """The row that predicts each action: the last one after the action before it, <ROOT> for the first."""
        shifted = torch.cat([torch.zeros_like(number), last[:, :-1]], dim=1)
        return torch.where(column > 0, shifted.gather(0, owner_before), 0)

    # After an action that adds no rows (no two of which come together) the same row predicts as before it.
    last_row = torch.where(adds > 0, next_row - 1, predicting(next_row - 1))
    row = predicting(last_row)

    total = int(next_row[-1, -1])
    folded = Folded(family, total, device)
    begins = next_row[:, -1] - adds.sum(1)  # each derivation's first row
    acts = fresh & (column < lengths[:, None] - 1)  # <END> adds no rows
    with torch.inference_mode():
        lanes, rows = family.begin(torch.full((1,), -1, device=device), root)
        folded.add([rows], first[:1, None] - 1, lanes.states.features())
        steps, who = acts.t().nonzero(as_tuple=True)
        counts: list[int] = acts.sum(0).tolist()
        counts = counts[: next((i for i, n in enumerate(counts) if not n), len(counts))]
        rank = acts.long().cumsum(0) - 1  # (derivations, longest) which lane it is at each step
        parent = torch.where(steps > 0, rank[owner_before[who, steps], (steps - 1).clamp(min=0)], 0)
        places = place[who, steps]
        by_step = LaneActions.steps(
            family.system.table, actions.id[places], actions.piece[places], actions.starts_word[places], counts
        )
        starts = torch.split((skipped[who] == steps)[:, None], counts)
        firsts = torch.split(begins[who][:, None], counts)
        parents, nows = torch.split(parent, counts), torch.split(places[:, None], counts)
        for step, from_, begin, at, now in zip(by_step, parents, starts, firsts, nows, strict=True):
            lanes = lanes.fork(from_)
            lanes.next_id = torch.where(begin, at, lanes.next_id)
            folded.add(family.advance(lanes, step), now, lanes.states.features())
    packed = folded.packed(actions, torch.tensor([0, total], device=device), first[:1])
    return Trie(packed, row[fresh], place[fresh], path)
