"""Hybrid families: some attention heads see the stack, the others are memory heads, which see the sentence so far.

The stack view is that of the family that is extended. Through the memory view a row sees

`memory="words"`  the GEN rows so far, `<ROOT>` first, at their distance in subwords, no more than 62: a GEN row sees itself
                  at 0 and the subword before at 1; any other row sees itself at 0 and the last subword at 1;
`memory="rows"`   every row so far, at its distance in rows.

On COMPOSE rows memory heads see what is composed, as stack heads do; or, with `memory_on_compose="all"`, the same as on
other rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal, Self, get_args

import torch
from torch import Tensor

from dtg.errors import ConfigError
from dtg.families.family import ArcRepresentation
from dtg.families.lanes import Lanes, RowList
from dtg.families.packing import PackedRows, PackedView
from dtg.families.phrases import PhraseStackFamily
from dtg.families.rows import Kind, LaneRows, LaneView
from dtg.families.stack import DEEPEST, StackFamily
from dtg.io.settings import check_choice
from dtg.transitions.action import NOTHING
from dtg.transitions.lanes import LaneActions, pad_columns
from dtg.transitions.system import TransitionSystem

Memory = Literal["words", "rows"]
MemoryOnCompose = Literal["composed", "all"]


class HybridFamily(StackFamily):
    """A stack, and a memory of all words or rows so far."""

    views: ClassVar[tuple[str, ...]] = ("stack", "memory")
    options: ClassVar[tuple[str, ...]] = ("memory", "memory_on_compose")

    def __init__(
        self,
        name: str,
        system: TransitionSystem,
        *,
        arc_representation: ArcRepresentation,
        memory: Memory = "words",
        memory_on_compose: MemoryOnCompose = "composed",
    ) -> None:
        super().__init__(name, system, arc_representation=arc_representation)
        check_choice("memory", memory, get_args(Memory))
        check_choice("memory_on_compose", memory_on_compose, get_args(MemoryOnCompose))
        self.memory, self.memory_on_compose = memory, memory_on_compose

    @classmethod
    def split_heads(cls, heads: int) -> tuple[int, ...]:
        """Half of the heads see the stack, and one more where their number is odd."""
        if heads < 2:
            raise ConfigError("a hybrid needs at least 2 attention heads, one for the stack and one for the memory.")
        return heads - heads // 2, heads // 2

    def with_representation(self, arc_representation: ArcRepresentation) -> Self:
        settings: dict[str, Any] = {"memory": self.memory, "memory_on_compose": self.memory_on_compose}
        return type(self)(self.name, self.system, arc_representation=arc_representation, **settings)

    def begin(self, words_left: Tensor, root: int, ids: Tensor | None = None) -> tuple[Lanes, LaneRows]:
        lanes, first = super().begin(words_left, root, ids)
        lanes.memory = RowList.begin(first.id)
        return lanes, first

    def advance(self, lanes: Lanes, actions: LaneActions, ids: Tensor | None = None) -> tuple[LaneRows, ...]:
        return tuple(self._with_memory(lanes, actions, rows) for rows in super().advance(lanes, actions, ids))

    def _with_memory(self, lanes: Lanes, actions: LaneActions, rows: LaneRows) -> LaneRows:
        """The same rows with what they see of the memory, to which they are added if they belong there."""
        assert lanes.memory is not None
        composes = rows.kind == Kind.COMPOSE
        own = lanes.memory.size  # the place of the row itself, where later ones come if it is not kept
        lanes.memory.append(rows.id, rows.present if self.memory == "rows" else rows.present & actions.generates)
        if composes and self.memory_on_compose == "composed":
            return rows._replace(views=(*rows.views, *rows.views))
        table = lanes.memory.rows
        if composes and self.memory == "words":
            table = table.clone()  # the action's second row is written to the same place
        relative = own - torch.arange(table.shape[1], device=own.device)
        if self.memory == "words" and table.shape[1] > DEEPEST:
            relative = relative.clamp(max=DEEPEST)
        return rows._replace(views=(*rows.views, LaneView(keys=own + 1, attends=table, relative=relative)))


class HybridPhraseFamily(HybridFamily, PhraseStackFamily):
    """The same over TG's stack of phrases, words and opening brackets."""


def hide_memory(packed: PackedRows, hidden: Tensor) -> PackedRows:
    """What is left of the views where the memory is hidden: there, memory heads see what stack heads see.

    Args:
        packed: of a hybrid family.
        hidden: (sentences,) bool, for which sentences.
    """
    stack, memory = packed.views
    in_rows = hidden.repeat_interleave(packed.offsets.diff())
    width = max(stack.attends.shape[1], memory.attends.shape[1])
    seen = PackedView(
        attends=torch.where(
            in_rows[:, None], pad_columns(stack.attends, width, NOTHING), pad_columns(memory.attends, width, NOTHING)
        ),
        relative=torch.where(in_rows[:, None], pad_columns(stack.relative, width), pad_columns(memory.relative, width)),
        keys=torch.where(in_rows, stack.keys, memory.keys),
    )
    return replace(packed, views=(stack, seen))
