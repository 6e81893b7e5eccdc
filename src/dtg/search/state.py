"""One sentence, word by word: `state = model.begin()`, then `state = state.step(word)`, at last `state.end()`.

A state is not changed by a step, so a sentence can be continued in several ways from the same state.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from dtg.errors import InputError
from dtg.search.backpointers import actions_of, replay
from dtg.search.beam_search import Search
from dtg.search.beams import Beams
from dtg.search.expansion import Arrivals
from dtg.search.word_step import NextWord
from dtg.trees import DependencyTree


@dataclass(frozen=True, slots=True)
class PartialTree:
    """What a hypothesis has built so far. A head is 0 for `<ROOT>`, None where it is not known yet."""

    words: tuple[str, ...]
    heads: tuple[int | None, ...]
    stack: tuple[int, ...]  # words on the stack, bottom to top; 0 is <ROOT>
    probability: float  # among the hypotheses in the beam
    log_probability: float  # of the words and all actions so far, in nats


@dataclass(frozen=True, slots=True)
class ScoredTree:
    """A tree and log p(x, y), in nats."""

    tree: DependencyTree
    log_probability: float


class BeamState:
    """The hypotheses after some words, and what the last word cost, in nats."""

    def __init__(
        self, search: Search, beams: Beams, words: tuple[str, ...] = (), before: BeamState | None = None
    ) -> None:
        self.search, self.words = search, words
        self._beams = beams
        self.entropy_reduction: float = 0.0 if before is None else before.entropy - self.entropy

    @property
    def surprisal(self) -> float:
        """-log p(last word | words before); 0 before the first word."""
        return float(self._beams.figures.surprisal[0])

    @property
    def lexical(self) -> float:
        """The part of the surprisal that is about the word, given the states before it."""
        return float(self._beams.figures.lexical[0])

    @property
    def structural(self) -> float:
        """The part of the surprisal that is about the states: how far the word moves belief among them."""
        return float(self._beams.figures.structural[0])

    @property
    def entropy(self) -> float:
        """Of the distribution over partial trees in the beam."""
        return float(self._beams.figures.entropy[0])

    @property
    def stack_depth(self) -> float:
        """Words on the stack, the mean over the beam."""
        return float(self._beams.figures.stack_depth[0])

    @property
    def kept(self) -> float:
        """Share of the probability that the search kept at the last word."""
        return float(self._beams.figures.kept[0])

    @property
    def log_probability(self) -> float:
        """log p(words so far): a lower bound, because the search does not follow everything."""
        return float(self._beams.figures.log_mass[0])

    def step(self, word: str) -> BeamState:
        """The state after one more word."""
        tokenizer = self.search.evaluator.model.tokenizer
        if tokenizer is None:
            raise InputError("this model has no tokenizer to turn words into pieces; use step_ids.")
        return self.step_ids(tokenizer.encode(word), word)

    def step_ids(self, pieces: Sequence[int], word: str | None = None) -> BeamState:
        """The state after one more word, given as the numbers of its pieces."""
        if not pieces:
            raise InputError("a word needs at least one piece.")
        self.search.evaluator.model.check_known(pieces)
        name = f"word{len(self.words) + 1}" if word is None else word
        beams = self.search.step(self._beams, self._arrivals, [NextWord(0, pieces)])
        return BeamState(self.search, beams, (*self.words, name), self)

    def trees(self, count: int | None = 5) -> list[PartialTree]:
        """The most probable partial trees, best first; all of those in the beam if `count` is None."""
        total, score = self.log_probability, self._beams.score
        found = []
        for hypothesis in range(len(score) if count is None else min(count, len(score))):
            before_words = actions_of(self._beams.trail, hypothesis)
            state = replay(self.search.evaluator.system, self.search.evaluator.actions, before_words, self.words)
            log_probability = float(score[hypothesis])
            stack = state.stack if state.buffer is None else (*state.stack, state.buffer)
            probability = math.exp(log_probability - total)
            found.append(PartialTree(self.words, state.heads, stack, probability, log_probability))
        return found

    def end(self) -> Ending:
        """The sentence is over."""
        if not self.words:
            raise InputError("a sentence needs at least one word; step first.")
        return Ending(self)

    @cached_property
    def _arrivals(self) -> Arrivals:
        return self.search.arrive(self._beams)


class Ending:
    """A whole sentence: `log_probability` is log p(x), a lower bound unless the beam held every derivation."""

    def __init__(self, state: BeamState) -> None:
        self.words = state.words
        self._search, self._trail = state.search, state._beams.trail
        self._endings = state.search.end(state._beams)
        self.log_probability = float(self._endings.log_probability[0])
        self.surprisal = state.log_probability - self.log_probability

    def trees(self, count: int | None = 5) -> list[ScoredTree]:
        """The most probable trees, best first; all that were found if `count` is None."""
        evaluator, endings = self._search.evaluator, self._endings
        if not evaluator.system.builds_trees:
            raise InputError(f"{evaluator.family.name} generates words without a tree.")
        found = []
        for number in range(len(endings.score) if count is None else min(count, len(endings.score))):
            before_words = actions_of(self._trail, int(endings.parent[number]))
            after = [column for column in endings.actions[number].tolist() if column >= 0]
            state = replay(evaluator.system, evaluator.actions, before_words, self.words, after)
            heads = tuple(head for head in state.heads if head is not None)
            found.append(ScoredTree(DependencyTree(self.words, heads), float(endings.score[number])))
        return found
