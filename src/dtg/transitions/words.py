"""No tree at all, only words: what a plain language model (TXL, tokens) generates."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import ClassVar

import torch

from dtg.errors import TransitionError
from dtg.transitions.action import GEN, Action, Operation
from dtg.transitions.batch import ActionBatch, SentenceBatch, expand
from dtg.transitions.rules import TEXT_GOES_ON, TEXT_IS_DONE, Clause, Rules
from dtg.transitions.state import State
from dtg.transitions.system import TransitionSystem
from dtg.trees import DependencyTree


class Words(TransitionSystem):
    """GEN until `<END>`."""

    name = "words"
    builds_trees = False
    rules: ClassVar[Rules] = {
        Operation.GEN: (TEXT_GOES_ON,),
        Operation.END: (TEXT_IS_DONE, Clause("there is a word", lambda s, k: s.headless >= 1)),
    }

    def effect(self, state: State, action: Action) -> State:
        if action.operation == Operation.END:
            return replace(state, last=action.operation)
        words = (*state.words, action.word or "")
        return replace(state, words=words, heads=(*state.heads, None), last=action.operation)

    def check(self, tree: DependencyTree) -> None:
        """Any tree will do, because it is not looked at."""

    def derive(self, batch: SentenceBatch) -> ActionBatch:
        runs = torch.full((len(batch.heads), 2), int(Operation.END), device=batch.device)
        runs[:, 0] = Operation.GEN
        counts = torch.zeros_like(runs)
        counts[:, 0] = batch.piece_counts
        counts[batch.last_words, 1] = 1
        return expand(batch, runs.flatten(), counts.flatten())

    def steps(self, tree: DependencyTree) -> Iterator[Action]:
        return map(GEN, tree.words)

    def tree(self, actions: Iterable[Action]) -> DependencyTree:
        """Raises: words alone say nothing of heads."""
        raise TransitionError("the system 'words' builds no tree; use arc-standard or another system that does.")
