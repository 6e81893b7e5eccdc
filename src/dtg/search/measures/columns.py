"""Columns of a word that are asked for by name: expectations over the hypotheses in the beam, so that ambiguity counts.

docs/surprisal.md has their formulas. What a model has no such thing of (arcs in a model of phrases) is NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from dtg.search.beams import Beams, MeasuredWords
from dtg.search.evaluator import Evaluator
from dtg.search.expansion import Candidates
from dtg.search.measures.arcs import ItemWords, make_arcs
from dtg.search.measures.attention import AttentionWatch
from dtg.search.measures.content_words import is_content_word
from dtg.search.measures.names import ATTENTION, MEASURES, OF_ARCS
from dtg.search.ranking import sums
from dtg.text.words import ENGLISH
from dtg.transitions.action import Operation
from dtg.transitions.lanes import LaneStates
from dtg.transitions.shift_attach import AttachLanes
from dtg.trees.kinds import DEPENDENCY


class Step(NamedTuple):
    """What one word adds: hypotheses that are kept, and where they come from."""

    beams: Beams  # before
    candidates: Candidates
    states: LaneStates  # of the kept hypotheses, after the word
    candidate: Tensor  # (hypotheses,)
    word: Tensor  # (hypotheses,) which of the words
    posterior: Tensor  # (hypotheses,)
    whose: Tensor  # (words,) the sentence before that each word continues
    pieces: Sequence[Sequence[int]]  # of each word


@dataclass(frozen=True, slots=True)
class Measuring:
    """The columns asked for, of one model."""

    evaluator: Evaluator
    asked: tuple[str, ...]

    @property
    def needs_attention(self) -> bool:
        return ATTENTION in self.asked

    def measure(self, step: Step, attention: AttentionWatch) -> MeasuredWords | None:
        """The columns of the words just generated; None if none are asked for."""
        if not self.asked:
            return None
        count = len(step.whose)

        def expected(values: Tensor) -> Tensor:
            return sums(step.posterior * values, step.word, count)

        nowhere = torch.full((count,), torch.nan, dtype=step.posterior.dtype, device=step.posterior.device)
        family = self.evaluator.family
        found = dict.fromkeys(MEASURES, nowhere)
        items = read = None
        if family.has_trees:
            found["reductions"] = expected(self.reductions(step))
            found |= best_two(step.posterior, step.word, count)
        if family.system.kind is DEPENDENCY and any(name in self.asked for name in OF_ARCS):
            items, read, lengths = self.arcs(step)
            found["dependency_length"] = expected(lengths[:, 0])
            if self.knows_content_words:
                found["integration_cost"] = expected(lengths[:, 1])
        columns = [found[name] for name in self.asked if name != ATTENTION]
        place = self.asked.index(ATTENTION) if self.needs_attention else 0
        if self.needs_attention:
            views = [group.view for group in self.evaluator.model.groups[-1]]
            entropies = [expected(attention.found[view]) if view in attention.found else nowhere for view in views]
            columns[place:place] = entropies
        return MeasuredWords(torch.stack(columns, dim=1), items, read)

    @property
    def knows_content_words(self) -> bool:
        model = self.evaluator.model
        return model.tokenizer is not None and model.config.language == ENGLISH

    def reductions(self, step: Step) -> Tensor:
        """(hypotheses,) arcs made, phrases closed or constituents merged since the word before."""
        table, actions = self.evaluator.system.table, step.candidates.actions[step.candidate]
        weight = torch.zeros(len(table.entries) + 1, dtype=torch.long, device=actions.device)  # the last is NOTHING's
        for number, (operation, argument) in enumerate(table.entries):
            if operation in (Operation.LEFTARC, Operation.RIGHTARC, Operation.REDUCE):
                weight[number] = 1
            elif operation == Operation.ATTACH:
                assert isinstance(argument, int)
                weight[number] = argument
        found = weight[actions].sum(1)
        before = step.beams.lanes.states
        if isinstance(before, AttachLanes):  # a word's own subwords are merged, too
            own = (before.subwords[:, 0] - 1).clamp(min=0)[step.candidates.parent[step.candidate]]
            found = found - own * (actions.shape[1] > 0)
        return found

    def arcs(self, step: Step) -> tuple[ItemWords, Tensor, Tensor]:
        """The words of the stack items, how many words were read, and (hypotheses, 2) how long the arcs are."""
        beams, candidates = step.beams, step.candidates
        parent, device = candidates.parent[step.candidate], step.word.device
        before = beams.measured
        if before is None or before.items is None or before.read is None:
            nothing = torch.zeros(len(beams.beam), 1, 2, dtype=torch.long, device=device)
            before_items, before_read = ItemWords(nothing), torch.zeros(beams.count, 2, dtype=torch.long, device=device)
        else:
            before_items, before_read = before.items, before.read
        states = beams.lanes.states.fork(parent)
        actions = candidates.actions[step.candidate]
        items, lengths = make_arcs(self.evaluator.system, states, before_items.fork(parent), actions)
        more = torch.tensor([[1, int(self.is_content(pieces))] for pieces in step.pieces], device=device)
        read = before_read[step.whose] + more
        return items.pushed(step.states, read[step.word]), read, lengths

    def is_content(self, pieces: Sequence[int]) -> bool:
        """Whether a word, given as subwords, is a content word."""
        if not self.knows_content_words:
            return False
        assert self.evaluator.model.tokenizer is not None
        return is_content_word(self.evaluator.model.tokenizer.decode(list(pieces)))


def best_two(posterior: Tensor, word: Tensor, count: int) -> dict[str, Tensor]:
    """(words,) the probabilities of the best hypothesis and of the second best; 0 where there is but one."""
    zero = torch.zeros(count, dtype=posterior.dtype, device=posterior.device)
    best = zero.scatter_reduce(0, word, posterior, "amax")
    places = torch.arange(len(posterior), device=word.device)
    is_best = posterior == best[word]
    first = torch.full((count,), len(places), device=word.device).scatter_reduce(
        0, word[is_best], places[is_best], "amin"
    )
    others = posterior.index_fill(0, first, 0.0)
    return {"best_parse": best, "runner_up": zero.scatter_reduce(0, word, others, "amax")}
