"""One pair judged: the log-probabilities of its two sentences in, right, wrong or a tie out.

A pair is right if the acceptable sentence has the higher log-probability. Equal ones are a tie, and a tie is not right. There
are two conventions: log p of the sentence, which is what Warstadt et al. and the paper compare, and log p per word.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from dtg.errors import InputError
from dtg.evaluation.blimp.lines import Pair

Convention = Literal["sentence", "per_word"]
CONVENTIONS: tuple[Convention, ...] = ("sentence", "per_word")
# Nats. Sentences that are the same can differ by so much, for what a model computes together shifts its last digits.
TIE = 1e-5


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """A pair and what a model says of it, in nats; the numbers of words are those that the model read."""

    pair: Pair
    good: float
    bad: float
    good_words: int
    bad_words: int

    def __post_init__(self) -> None:
        for value, words in ((self.good, self.good_words), (self.bad, self.bad_words)):
            if math.isnan(value) or value == math.inf or words < 1:
                raise InputError(
                    f"pair {self.pair.pair_id} of {self.pair.uid}: a log-probability and a number of words are expected "
                    f"for each sentence, but {value} and {words} were given. Score the pair anew."
                )

    def difference(self, convention: Convention) -> float:
        """How much better the acceptable sentence is: above 0 if the model is right, 0 for a tie."""
        good, bad = self.good, self.bad
        if convention == "per_word":
            good, bad = good / self.good_words, bad / self.bad_words
        return 0.0 if good == bad or abs(good - bad) <= TIE else good - bad  # == for two that are minus infinity

    def is_right(self, convention: Convention) -> bool:
        return self.difference(convention) > 0
