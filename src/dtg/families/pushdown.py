"""Pushdown Layers (Murty et al. 2023): a row for each token, and a tape that says how deep each token is in what is built.

A token is generated, then attached; the row that reads it is made when it is attached, with the tape as it is then. Every row
sees all rows before it. The depth of each is the channel of the one view, and adds to its attention score.
"""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from dtg.families.lanes import Lanes
from dtg.families.linear import LinearFamily
from dtg.families.rows import LaneRows
from dtg.transitions.action import Operation
from dtg.transitions.lanes import LaneActions
from dtg.transitions.shift_attach import AttachLanes

DEEPEST = 62  # depths beyond are taken for this one


class PushdownFamily(LinearFamily):
    """One view of everything, with a channel; the constituent of each row goes along, for the attachment head."""

    channel_views: ClassVar[tuple[str, ...]] = ("all",)
    channel_size: ClassVar[int] = DEEPEST + 1
    constituent_views: ClassVar[tuple[str, ...]] = ("all",)

    def advance(self, lanes: Lanes, actions: LaneActions, ids: Tensor | None = None) -> tuple[LaneRows, ...]:
        (rows,) = super().advance(lanes, actions, ids)
        states = lanes.states
        assert isinstance(states, AttachLanes)
        (view,) = rows.views
        tape = view._replace(channel=states.depth.clamp(max=DEEPEST), constituent=states.constituent)
        return (rows._replace(piece=states.piece, views=(tape,)),)

    def reads(self, operation: Operation) -> tuple[bool, bool]:
        """A row reads its token."""
        return False, True
