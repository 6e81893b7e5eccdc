"""Arc-eager (Nivre 2003) in its generative form: arcs hold between the stack and the buffer head (paper, section 2).

A generated word waits in the buffer head; generating the next one shifts it.

GEN(x)      [.. i] j  ->  [.. i j] x
LEFTARC     [.. i] j  ->  [..] j,     head[i] = j
RIGHTARC    [.. i] j  ->  [.. i j] -, head[j] = i
POP         [.. i] j  ->  [..] j      to reach what is below i; i has a head
POP         [.. i] -  ->  [..] -      at the end: the whole stack is emptied, <ROOT> last
<END>       [] -

Features: depth, buffered, headless, root_has_word, headed_run (see `DependencyState`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import torch

from dtg.transitions.action import GEN, LEFTARC, POP, RIGHTARC, Action, Operation
from dtg.transitions.arcs.buffer import KeepingLanes, generate, give_top_to_buffer
from dtg.transitions.arcs.shared import DependencyState, DependencySystem
from dtg.transitions.arcs.structure import Structure, arc_order, ids_of_arcs
from dtg.transitions.batch import ActionBatch, SentenceBatch, expand
from dtg.transitions.rules import BUFFER_IS_FILLED, NO_WORD_IS_STRANDED, TEXT_GOES_ON, Clause, Rules
from dtg.trees.tree import ROOT, DependencyTree

TOP_IS_NOT_ROOT = Clause("the top is not <ROOT>", lambda s, k: s.depth >= 2)


class ArcEager(DependencySystem):
    """Gives a word to a head on its left at once, before the word has its own right dependents."""

    name = "arc-eager"
    lane_states = KeepingLanes
    rules: ClassVar[Rules] = {
        Operation.GEN: (
            TEXT_GOES_ON,
            Clause("the stack is not being emptied", lambda s, k: (s.last != Operation.POP) | (s.buffered == 1)),
            Clause("the last action was not POP", lambda s, k: s.last != Operation.POP, canonical=True),
        ),
        Operation.LEFTARC: (
            BUFFER_IS_FILLED,
            TOP_IS_NOT_ROOT,
            Clause("the top has no head", lambda s, k: s.headed_run == 0),
        ),
        Operation.RIGHTARC: (
            BUFFER_IS_FILLED,
            Clause("from <ROOT> only if it has no word", lambda s, k: (s.depth > 1) | (s.root_has_word == 0)),
            NO_WORD_IS_STRANDED,
        ),
        Operation.POP: (
            Clause("there is something to pop", lambda s, k: s.depth >= 1),
            Clause("before the end, the top has a head", lambda s, k: (s.buffered == 0) | (s.headed_run >= 1)),
            Clause(
                "before the end, it is not the root word",
                lambda s, k: (s.buffered == 0) | (s.depth > 2),
                canonical=True,
            ),
            Clause("at the end, no text is left", lambda s, k: (s.buffered == 1) | (s.words_left <= 0)),
            Clause("at the end, every word has a head", lambda s, k: (s.buffered == 1) | (s.headless == 0)),
            Clause("at the end, <ROOT> has its word", lambda s, k: (s.buffered == 1) | (s.root_has_word == 1)),
        ),
        Operation.END: (Clause("the stack is empty", lambda s, k: s.depth == 0),),
    }

    def effect(self, state: DependencyState, action: Action) -> DependencyState:
        match action.operation:
            case Operation.GEN:
                return generate(state, action.word)
            case Operation.LEFTARC:
                return give_top_to_buffer(state)
            case Operation.RIGHTARC:
                assert state.buffer is not None
                heads = state.with_head(state.buffer, state.stack[-1])
                stack = (*state.stack, state.buffer)
                return replace(state, stack=stack, buffer=None, heads=heads, last=action.operation)
            case Operation.POP:
                return replace(state, stack=state.stack[:-1], last=action.operation)
            case _:
                return replace(state, last=action.operation)

    def derive(self, batch: SentenceBatch) -> ActionBatch:
        """An arc is made after as many POPs as there are words above the one it reaches; at the end all are popped."""
        tree = Structure.of(batch)
        pops = tree.distance - 1
        root_spine = tree.spine[tree.head < 0]  # one root word a sentence, in order
        order = arc_order(tree, batch)
        # Each word has three pairs of runs: (-, GEN), (POPs, its own arc), and where it is the last, (POPs, <END>).
        counts = torch.zeros(3 * len(pops), 2, dtype=torch.long, device=batch.device)
        generate, arc, end = counts.view(3, len(pops), 2)
        generate[:, 1] = batch.piece_counts
        arc[:, 0], arc[:, 1] = pops, 1
        end[batch.last_words, 0], end[batch.last_words, 1] = root_spine + 2, 1  # the root word and <ROOT>
        runs = torch.full_like(counts, self.table.id_of(POP))
        runs.view(3, len(pops), 2)[:, :, 1] = ids_of_arcs(tree, self.table)
        return expand(batch, runs[order].flatten(), counts[order].flatten())

    def steps(self, tree: DependencyTree) -> Iterator[Action]:
        heads = (ROOT, *tree.heads)
        leftmost = list(range(len(heads)))  # the leftmost word each word still has to be joined with
        for dependent, head in enumerate(tree.heads, start=1):
            leftmost[head] = min(leftmost[head], dependent)
            leftmost[dependent] = min(leftmost[dependent], head)
        stack = [ROOT]
        for word, form in enumerate(tree.words, start=1):
            yield GEN(form)
            joined = word
            while joined > leftmost[word]:
                joined = stack[-1]
                if heads[joined] == word and joined != ROOT:
                    yield LEFTARC
                    stack.pop()
                elif heads[word] == joined:
                    yield RIGHTARC
                else:
                    yield POP
                    joined = stack.pop()
            stack.append(word)
        for _ in stack:
            yield POP
