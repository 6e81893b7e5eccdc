"""What systems with a buffer share: a generated word waits in the buffer head until the next one is generated."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from dtg.transitions.action import Operation
from dtg.transitions.arcs.shared import DependencyState
from dtg.transitions.lanes import Change, LaneActions, LaneStates


def generate(state: DependencyState, word: str | None) -> DependencyState:
    """GEN for systems with a buffer: the new word enters it, and what was there moves to the stack."""
    return replace(
        state,
        words=(*state.words, word or ""),
        heads=(*state.heads, None),
        stack=state.shifted,
        buffer=len(state.words) + 1,
        last=Operation.GEN,
    )


def give_top_to_buffer(state: DependencyState) -> DependencyState:
    """LEFTARC: the top of the stack gets the buffer head as its head, and leaves."""
    assert state.buffer is not None
    *below, dependent = state.stack
    heads = state.with_head(dependent, state.buffer)
    return replace(state, stack=tuple(below), heads=heads, last=Operation.LEFTARC)


@dataclass(slots=True)
class BufferLanes(LaneStates):
    """Lanes of systems with a buffer. The buffer head is the topmost item."""

    buffered: Tensor  # 1 where a word is in the buffer head, else 0
    root_has_word: Tensor  # 1 once <ROOT> has its word, else 0

    @property
    def depth(self) -> Tensor:
        return self.items - self.buffered

    def record_arcs(self, actions: LaneActions, change: Change) -> None:
        """What arcs and GEN do to the buffer and to `<ROOT>`."""
        self.buffered = actions.pushed | (self.buffered & ~actions.does[Operation.RIGHTARC])
        self.root_has_word = self.root_has_word | (actions.composes & (change.head == 0))


@dataclass(slots=True)
class KeepingLanes(BufferLanes):
    """Lanes of arc-eager and arc-swift: RIGHTARC keeps its dependent on the stack, above its head."""

    headless: Tensor
    headed: Tensor  # (lanes, items) by item: how many items have heads, counted from this one down

    feature_names = ("depth", "buffered", "headless", "root_has_word", "last", "headed_run")
    tables = ("headed",)

    @property
    def headed_run(self) -> Tensor:
        return self.headed.gather(1, (self.depth - 1).clamp(min=0))

    def features(self) -> Tensor:
        depth = self.depth  # once for two columns
        run = self.headed.gather(1, (depth - 1).clamp(min=0))
        return torch.cat([depth, self.buffered, self.headless, self.root_has_word, self.last, run], dim=1)

    def change(self, actions: LaneActions) -> Change:
        top = self.items - 1
        left, right = actions.does[Operation.LEFTARC], actions.does[Operation.RIGHTARC]
        lower = self.items - actions.taken
        new_top = lower + actions.puts_in - 1
        keeps_top = right
        if Operation.POP in actions.does:  # it takes the item under the buffer head, which stays
            below = self.buffered & actions.does[Operation.POP]
            lower, new_top = lower - below, new_top - below
            keeps_top = right | below.bool()
        return Change(top, lower, torch.where(left, top, lower), keeps_top, new_top + keeps_top)

    def apply(self, actions: LaneActions, change: Change) -> None:
        assert change.keeps_top is not None
        right = actions.does[Operation.RIGHTARC]
        below = self.headed.gather(1, change.lower)
        # LEFTARC's head is in the buffer and has no head; RIGHTARC's keeps what is known of it; a new word is headless.
        self.headed.scatter_(1, change.lower, below * right)
        new_top = change.new_top.clamp(min=0)
        run = torch.where(change.keeps_top, (below + 1) * right, self.headed.gather(1, new_top))
        self.headed.scatter_(1, new_top, run)
        self.headless = self.headless + actions.headless_more
        self.record_arcs(actions, change)
        self.record(actions, change)
