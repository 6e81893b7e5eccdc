"""A stand-in for a model: made-up numbers that fit together, and a death on request. For tests of tables, not of search."""

from __future__ import annotations

import os
import signal
import zlib
from collections.abc import Iterable, Iterator, Sequence
from types import SimpleNamespace

import numpy as np

from dtg.scoring.surprisal import SentenceSurprisal
from dtg.text.sentence import Sentence
from dtg.trees import DependencyTree


def made_up(sentence: Sentence, salt: int = 0) -> SentenceSurprisal:
    """Numbers that depend on the words, the one before, and `salt`."""
    count = len(sentence)
    keys = [zlib.crc32(f"{salt} {' '.join(sentence.words[max(0, i - 1) : i + 1])}".encode()) for i in range(count)]
    draws = np.random.default_rng(keys).random((count + 1, 5))
    lexical, structural = 12 * draws[:count, 0] ** 2, 3 * draws[:count, 1]
    entropies = 2 * draws[:count, 2]
    end = float(draws[count, 0])
    return SentenceSurprisal(
        sentence=sentence,
        surprisals=lexical + structural,
        lexical=lexical,
        structural=structural,
        entropies=entropies,
        entropy_reductions=-np.diff(entropies, prepend=0.0),
        stack_depths=1 + 3 * draws[:count, 3],
        kept=1 - draws[:count, 4] ** 4,
        pieces=np.array([1 + len(word) // 5 for word in sentence.words]),
        end_surprisal=end,
        log_probability=-float((lexical + structural).sum() + end),
    )


class StandIn:
    """Answers like a `LanguageModel`, as far as the commands ask.

    It looks `ahead` sentences ahead, and its numbers depend on a sentence's place among those it was given together, as
    those of a real model do in the last digit. After `sentences` of them it sends itself a signal, if there is one.
    """

    def __init__(
        self, family: str = "dtg", ahead: int = 4, sentences: int = -1, kill: signal.Signals | None = None
    ) -> None:
        self.config = SimpleNamespace(family=family)
        self.name, self.device, self.has_trees, self.language = family, "cpu", family != "txl-tokens", "en"
        self.ahead, self.sentences, self.kill = ahead, sentences, kill
        self.most_waiting = 0
        self.tokenizer = None

    def surprisal_stream(
        self,
        sentences: Iterable[Sentence],
        *,
        beam: int | None = None,
        word_beam: int | None = None,
        accuracy: str | None = None,
        boundary: str = "next",
        columns: Sequence[str] = (),
    ) -> Iterator[SentenceSurprisal]:
        waiting = list[SentenceSurprisal]()
        for place, sentence in enumerate(sentences):
            waiting.append(made_up(sentence, salt=place))
            self.most_waiting = max(self.most_waiting, len(waiting))
            if len(waiting) > self.ahead:
                yield self.answer(waiting.pop(0))
        for result in waiting:
            yield self.answer(result)

    def answer(self, result: SentenceSurprisal) -> SentenceSurprisal:
        if self.sentences == 0 and self.kill is not None:
            os.kill(os.getpid(), self.kill)
        self.sentences -= 1
        return result

    def score(self, trees: Sequence[DependencyTree]) -> list[float]:
        return [made_up(Sentence.of_words(tree.words), salt=place).log_probability for place, tree in enumerate(trees)]
