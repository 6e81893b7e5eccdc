"""A family for tests only: stack heads as in DTG, and heads that see every row so far, with a channel on what they see."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from dtg.families.lanes import Lanes, RowList
from dtg.families.rows import LaneRows, LaneView
from dtg.families.stack import StackFamily
from dtg.transitions.lanes import LaneActions

CHANNEL = 3


class TwoViews(StackFamily):
    """The second view shows all earlier rows, by distance; its channel is the number of the key, modulo three."""

    views: ClassVar[tuple[str, ...]] = ("stack", "all")
    channel_views: ClassVar[tuple[str, ...]] = ("all",)
    channel_size: ClassVar[int] = CHANNEL

    def begin(self, words_left: Tensor, root: int, ids: Tensor | None = None) -> tuple[Lanes, LaneRows]:
        lanes, first = super().begin(words_left, root, ids)
        lanes.memory = RowList.begin(first.id)
        return lanes, first

    def advance(self, lanes: Lanes, actions: LaneActions, ids: Tensor | None = None) -> tuple[LaneRows, ...]:
        return tuple(self.with_memory(lanes, rows) for rows in super().advance(lanes, actions, ids))

    @staticmethod
    def with_memory(lanes: Lanes, rows: LaneRows) -> LaneRows:
        assert lanes.memory is not None
        own = lanes.memory.size
        lanes.memory.append(rows.id, rows.present)
        columns = torch.arange(lanes.memory.rows.shape[1], device=own.device)
        channel = (columns % CHANNEL).expand_as(lanes.memory.rows)
        everything = LaneView(keys=own + 1, attends=lanes.memory.rows, relative=own - columns, channel=channel)
        return rows._replace(views=(*rows.views, everything))
