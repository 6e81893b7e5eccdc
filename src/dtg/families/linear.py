"""Families that read actions as a plain sequence (Transformer-XL): every row attends to all rows before it.

Nothing is popped and nothing is composed; an operation is read alone, without its head. Relative positions are distances,
without a limit.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from dtg.families.family import Family
from dtg.families.lanes import Lanes
from dtg.families.rows import Kind, LaneRows, LaneView
from dtg.transitions.action import Operation
from dtg.transitions.lanes import LaneActions


class LinearFamily(Family):
    """Turns each action into one row."""

    has_compose_rows: ClassVar[bool] = False
    root_kind: ClassVar[Kind] = Kind.LINEAR
    views: ClassVar[tuple[str, ...]] = ("all",)

    def advance(self, lanes: Lanes, actions: LaneActions, ids: Tensor | None = None) -> tuple[LaneRows, ...]:
        lanes.make_room()
        own = lanes.size
        names = lanes.next_id if ids is None else ids[:, 1:]
        lanes.rows.scatter_(1, own, names)
        lanes.states.apply(actions, lanes.states.change(actions))
        lanes.size = own + actions.adds_row
        lanes.next_id = lanes.next_id + actions.adds_row
        columns = torch.arange(lanes.rows.shape[1], device=own.device)
        rows = LaneRows(
            kind=Kind.LINEAR,
            predicts=True,
            second=False,
            present=actions.adds_row,
            id=names,
            piece=actions.piece,
            views=(LaneView(keys=own + 1, attends=lanes.rows, relative=own - columns),),
        )
        return (rows,)

    def reads(self, operation: Operation) -> tuple[bool, bool]:
        """A row reads a subword or an operation, never both, whatever the arc representation."""
        generates = operation == Operation.GEN
        return not generates, generates
