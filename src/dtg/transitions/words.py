"""No tree at all, only words: what a plain language model (TXL, tokens) generates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor

from dtg.errors import TransitionError
from dtg.transitions.action import GEN, Action, Operation
from dtg.transitions.batch import ActionBatch, SentenceBatch, expand
from dtg.transitions.lanes import Change, LaneActions, LaneStates
from dtg.transitions.rules import TEXT_GOES_ON, TEXT_IS_DONE, Clause, Rules
from dtg.transitions.state import State
from dtg.transitions.system import TransitionSystem
from dtg.transitions.table import FINISH, GENERATE
from dtg.trees.kinds import PartialDependencyTree, TreeKind


@dataclass(slots=True)
class WordLanes(LaneStates):
    """Lanes without a structure: only the last action counts."""

    feature_names = ("last",)

    def change(self, actions: LaneActions) -> Change:
        top, lower = self.items - 1, self.items - actions.taken
        return Change(top, lower, lower, None, lower + actions.puts_in - 1)

    def apply(self, actions: LaneActions, change: Change) -> None:
        self.record(actions, change)

    @property
    def stack_depth(self) -> Tensor:
        return torch.zeros_like(self.items)


class Words(TransitionSystem):
    """GEN until `<END>`."""

    name = "words"
    kind: ClassVar[TreeKind | None] = None
    lane_states = WordLanes
    rules: ClassVar[Rules] = {
        Operation.GEN: (TEXT_GOES_ON,),
        Operation.END: (TEXT_IS_DONE, Clause("there is a word", lambda s, k: s.last == Operation.GEN)),
    }

    def effect(self, state: State, action: Action) -> State:
        if action.operation == Operation.END:
            return replace(state, last=action.operation)
        return replace(state, words=(*state.words, action.word or ""), last=action.operation)

    def check(self, tree: Any) -> None:
        """Any tree will do, because it is not looked at."""

    def derive(self, batch: SentenceBatch) -> ActionBatch:
        runs = torch.tensor([GENERATE, FINISH], device=batch.device).repeat(batch.words)
        counts = torch.zeros(batch.words, 2, dtype=torch.long, device=batch.device)
        counts[:, 0] = batch.piece_counts
        counts[batch.last_words, 1] = 1
        return expand(batch, runs, counts.flatten())

    def steps(self, tree: Any) -> Iterator[Action]:
        return map(GEN, tree.words)

    def result(self, state: Any) -> Any:
        """Raises: words alone say nothing of heads."""
        raise TransitionError("the system 'words' builds no tree; use arc-standard or another system that does.")

    def count_trees(self, words: int) -> int:
        return 0

    def partial(self, state: State, probability: float, log_probability: float) -> PartialDependencyTree:
        return PartialDependencyTree(state.words, (None,) * len(state.words), (0,), probability, log_probability)
