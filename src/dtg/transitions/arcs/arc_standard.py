"""Arc-standard (Nivre 2004) in its generative form: arcs hold between the two topmost words of the stack (paper, section 2).

GEN(x)      [..]      ->  [.. x]
LEFTARC     [.. i j]  ->  [.. j],  head[i] = j
RIGHTARC    [.. i j]  ->  [.. i],  head[j] = i      the last one is from <ROOT>, to the one word that is left
<END>       [<ROOT>]  when <ROOT> has its word

Features: depth, root_has_word, top_has_right_dependent (see `DependencyState`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from dtg.transitions.action import GEN, LEFTARC, RIGHTARC, Action, Operation
from dtg.transitions.arcs.shared import DependencyState, DependencySystem
from dtg.transitions.arcs.structure import Structure
from dtg.transitions.batch import ActionBatch, SentenceBatch, expand
from dtg.transitions.lanes import Change, LaneActions, LaneStates
from dtg.transitions.rules import ROOT_IS_FREE, ROOT_IS_TAKEN, TEXT_GOES_ON, Clause, Rules
from dtg.trees.tree import ROOT, DependencyTree


@dataclass(slots=True)
class ArcStandardLanes(LaneStates):
    """The lanes of arc-standard."""

    root_has_word: Tensor  # 1 once <ROOT> has its word, else 0
    right: Tensor  # (lanes, items) by item: 1 if it has a right dependent, else 0

    feature_names = ("depth", "root_has_word", "last", "top_has_right_dependent")
    tables = ("right",)

    @property
    def depth(self) -> Tensor:
        return self.items

    @property
    def top_has_right_dependent(self) -> Tensor:
        return self.right.gather(1, self.items - 1)

    def change(self, actions: LaneActions) -> Change:
        top, lower = self.items - 1, self.items - actions.taken
        head = torch.where(actions.does[Operation.LEFTARC], top, lower)
        return Change(top, lower, head, None, lower + actions.puts_in - 1)

    def apply(self, actions: LaneActions, change: Change) -> None:
        had_one = self.right.gather(1, change.top) * actions.does[Operation.LEFTARC]
        self.right.scatter_(1, change.lower, had_one + actions.does[Operation.RIGHTARC])
        self.root_has_word = self.root_has_word | (actions.composes & (change.head == 0))
        self.record(actions, change)


class ArcStandard(DependencySystem):
    """Builds each word's subtree whole before the word is given to its head."""

    name = "arc-standard"
    lane_states = ArcStandardLanes
    rules: ClassVar[Rules] = {
        Operation.GEN: (TEXT_GOES_ON, ROOT_IS_FREE),
        Operation.LEFTARC: (
            Clause("two words are on the stack", lambda s, k: s.depth >= 3),
            Clause("the top has no right dependent yet", lambda s, k: s.top_has_right_dependent == 0, canonical=True),
        ),
        Operation.RIGHTARC: (
            Clause("a word is on the stack", lambda s, k: s.depth >= 2),
            Clause("from <ROOT> only when no text is left", lambda s, k: (s.depth > 2) | (s.words_left <= 0)),
        ),
        Operation.END: (ROOT_IS_TAKEN,),
    }

    def effect(self, state: DependencyState, action: Action) -> DependencyState:
        match action.operation:
            case Operation.GEN:
                word = len(state.words) + 1
                return replace(
                    state,
                    words=(*state.words, action.word or ""),
                    heads=(*state.heads, None),
                    stack=(*state.stack, word),
                    last=action.operation,
                )
            case Operation.LEFTARC:
                *below, dependent, head = state.stack
            case Operation.RIGHTARC:
                *below, head, dependent = state.stack
            case _:
                return replace(state, last=action.operation)
        return replace(state, stack=(*below, head), heads=state.with_head(dependent, head), last=action.operation)

    def derive(self, batch: SentenceBatch) -> ActionBatch:
        """After its GEN, a word takes its left dependents; then every subtree that ends with it goes to a head on the left."""
        tree = Structure.of(batch)
        words = len(tree.place)
        operations = (Operation.GEN, Operation.LEFTARC, Operation.RIGHTARC, Operation.END)
        runs = torch.tensor([self.table.first[operation] for operation in operations], device=batch.device).repeat(
            words
        )
        counts = torch.zeros(words, 4, dtype=torch.long, device=batch.device)
        counts[:, 0] = batch.piece_counts
        counts[:, 1] = torch.bincount(tree.head[tree.is_left], minlength=words)
        counts[:, 2] = torch.bincount(tree.right_edge[~tree.is_left], minlength=words)
        counts[batch.last_words, 3] = 1
        return expand(batch, runs, counts.flatten())

    def steps(self, tree: DependencyTree) -> Iterator[Action]:
        heads = (ROOT, *tree.heads)
        waiting = [0] * len(heads)  # dependents not yet attached
        for head in tree.heads:
            waiting[head] += 1
        stack = [ROOT]
        for word, form in enumerate(tree.words, start=1):
            yield GEN(form)
            stack.append(word)
            while len(stack) > 1:
                below, top = stack[-2:]
                if below != ROOT and heads[below] == top:
                    yield LEFTARC
                    del stack[-2]
                    waiting[top] -= 1
                elif heads[top] == below and not waiting[top]:
                    yield RIGHTARC
                    stack.pop()
                    waiting[below] -= 1
                else:
                    break
