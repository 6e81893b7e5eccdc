"""Arc-standard as the authors' released models have it: the last arc, from <ROOT>, is an operation of its own, POPROOT.

POPROOT     [<ROOT> j]  ->  [<ROOT>],  head[j] = <ROOT>     instead of RIGHTARC, and generated like a word
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from dtg.transitions.action import RIGHTARC, Action, Operation
from dtg.transitions.arcs.arc_standard import ArcStandard, ArcStandardLanes
from dtg.transitions.arcs.shared import DependencyState
from dtg.transitions.batch import ActionBatch, SentenceBatch
from dtg.transitions.lanes import Change, LaneActions
from dtg.transitions.rules import TEXT_IS_DONE, Clause, Rules
from dtg.trees.tree import DependencyTree

POPROOT = Action(Operation.POPROOT)


@dataclass(slots=True)
class ReleasedLanes(ArcStandardLanes):
    """The lanes of arc-standard with POPROOT."""

    def apply(self, actions: LaneActions, change: Change) -> None:
        # Not `super()`: the class that a dataclass with slots replaces is another one.
        ArcStandardLanes.apply(self, actions, change)
        self.root_has_word = self.root_has_word | actions.does[Operation.POPROOT]


class ReleasedArcStandard(ArcStandard):
    """Arc-standard whose derivations end with POPROOT and `<END>`."""

    name = "arc-standard-released"
    lane_states = ReleasedLanes
    rules: ClassVar[Rules] = {
        **ArcStandard.rules,
        Operation.RIGHTARC: (Clause("two words are on the stack", lambda s, k: s.depth > 2),),
        Operation.POPROOT: (Clause("one word is on the stack", lambda s, k: s.depth == 2), TEXT_IS_DONE),
    }

    def effect(self, state: DependencyState, action: Action) -> DependencyState:
        if action.operation != Operation.POPROOT:
            return super().effect(state, action)
        return replace(super().effect(state, RIGHTARC), last=Operation.POPROOT)

    def derive(self, batch: SentenceBatch) -> ActionBatch:
        actions = super().derive(batch)
        actions.id[actions.offsets[1:] - 2] = self.table.id_of(POPROOT)  # the action before <END>
        return actions

    def steps(self, tree: DependencyTree) -> Iterator[Action]:
        *before, _ = super().steps(tree)
        yield from before
        yield POPROOT
