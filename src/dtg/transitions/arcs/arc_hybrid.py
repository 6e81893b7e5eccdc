"""Arc-hybrid (Kuhlmann et al. 2011) in its generative form; its derivations are exactly those of arc-standard.

A generated word waits in the buffer head; generating the next one shifts it.

GEN(x)      [.. i] j    ->  [.. i j] x
LEFTARC     [.. i] j    ->  [..] j,     head[i] = j
RIGHTARC    [.. i j] -  ->  [.. i] -,   head[j] = i     a filled buffer is shifted first
<END>       [<ROOT>] -  when <ROOT> has its word

Features: depth, buffered, root_has_word (see `DependencyState`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import torch

from dtg.transitions.action import GEN, LEFTARC, RIGHTARC, Action, Operation
from dtg.transitions.arcs.arc_standard import ArcStandard
from dtg.transitions.arcs.buffer import BufferLanes, generate, give_top_to_buffer
from dtg.transitions.arcs.shared import DependencyState, DependencySystem
from dtg.transitions.batch import ActionBatch, SentenceBatch
from dtg.transitions.lanes import Change, LaneActions
from dtg.transitions.rules import BUFFER_IS_FILLED, ROOT_IS_FREE, ROOT_IS_TAKEN, TEXT_GOES_ON, Clause, Rules
from dtg.trees.tree import ROOT, DependencyTree


@dataclass(slots=True)
class ArcHybridLanes(BufferLanes):
    """The lanes of arc-hybrid."""

    feature_names = ("depth", "buffered", "root_has_word", "last")

    def change(self, actions: LaneActions) -> Change:
        top, lower = self.items - 1, self.items - actions.taken
        head = torch.where(actions.does[Operation.LEFTARC], top, lower)
        return Change(top, lower, head, None, lower + actions.puts_in - 1)

    def apply(self, actions: LaneActions, change: Change) -> None:
        self.record_arcs(actions, change)
        self.record(actions, change)


class ArcHybrid(DependencySystem):
    """Left arcs from the buffer, right arcs within the stack."""

    name = "arc-hybrid"
    lane_states = ArcHybridLanes
    rules: ClassVar[Rules] = {
        Operation.GEN: (TEXT_GOES_ON, ROOT_IS_FREE),
        Operation.LEFTARC: (BUFFER_IS_FILLED, Clause("a word is on the stack", lambda s, k: s.depth >= 2)),
        Operation.RIGHTARC: (
            Clause("a word is on the stack or in the buffer", lambda s, k: s.depth + s.buffered >= 2),
            Clause(
                "from <ROOT> only when no text is left", lambda s, k: (s.depth + s.buffered > 2) | (s.words_left <= 0)
            ),
        ),
        Operation.END: (ROOT_IS_TAKEN,),
    }

    def effect(self, state: DependencyState, action: Action) -> DependencyState:
        match action.operation:
            case Operation.GEN:
                return generate(state, action.word)
            case Operation.LEFTARC:
                return give_top_to_buffer(state)
            case Operation.RIGHTARC:
                *below, head, dependent = state.shifted
                heads = state.with_head(dependent, head)
                return replace(state, stack=(*below, head), buffer=None, heads=heads, last=action.operation)
            case _:
                return replace(state, last=action.operation)

    def derive(self, batch: SentenceBatch) -> ActionBatch:
        return ArcStandard().derive(batch)  # the same derivations, with the same ids; a test says so

    def steps(self, tree: DependencyTree) -> Iterator[Action]:
        heads = (ROOT, *tree.heads)
        waiting = [0] * len(heads)  # dependents not yet attached
        for head in tree.heads:
            waiting[head] += 1
        stack = [ROOT]
        for word, form in enumerate(tree.words, start=1):
            yield GEN(form)  # the word is in the buffer
            while stack and stack[-1] != ROOT and heads[stack[-1]] == word:
                yield LEFTARC
                stack.pop()
                waiting[word] -= 1
            stack.append(word)  # shifted, by a RIGHTARC or by the next GEN
            while len(stack) > 1 and heads[stack[-1]] == stack[-2] and not waiting[stack[-1]]:
                yield RIGHTARC
                stack.pop()
                waiting[stack[-1]] -= 1
