"""Families whose attention mask is a stack (paper, sections 3.1 and 3.4): the one rule for dtg, dtg-eager, dtg-swift.

GEN      pushes a row that attends to the whole stack.
An arc   makes a COMPOSE row of the head and everything it absorbs, which takes their place, and then a STACK row, which is
         not pushed and predicts. RIGHTARC's dependent stays above its head where the system keeps it.
POP      removes an item and adds a POPSTACK row, which is not pushed and predicts.

Relative positions count stack items, in stack order: 0 at the top and for the row itself. In a COMPOSE row the head and
the row itself are at 0, everything absorbed at -1.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from dtg.families.family import Family
from dtg.families.lanes import Lanes
from dtg.families.rows import NOTHING, KindCode, LaneRows
from dtg.transitions.action import Operation
from dtg.transitions.lanes import Change, LaneActions

DEEPEST = 62  # relative positions beyond are taken for this one: with -1 that makes 64


class StackFamily(Family):
    """Turns actions into rows by a stack; the transition system says which items each action joins or removes."""

    doubles_arcs: ClassVar[bool] = True

    def begin(self, text_left: Tensor, root: int, ids: Tensor | None = None) -> tuple[Lanes, LaneRows]:
        lanes = Lanes.begin(self.system, text_left, root, ids)
        return lanes, first_rows(lanes, root, KindCode.STACK)

    def advance(self, lanes: Lanes, actions: LaneActions, ids: Tensor | None = None) -> tuple[LaneRows, ...]:
        lanes.make_room()
        change = lanes.states.change(actions)
        acts = (actions.operation >= 0) & (actions.operation != Operation.END)
        composed = lanes.next_id if ids is None else ids[:, 0]
        predicting = lanes.next_id + change.arc if ids is None else ids[:, 1]

        piece = torch.where(change.generates, actions.piece, gather(lanes.piece, change.head))
        compose = self._compose(lanes, actions, change, composed, piece)
        self._change_stack(lanes, change, composed, predicting, piece)
        lanes.states.apply(actions, change)
        lanes.next_id = lanes.next_id + change.arc + acts
        return compose, self._stack(lanes, actions, change, predicting, acts, piece)

    def _compose(
        self, lanes: Lanes, actions: LaneActions, change: Change, ids: Tensor, piece: Tensor
    ) -> LaneRows:
        """The COMPOSE rows of lanes whose action is an arc."""
        start = gather(lanes.start, change.lower)
        absorbed = torch.where(change.arc, lanes.size - start, 0)  # rows, the head's included
        width = int(absorbed.max()) + 1 if len(lanes) else 1
        # The row itself is written above the top, as one more row of the head's item: it then needs no special case.
        put(lanes.rows, lanes.size, ids)
        put(lanes.item, lanes.size, change.head)
        columns = torch.arange(width, device=ids.device)
        inside = columns <= absorbed[:, None]
        # Lanes without an arc look at places that do not matter, but that must exist.
        places = (start[:, None] + columns).clamp(max=lanes.rows.shape[1] - 1)
        return LaneRows(
            predicts=False,
            present=change.arc,
            id=ids,
            kind=torch.full_like(ids, KindCode.COMPOSE),
            piece=self.words_read(piece),
            operation=self.operations_read(actions.operation),
            distance=actions.distance,
            attends=torch.where(inside, lanes.rows.gather(1, places), NOTHING),
            relative=-(lanes.item.gather(1, places) != change.head[:, None]).long(),
            keys=absorbed + 1,
        )

    def _change_stack(
        self, lanes: Lanes, change: Change, composed: Tensor, predicting: Tensor, piece: Tensor
    ) -> None:
        """Take away what the action removes, put in what it adds, and write the predicting row above or on the top."""
        start = gather(lanes.start, change.lower)
        size = torch.where(change.generates, lanes.size + 1, lanes.size)
        size = torch.where(change.removes, start + change.arc, size)
        if self.system.keeps_right_dependent:
            top = (lanes.states.items - 1).clamp(min=0)
            size = self._move_top_down(lanes, change, size, gather(lanes.start, top), gather(lanes.piece, top))
        put(lanes.start, change.lower, torch.where(change.starts_word, lanes.size, start))
        put(lanes.piece, change.lower, torch.where(change.keeps_top & ~change.arc, gather(lanes.piece, change.lower), piece))
        above = torch.where(change.generates, lanes.size, size)
        put(lanes.rows, torch.where(change.arc, start, above), composed)
        put(lanes.item, torch.where(change.arc, start, above), change.lower)
        put(lanes.rows, above, predicting)
        put(lanes.item, above, change.items - 1)
        lanes.size = size

    @staticmethod
    def _move_top_down(lanes: Lanes, change: Change, to: Tensor, top_start: Tensor, top_piece: Tensor) -> Tensor:
        """Where the top stays, move its rows down to `to`; gives the new sizes."""
        stays = change.keeps_top
        kept = torch.where(stays, lanes.size - top_start, 0)
        columns = torch.arange(lanes.rows.shape[1], device=to.device)
        moved = (columns >= to[:, None]) & stays[:, None]  # (lanes, width)
        places = columns + moved * (top_start - to)[:, None]
        places = places.clamp(max=lanes.rows.shape[1] - 1)
        lanes.rows = lanes.rows.gather(1, places)
        new_top = (change.items - 1).clamp(min=0)
        lanes.item = torch.where(moved, new_top[:, None], lanes.item.gather(1, places))
        put(lanes.start, new_top, torch.where(stays, to, gather(lanes.start, new_top)))
        put(lanes.piece, new_top, torch.where(stays, top_piece, gather(lanes.piece, new_top)))
        return to + kept

    def _stack(
        self, lanes: Lanes, actions: LaneActions, change: Change, ids: Tensor, acts: Tensor, piece: Tensor
    ) -> LaneRows:
        """The rows that predict: they attend to the stack as it is now, and to themselves."""
        own = lanes.size - change.generates.long()  # where the row itself stands
        inside = torch.arange(lanes.rows.shape[1], device=ids.device) <= own[:, None]
        pop = actions.operation == Operation.POP
        return LaneRows(
            predicts=True,
            present=acts,
            id=ids,
            kind=torch.where(pop, int(KindCode.POPSTACK), int(KindCode.STACK)),
            piece=torch.where(change.generates, piece, torch.where(pop, NOTHING, self.words_read(piece))),
            operation=torch.where(change.arc, self.operations_read(actions.operation), torch.where(pop, 3, NOTHING)),
            distance=actions.distance,
            attends=torch.where(inside, lanes.rows, NOTHING),
            relative=(change.items[:, None] - 1 - lanes.item).clamp(max=DEEPEST),
            keys=own + 1,
        )


def first_rows(lanes: Lanes, root: int, kind: KindCode) -> LaneRows:
    """The `<ROOT>` row of every lane: it reads the root piece, attends to itself and predicts."""
    ids = lanes.rows[:, 0].clone()
    nothing = torch.full_like(ids, NOTHING)
    return LaneRows(
        predicts=True,
        present=torch.ones_like(ids, dtype=torch.bool),
        id=ids,
        kind=torch.full_like(ids, kind),
        piece=torch.full_like(ids, root),
        operation=nothing,
        distance=torch.ones_like(ids),
        attends=ids[:, None],
        relative=torch.zeros_like(ids)[:, None],
        keys=torch.ones_like(ids),
    )


def gather(table: Tensor, column: Tensor) -> Tensor:
    """One value from each lane's row of the table."""
    return table.gather(1, column[:, None]).squeeze(1)


def put(table: Tensor, column: Tensor, value: Tensor) -> None:
    """Write one value into each lane's row of the table."""
    table.scatter_(1, column[:, None], value[:, None])
