"""One sentence, word by word: `state = model.begin()`, then `state = state.step(word)`, at last `state.end()`.

A state is not changed by a step, so a sentence can be continued in several ways from the same state.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

from dtg.errors import InputError
from dtg.search.backpointers import actions_of, replay
from dtg.search.beam_search import BeamSearch
from dtg.search.beams import Beams
from dtg.search.expansion import Candidates
from dtg.search.word_step import NextWord
from dtg.transitions.action import NOTHING


@dataclass(frozen=True, slots=True)
class ScoredTree:
    """A tree and log p(x, y), in nats."""

    tree: Any  # of the kind that the model generates, such as a `DependencyTree`
    log_probability: float


class BeamState:
    """The hypotheses after some words, and what the last word cost, in nats."""

    def __init__(
        self,
        search: BeamSearch,
        beams: Beams,
        words: tuple[str, ...] = (),
        before: BeamState | None = None,
        subwords: tuple[int, ...] = (),
    ) -> None:
        self.search, self.words, self.subwords = search, words, subwords
        self._beams = beams
        self.entropy_reduction: float = 0.0 if before is None else before.entropy - self.entropy

    def __repr__(self) -> str:
        words = " ".join(self.words) or "before the first word"
        return f"<BeamState {words!r}: surprisal {self.surprisal:.2f}, log p = {self.log_probability:.2f} nats>"

    def _repr_html_(self) -> str:
        """What the last word cost, and the most probable partial trees, for notebooks."""
        trees = "".join(
            f"<div>p = {tree.probability:.3f}<br>{tree.svg()}</div>"
            for tree in (self.trees(3) if self.words and self.search.evaluator.family.has_trees else [])
        )
        facts = f"surprisal {self.surprisal:.2f} nats, entropy {self.entropy:.2f}, kept {self.kept:.1%}"
        return f"<p><b>{escape(' '.join(self.words))}</b> {facts}</p>{trees}"

    @property
    def surprisal(self) -> float:
        """-log p(last word | words before); 0 before the first word."""
        return float(self._beams.statistics.surprisal[0])

    @property
    def lexical(self) -> float:
        """The part of the surprisal that is about the word, given the states before it."""
        return float(self._beams.statistics.lexical[0])

    @property
    def structural(self) -> float:
        """The part of the surprisal that is about the states: how far the word moves belief among them."""
        return float(self._beams.statistics.structural[0])

    @property
    def entropy(self) -> float:
        """Of the distribution over partial trees in the beam."""
        return float(self._beams.statistics.entropy[0])

    @property
    def stack_depth(self) -> float:
        """Words on the stack, in expectation over the beam."""
        return float(self._beams.statistics.stack_depth[0])

    @property
    def kept(self) -> float:
        """Share of the probability that the search kept at the last word."""
        return float(self._beams.statistics.kept[0])

    @property
    def measures(self) -> dict[str, float]:
        """The columns asked for, by name; none before the first word."""
        measured = self._beams.measured
        return (
            {} if measured is None else dict(zip(self.search.column_names, measured.columns[0].tolist(), strict=True))
        )

    @property
    def log_probability(self) -> float:
        """log p(words so far): a lower bound, because the search does not follow everything.

        With boundary="own", of the words so far and that the last one is over.
        """
        return float(self._beams.statistics.log_mass[0])

    def step(self, word: str) -> BeamState:
        """The state after one more word; a text of several words is taken for one, with a warning."""
        if not isinstance(word, str):
            raise InputError(f"a word is expected, a string, not {word!r}.")
        if len(word.split()) > 1 and not word[0].isdigit():  # "10 000" is one word in some treebanks
            warnings.warn(f"{word!r} is taken for one word; step once for each word.", stacklevel=2)
        [pieces] = self.search.evaluator.model.require_tokenizer().encode_sentence([word])
        return self.step_ids(pieces, word)

    def step_ids(self, pieces: Sequence[int], word: str | None = None) -> BeamState:
        """The state after one more word, given as the ids of its subwords."""
        if not pieces:
            raise InputError("a word needs at least one piece.")
        self.search.evaluator.model.check_known(pieces)
        name = f"word{len(self.words) + 1}" if word is None else word
        beams = self.search.step(self._beams, self._candidates, [NextWord(0, pieces)])
        return BeamState(self.search, beams, (*self.words, name), self, (*self.subwords, len(pieces)))

    def trees(self, count: int | None = 5) -> list[Any]:
        """The most probable partial trees, best first; all of those in the beam if `count` is None.

        They are of the kind that the model generates, such as `PartialDependencyTree`; all have `words`, `probability` and
        `log_probability`.
        """
        score, system = self._beams.score, self.search.evaluator.system
        is_own = self.search.options.boundary == "own"  # partial trees are as probable whether or not the word is over
        total = float(score.logsumexp(0)) if is_own else self.log_probability
        found = []
        for hypothesis in range(len(score) if count is None else min(count, len(score))):
            before_words = actions_of(self._beams.backpointers, hypothesis)
            state = replay(system, before_words, self.words, subwords=self.subwords)
            log_probability = float(score[hypothesis])
            found.append(system.partial(state, math.exp(log_probability - total), log_probability))
        return found

    def end(self) -> Ending:
        """The sentence is over."""
        if not self.words:
            raise InputError("a sentence needs at least one word; step first.")
        return Ending(self)

    @cached_property
    def _candidates(self) -> Candidates:
        return self.search.expand(self._beams)


class Ending:
    """A whole sentence: `log_probability` is log p(x), a lower bound unless the beam held every derivation."""

    def __init__(self, state: BeamState) -> None:
        self.words, self._subwords = state.words, state.subwords
        self._search, self._backpointers = state.search, state._beams.backpointers
        self._endings = state.search.end(state._beams)
        self.log_probability = float(self._endings.log_probability[0])
        self.surprisal = state.log_probability - self.log_probability

    def trees(self, count: int | None = 5) -> list[ScoredTree]:
        """The most probable trees, best first; all that were found if `count` is None."""
        evaluator, endings = self._search.evaluator, self._endings
        if not evaluator.family.has_trees:
            raise InputError(f"{evaluator.family.name} generates words without a tree.")
        found = []
        for number in range(len(endings.score) if count is None else min(count, len(endings.score))):
            before_words = actions_of(self._backpointers, int(endings.parent[number]))
            after = [action for action in endings.actions[number].tolist() if action != NOTHING]
            state = replay(evaluator.system, before_words, self.words, after, self._subwords)
            found.append(ScoredTree(evaluator.system.result(state), float(endings.score[number])))
        return found
