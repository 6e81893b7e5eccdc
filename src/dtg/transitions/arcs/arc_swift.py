"""Arc-swift (Qi and Manning 2017) in its generative form: arcs reach over stack items that already have heads.

A generated word waits in the buffer head; generating the next one shifts it. The items are i_1 (the top), i_2, ...

GEN(x)        [.. i] j               ->  [.. i j] x
LEFTARC[k]    [.. i_k .. i_1] j      ->  [..] j,         head[i_k] = j
RIGHTARC[k]   [.. i_k .. i_1] j      ->  [.. i_k j] -,   head[j] = i_k
<END>         [..] -                 when every word has a head

Features: depth, buffered, headless, root_has_word, headed_run (see `DependencyState`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import torch

from dtg.errors import InputError, TooFarError
from dtg.transitions.action import GEN, LEFTARC, RIGHTARC, Action, Argument, Operation
from dtg.transitions.arcs.buffer import KeepingLanes, generate
from dtg.transitions.arcs.shared import DependencyState, DependencySystem
from dtg.transitions.arcs.structure import Structure, arc_order, ids_of_arcs
from dtg.transitions.batch import ActionBatch, SentenceBatch, expand
from dtg.transitions.rules import (
    BUFFER_IS_FILLED,
    NO_WORD_IS_HEADLESS,
    NO_WORD_IS_STRANDED,
    ROOT_IS_TAKEN,
    TEXT_GOES_ON,
    TEXT_IS_DONE,
    Clause,
    Derivations,
    Rules,
)
from dtg.trees.tree import ROOT, DependencyTree

DEFAULT_LIMIT = 20

SKIPPED_HAVE_HEADS = Clause("the items skipped have heads", lambda s, k: k <= s.headed_run + 1)


class ArcSwift(DependencySystem):
    """Arc-eager whose POPs are folded into the arc that they make way for. Distances go up to `distance_limit`."""

    name = "arc-swift"
    lane_states = KeepingLanes
    options = ("distance_limit",)
    rules: ClassVar[Rules] = {
        Operation.GEN: (TEXT_GOES_ON,),
        Operation.LEFTARC: (
            BUFFER_IS_FILLED,
            SKIPPED_HAVE_HEADS,
            Clause("i_k is not <ROOT>", lambda s, k: k < s.depth),
            Clause("i_k has no head", lambda s, k: k > s.headed_run),
        ),
        Operation.RIGHTARC: (
            BUFFER_IS_FILLED,
            SKIPPED_HAVE_HEADS,
            Clause("i_k is a word, or <ROOT> without one", lambda s, k: (k < s.depth) | (s.root_has_word == 0)),
            NO_WORD_IS_STRANDED,
        ),
        Operation.END: (TEXT_IS_DONE, NO_WORD_IS_HEADLESS, ROOT_IS_TAKEN),  # a word in the buffer would be headless
    }

    def __init__(self, *, derivations: Derivations = "canonical", distance_limit: int = DEFAULT_LIMIT) -> None:
        if distance_limit < 1:
            raise InputError(f"arc-swift needs a limit of at least 1 on the distance of arcs, not {distance_limit}.")
        self.distance_limit = distance_limit
        super().__init__(derivations=derivations)

    def arguments(self, operation: Operation) -> tuple[Argument, ...]:
        is_arc = operation in (Operation.LEFTARC, Operation.RIGHTARC)
        return tuple(range(1, self.distance_limit + 1)) if is_arc else (None,)

    @property
    def limits(self) -> Mapping[str, int]:
        return {"distance_limit": self.distance_limit}

    def reaches(self, tree: DependencyTree, subwords: Sequence[int] | None = None) -> bool:
        """False where the tree needs an arc beyond the limit."""
        if len(tree) <= self.distance_limit:  # no stack has more items than there are words
            return True
        try:
            self.oracle(tree)
        except TooFarError:
            return False
        return True

    def effect(self, state: DependencyState, action: Action) -> DependencyState:
        if action.operation == Operation.GEN:
            return generate(state, action.word)
        if action.operation == Operation.END:
            return replace(state, last=action.operation)
        assert isinstance(action.argument, int) and state.buffer is not None
        item = state.stack[-action.argument]
        below = state.stack[: -action.argument]
        if action.operation == Operation.LEFTARC:
            return replace(state, stack=below, heads=state.with_head(item, state.buffer), last=action.operation)
        return replace(
            state,
            stack=(*below, item, state.buffer),
            buffer=None,
            heads=state.with_head(state.buffer, item),
            last=action.operation,
        )

    def derive(self, batch: SentenceBatch) -> ActionBatch:
        """The arcs of arc-eager, each at one more than the number of POPs that would come before it."""
        tree = Structure.of(batch)
        words = len(tree.place)
        distance = tree.distance
        if words and int(distance.max()) > self.distance_limit:
            for sentence in batch.trees():
                self.oracle(sentence)  # raises for the sentence at fault, by name
        order = arc_order(tree, batch)
        counts = torch.zeros(3, words, dtype=torch.long, device=batch.device)
        counts[0], counts[1], counts[2, batch.last_words] = batch.piece_counts, 1, 1
        runs = ids_of_arcs(tree, self.table)
        runs[1] += distance - 1  # an operation's ids follow each other, from distance 1 on
        return expand(batch, runs.flatten()[order], counts.flatten()[order])

    def steps(self, tree: DependencyTree) -> Iterator[Action]:
        heads = (ROOT, *tree.heads)
        stack = [ROOT]
        for word, form in enumerate(tree.words, start=1):
            yield GEN(form)
            while (found := self._left_dependent(stack, heads, word)) is not None:
                yield LEFTARC.at(self._within_limit(found, tree))
                del stack[-found:]
            if heads[word] < word:
                distance = len(stack) - stack.index(heads[word])
                yield RIGHTARC.at(self._within_limit(distance, tree))
                del stack[len(stack) - distance + 1 :]
            stack.append(word)

    @staticmethod
    def _left_dependent(stack: list[int], heads: tuple[int, ...], word: int) -> int | None:
        """How far down the stack the nearest dependent of `word` is, if it is in reach."""
        for distance, item in enumerate(reversed(stack), start=1):
            if item != ROOT and heads[item] == word:
                return distance
            if item == ROOT or heads[item] > item:  # an item without a head yet cannot be skipped
                return None
        return None

    def _within_limit(self, distance: int, tree: DependencyTree) -> int:
        if distance > self.distance_limit:
            raise TooFarError(
                f"the tree of {' '.join(tree.words)!r} needs an arc over {distance} stack items; the limit is"
                f" {self.distance_limit}."
                f" Use a family with a limit of {distance} or more, or leave the tree out."
            )
        return distance
