"""`Scorer`: a language model with the call shapes of minicons' `IncrementalLMScorer` (github.com/kanishkamisra/minicons).

What differs, because the model does:

- Units are words, not pieces: `token_score` gives one pair for each word, and the mean is over words.
- The first word has a score: `<ROOT>` stands before it. (minicons gives the first token 0.0, or asks for `bos_token`.)
- Scores are those of a beam search, and as good as its beam.
- A sentence may be given as a sequence of words, which are then taken as they are; a string is split into words, by
  the rules of the model's language.
- `eos_token=True` counts `<END>` as one more unit; with it, the sum is log p(x).
- There are no ranks (words are open-ended sequences of pieces). That a word is over is part of the next word's score;
  `boundary="own"` makes it part of its own, as minicons' `bow_correction` does (docs/surprisal.md).

As in minicons: natural logarithms unless `base_two`, means unless another `reduction` is given, and a string alone is
a batch of one. A reduction gets a tensor (units,), in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log
from typing import Any, Unpack

import torch
from torch import Tensor

from dtg.errors import InputError
from dtg.language_model import LanguageModel
from dtg.search_keywords import SurprisalOptions, spelled_out
from dtg.text.sentence import Sentence, as_sentence

Batch = str | Sequence[str] | Sequence[Sequence[str]]
Reduction = Callable[[Tensor], Any]
END = "<END>"


def mean(scores: Tensor) -> float:
    """Of all units, as minicons reduces if not told otherwise."""
    return float(scores.mean())


class Scorer:
    """Scores of sentences by one model; the options are those of its beam search (see `LanguageModel`)."""

    @spelled_out(SurprisalOptions)
    def __init__(self, model: LanguageModel, beam: int | None = None, **search: Unpack[SurprisalOptions]) -> None:
        self.model, self.beam, self.search = model, beam, search

    def sequence_score(
        self,
        batch: Batch,
        reduction: Reduction = mean,
        base_two: bool = False,
        *,
        eos_token: bool = False,
    ) -> list[Any]:
        """For each sentence what `reduction` makes of its words' log-probabilities; the sum is `lambda x: x.sum(0).item()`."""
        formed = form(base_two=base_two)
        scores = self._log_probabilities(self._sentences(batch), eos_token)
        return [reduction(formed(score)) for score in scores]

    def token_score(
        self,
        batch: Batch,
        surprisal: bool = False,
        prob: bool = False,
        base_two: bool = False,
        *,
        eos_token: bool = False,
    ) -> list[list[tuple[str, float]]]:
        """For each sentence its words, each with its log-probability given the words before it."""
        formed = form(surprisal=surprisal, prob=prob, base_two=base_two)
        sentences = self._sentences(batch)
        scores = self._log_probabilities(sentences, eos_token)
        return [
            list(zip((*sentence.words, *[END] * eos_token), formed(score).tolist(), strict=True))
            for sentence, score in zip(sentences, scores, strict=True)
        ]

    def conditional_score(
        self,
        prefix: Batch,
        stimuli: Batch,
        separator: str | Sequence[str] = " ",
        reduction: Reduction = mean,
        prob: bool = False,
        base_two: bool = False,
        *,
        eos_token: bool = False,
    ) -> list[Any]:
        """The same for the words of each stimulus only, given the prefix before it and the separator between them.

        Words in the separator, such as a comma, are scored with the stimulus. Equal prefixes are searched once.
        """
        formed = form(prob=prob, base_two=base_two)
        prefixes, continuations = as_batch(prefix), as_batch(stimuli)
        separators = [separator] * len(prefixes) if isinstance(separator, str) else list(separator)
        if not len(prefixes) == len(continuations) == len(separators):
            raise InputError(
                f"there are {len(prefixes)} prefixes, {len(continuations)} stimuli and {len(separators)} separators; each"
                " stimulus needs its own, as in conditional_score([prefix] * len(stimuli), stimuli)."
            )
        parts = zip(prefixes, continuations, separators, strict=True)
        joined = [join(*three, self.model.language) for three in parts]
        scores = self._log_probabilities([sentence for sentence, _ in joined], eos_token)
        return [reduction(formed(score[skipped:])) for (_, skipped), score in zip(joined, scores, strict=True)]

    def _sentences(self, batch: Batch) -> list[Sentence]:
        """Texts are split by the rules of the model's language."""
        return [as_sentence(item, self.model.language) for item in as_batch(batch)]

    def _log_probabilities(self, sentences: Sequence[Sentence], eos_token: bool) -> list[Tensor]:
        """(units,) for each sentence. All go to the model together, which searches shared prefixes once."""
        found = self.model.surprisal([sentence.words for sentence in sentences], self.beam, **self.search)
        return [
            -torch.tensor([*result.surprisals.tolist(), *[result.end_surprisal] * eos_token], dtype=torch.float64)
            for result in found
        ]


def as_batch(batch: Batch) -> Sequence[str | Sequence[str]]:
    """A string is a batch of one; anything else is a sequence of strings, or of sequences of words."""
    return [batch] if isinstance(batch, str) else batch


def join(
    prefix: str | Sequence[str], stimulus: str | Sequence[str], separator: str, language: str
) -> tuple[Sentence, int]:
    """The whole sentence, and how many of its words are the prefix's."""
    if isinstance(prefix, str) != isinstance(stimulus, str):
        raise InputError(
            f"prefix and stimulus are expected both as text or both as words, not {prefix!r} and {stimulus!r}."
        )
    if isinstance(prefix, str) and isinstance(stimulus, str):
        sentence = Sentence.of_text(prefix + separator + stimulus, language)
        skipped = sum(start < len(prefix) for start in sentence.starts)
        if skipped and sentence.ends[skipped - 1] > len(prefix):
            word = sentence.words[skipped - 1]
            raise InputError(
                f"the word {word!r} is partly in the prefix {prefix!r} and partly after it, so it cannot be scored as one or"
                " the other. Put the border between two words, or use a separator."
            )
    else:
        if separator.strip():
            raise InputError(
                f"between words that are given as words, the separator {separator!r} has no place. Add it as a word."
            )
        sentence, skipped = Sentence.of_words([*prefix, *stimulus]), len(prefix)
    if skipped == len(sentence):
        raise InputError(f"the stimulus {stimulus!r} has no words; at least one is needed.")
    return sentence, skipped


def form(*, surprisal: bool = False, prob: bool = False, base_two: bool = False) -> Callable[[Tensor], Tensor]:
    """What makes natural log-probabilities into what is asked for; raises before anything is searched."""
    if prob and (surprisal or base_two):
        raise InputError(
            "prob=True gives probabilities, which are neither surprisals nor in base two; leave one of them out."
        )
    if prob:
        return torch.exp
    factor = (-1 if surprisal else 1) / (log(2) if base_two else 1)
    return lambda scores: scores * factor
