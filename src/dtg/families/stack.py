"""Families whose attention mask is a stack (paper, sections 3.1 and 3.4): the one rule for dtg, dtg-eager, dtg-swift.

GEN      pushes a row that attends to the whole stack.
An arc   makes a COMPOSE row of the head and everything it absorbs, which takes their place, and then a STACK row, which is
         not pushed and predicts. RIGHTARC's dependent stays above its head where the system keeps it.
POP      removes an item and adds a POPSTACK row, which is not pushed and predicts.

Relative positions count stack items, in stack order: 0 at the top and for the row itself. In a COMPOSE row the head and
the row itself are at 0, everything absorbed at -1.

A row is written into its lane's table just above the rows it attends to, whether it is then pushed or not: so it needs no
special case when the table is read.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from dtg.families.family import Family
from dtg.families.lanes import Lanes
from dtg.families.rows import Kind, LaneRows, LaneView
from dtg.transitions.lanes import Change, LaneActions

DEEPEST = 62  # relative positions beyond are taken for this one: with -1 that makes 64


class StackFamily(Family):
    """Turns actions into rows by a stack; the transition system says which items each action joins or removes."""

    has_compose_rows: ClassVar[bool] = True
    root_kind: ClassVar[Kind] = Kind.STACK
    views: ClassVar[tuple[str, ...]] = ("stack",)

    def advance(self, lanes: Lanes, actions: LaneActions, ids: Tensor | None = None) -> tuple[LaneRows, ...]:
        lanes.make_room()
        change = lanes.states.change(actions)
        composed = lanes.next_id if ids is None else ids[:, :1]
        predicting = lanes.next_id + actions.composed if ids is None else ids[:, 1:]
        piece = torch.where(actions.generates, actions.piece, lanes.piece.gather(1, change.head))
        start = lanes.start.gather(1, change.lower)  # where the rows begin that an arc or POP takes away

        compose = self._compose(lanes, actions, change, start, composed, piece)
        self._change_stack(lanes, actions, change, start, composed, predicting, piece)
        lanes.states.apply(actions, change)
        lanes.next_id = lanes.next_id + actions.rows_added
        return compose, self._predict(lanes, actions, change, predicting, piece)

    def _compose(
        self, lanes: Lanes, actions: LaneActions, change: Change, start: Tensor, ids: Tensor, piece: Tensor
    ) -> LaneRows:
        """The COMPOSE rows of lanes whose action composes."""
        absorbed = (lanes.size - start) * actions.composed  # rows, the head's included
        width = int(absorbed.max()) + 1 if len(lanes) else 1
        lanes.rows.scatter_(1, lanes.size, ids)
        lanes.item.scatter_(1, lanes.size, change.head)
        columns = torch.arange(width, device=ids.device)
        # Lanes that compose nothing, and places past a lane's own rows, look at what does not matter but must exist.
        places = (start + columns).clamp(max=lanes.rows.shape[1] - 1)
        view = LaneView(
            keys=absorbed + 1,
            attends=lanes.rows.gather(1, places),
            relative=-(lanes.item.gather(1, places) != change.head).long(),
        )
        return LaneRows(Kind.COMPOSE, False, False, present=actions.composes, id=ids, piece=piece, views=(view,))

    def _change_stack(
        self,
        lanes: Lanes,
        actions: LaneActions,
        change: Change,
        start: Tensor,
        composed: Tensor,
        predicting: Tensor,
        piece: Tensor,
    ) -> None:
        """Take away what the action removes, put in what it adds, and write the predicting row on the top or above it."""
        size = torch.where(actions.removes, start + actions.composed, lanes.size + actions.pushed)
        lanes.start.scatter_(1, change.lower, torch.where(actions.starts_item, lanes.size, start))
        if change.keeps_top is not None:
            size, piece = self._move_top_down(lanes, actions, change, change.keeps_top, size, piece)
        lanes.piece.scatter_(1, change.lower, piece)
        above = torch.where(actions.pushes, lanes.size, size)
        place = torch.where(actions.composes, start, above)
        lanes.rows.scatter_(1, place, composed)
        lanes.item.scatter_(1, place, change.lower)
        lanes.rows.scatter_(1, above, predicting)
        lanes.item.scatter_(1, above, change.new_top)
        lanes.size = size

    @staticmethod
    def _move_top_down(
        lanes: Lanes, actions: LaneActions, change: Change, stays: Tensor, to: Tensor, piece: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Where the top stays, move its rows down to `to`. Gives the new sizes, and the pieces of the items put in."""
        top, new_top = change.top.clamp(min=0), change.new_top.clamp(min=0)
        first, top_piece = lanes.start.gather(1, top), lanes.piece.gather(1, top)
        count = lanes.size - first
        columns = torch.arange(int(count.max()) if len(lanes) else 0, device=to.device)
        # Elsewhere the top is written over itself. The last place of the table is never in use.
        last = lanes.rows.shape[1] - 1
        origin = (first + columns).clamp(max=last)
        target = (torch.where(stays, to, first) + columns).clamp(max=last)
        lanes.rows.scatter_(1, target, lanes.rows.gather(1, origin))
        lanes.item.scatter_(1, target, torch.where(stays, new_top, top).expand_as(target))
        lanes.start.scatter_(1, new_top, torch.where(stays, to, lanes.start.gather(1, new_top)))
        lanes.piece.scatter_(1, new_top, torch.where(stays, top_piece, lanes.piece.gather(1, new_top)))
        size = torch.where(stays, to + count, to)
        # A POP puts nothing in: the top itself is at `lower` now.
        return size, torch.where(actions.puts_in, piece, top_piece)

    def positions(self, lanes: Lanes, change: Change) -> Tensor:
        """(lanes, width) of every row on the stack: how many items are above its own. Families may count otherwise."""
        return change.new_top - lanes.item

    def _predict(self, lanes: Lanes, actions: LaneActions, change: Change, ids: Tensor, piece: Tensor) -> LaneRows:
        """The rows that predict: they attend to the stack as it is now, and to themselves."""
        relative = self.positions(lanes, change)
        if lanes.rows.shape[1] > DEEPEST:  # only then can an item be that deep
            relative = relative.clamp(max=DEEPEST)
        # A row that is not pushed attends to itself as well.
        view = LaneView(keys=lanes.size + ~actions.pushes, attends=lanes.rows, relative=relative)
        return LaneRows(Kind.STACK, True, True, present=actions.adds_row, id=ids, piece=piece, views=(view,))
