"""Families that read actions as a plain sequence (Transformer-XL): every row attends to all rows before it.

Nothing is popped and arcs are not doubled; an operation is read alone, without its head. Relative positions are
distances, without a limit.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from dtg.families.family import Family
from dtg.families.lanes import Lanes
from dtg.families.rows import NOTHING, KindCode, LaneRows
from dtg.families.stack import first_rows, put
from dtg.transitions.action import Operation
from dtg.transitions.lanes import LaneActions


class LinearFamily(Family):
    """Turns each action into one row."""

    doubles_arcs: ClassVar[bool] = False

    def begin(self, text_left: Tensor, root: int, ids: Tensor | None = None) -> tuple[Lanes, LaneRows]:
        lanes = Lanes.begin(self.system, text_left, root, ids)
        return lanes, first_rows(lanes, root, KindCode.LINEAR)

    def advance(self, lanes: Lanes, actions: LaneActions, ids: Tensor | None = None) -> tuple[LaneRows, ...]:
        lanes.make_room()
        change = lanes.states.change(actions)
        acts = (actions.operation >= 0) & (actions.operation != Operation.END)
        own = lanes.size
        names = lanes.next_id if ids is None else ids[:, 1]
        put(lanes.rows, own, names)
        columns = torch.arange(lanes.rows.shape[1], device=own.device)
        lanes.states.apply(actions, change)
        lanes.size = own + acts
        lanes.next_id = lanes.next_id + acts
        rows = LaneRows(
            predicts=True,
            present=acts,
            id=names,
            kind=torch.full_like(own, KindCode.LINEAR),
            piece=torch.where(change.generates, actions.piece, NOTHING),
            operation=torch.where(change.generates, NOTHING, actions.operation),
            distance=actions.distance,
            attends=torch.where(columns <= own[:, None], lanes.rows, NOTHING),
            relative=own[:, None] - columns,
            keys=own + 1,
        )
        return (rows,)
