"""Language models on SyntaxGym: suites in, groups of items to compute together and the surprisals of their words out.

A group is searched at once, so that what the conditions of an item begin with is computed once. Which word comes next plays no
part in a search until it is known, so this changes no number. The end of a sentence counts nowhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from dtg.evaluation.sg.suites import Key, RegionWords, Suite, SuiteSentence, suite_sentences
from dtg.evaluation.sg.surprisals import region_surprisals

if TYPE_CHECKING:
    from dtg.language_model import LanguageModel

ITEMS_TOGETHER = 8  # at least, and computed again after an interruption


@dataclass(frozen=True, slots=True)
class SurprisedSentence:
    """A sentence and the surprisals of its words, in bits."""

    sentence: SuiteSentence
    words: RegionWords
    surprisals: tuple[float, ...]


def groups_of(suites: Iterable[Suite], size: int = ITEMS_TOGETHER) -> list[list[SuiteSentence]]:
    """Sentences of items of one suite that are computed together."""
    found = list[list[SuiteSentence]]()
    for _, sentences in groupby(suite_sentences(suites), key=lambda sentence: sentence.key.suite):
        items = [list(some) for _, some in groupby(sentences, key=lambda sentence: sentence.key.item)]
        for first in range(0, len(items), size):
            found.append([sentence for item in items[first : first + size] for sentence in item])
    return found


def sentence_results(
    model: LanguageModel, sentences: Sequence[SuiteSentence], beam: int, word_beam: int | None
) -> list[dict[str, Any]]:
    """What is stored of each sentence."""
    words = [sentence.split().words for sentence in sentences]
    found = model.surprisal(words, beam=beam, ends=False, word_beam=word_beam)
    return [
        {
            "suite": sentence.key.suite,
            "item": sentence.key.item,
            "condition": sentence.key.condition,
            "surprisals": (one.surprisals / math.log(2)).tolist(),
        }
        for sentence, one in zip(sentences, found, strict=True)
    ]


def surprised_sentences(suites: Iterable[Suite], results: Iterable[Mapping[str, Any]]) -> Iterator[SurprisedSentence]:
    """All sentences in their order, with what is stored of them."""
    by_key = {Key(result["suite"], result["item"], result["condition"]): result for result in results}
    for sentence in suite_sentences(suites):
        yield SurprisedSentence(sentence, sentence.split(), tuple(by_key[sentence.key]["surprisals"]))


def by_region(suites: Iterable[Suite], sentences: Iterable[SurprisedSentence]) -> dict[Key, tuple[float, ...]]:
    """The surprisals of every sentence's regions."""
    by_name = {suite.name: suite for suite in suites}
    found = dict[Key, tuple[float, ...]]()
    for one in sentences:
        suite = by_name[one.sentence.key.suite]
        found[one.sentence.key] = region_surprisals(one.surprisals, one.words.regions, len(suite.regions), suite.metric)
    return found
