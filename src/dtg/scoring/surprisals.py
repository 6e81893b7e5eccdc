"""Surprisal of many sentences: texts or words in, a `SentenceSurprisal` for each out, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, islice
from operator import not_
from typing import TYPE_CHECKING

import numpy as np

from dtg.errors import InputError
from dtg.scoring.one_pass import fits, read_all
from dtg.scoring.surprisal import SentenceSurprisal
from dtg.search.beam_search import Search
from dtg.search.beams import WordFigures
from dtg.search.options import BeamOptions
from dtg.search.prefix_trie import Pieces, SearchedSentence, search_all
from dtg.text.sentence import Sentence

if TYPE_CHECKING:
    from dtg.model import DecoderModel

GivenSentence = str | Sequence[str] | Sentence
LOOK_AHEAD = 256  # sentences among which equal beginnings are looked for


def surprisal_stream(
    model: DecoderModel, sentences: Iterable[GivenSentence], options: BeamOptions, ends: bool = True
) -> Iterator[SentenceSurprisal]:
    """Lazily, in order, looking no more than LOOK_AHEAD sentences ahead; without `ends`, nothing is said about `<END>`."""
    if model.tokenizer is None:
        raise InputError("this model has no tokenizer to turn words into pieces.")
    search = Search(model, options)
    source = iter(sentences)
    while some := [as_sentence(sentence) for sentence in islice(source, LOOK_AHEAD)]:
        pieces = [model.tokenizer.encode_all(sentence.words) for sentence in some]
        for sentence, words, found in zip(some, pieces, figures_of(search, pieces, ends), strict=True):
            yield in_columns(sentence, words, found)


def figures_of(search: Search, sentences: Sequence[Sequence[Pieces]], ends: bool) -> Iterator[SearchedSentence]:
    """By search; for a model without trees by one pass, but for very long sentences."""
    model = search.evaluator.model
    in_one = [not model.family.system.builds_trees and fits(words) for words in sentences]
    read = read_all(model, list(compress(sentences, in_one)), search.options.constrained, ends)
    searched = search_all(search, list(compress(sentences, map(not_, in_one))), ends=ends)
    return (next(read if is_in_one else searched) for is_in_one in in_one)


def as_sentence(given: GivenSentence) -> Sentence:
    """A text is split into words; words are taken as they are."""
    if isinstance(given, Sentence):
        return given
    return Sentence.of_text(given) if isinstance(given, str) else Sentence.of_words(given)


def in_columns(sentence: Sentence, pieces: Sequence[Pieces], found: SearchedSentence) -> SentenceSurprisal:
    """The same numbers, column by column."""
    figures = WordFigures(*np.array(found.words, dtype=np.float64).T)
    entropies = np.asarray(figures.entropy)
    return SentenceSurprisal(
        sentence=sentence,
        surprisals=np.asarray(figures.surprisal),
        lexical=np.asarray(figures.lexical),
        structural=np.asarray(figures.structural),
        entropies=entropies,
        entropy_reductions=np.concatenate([[0.0], entropies])[:-1] - entropies,
        stack_depths=np.asarray(figures.stack_depth),
        kept=np.asarray(figures.kept),
        pieces=np.array([len(word) for word in pieces]),
        end_surprisal=float(figures.log_mass[-1]) - found.log_probability,
        log_probability=found.log_probability,
    )
