"""Surprisal of many sentences: by search, or in one pass for models without trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, compress, islice
from operator import not_

import numpy as np
import torch

from dtg.errors import NotFiniteError
from dtg.io.settings import check_value
from dtg.model.model import DecoderModel
from dtg.model.precision import finest
from dtg.scoring.surprisal import SentenceSurprisal
from dtg.scoring.tree_scores import chunks
from dtg.search.beam_search import BeamSearch
from dtg.search.beams import WordStatistics
from dtg.search.evaluator import checked
from dtg.search.measures.names import with_changes
from dtg.search.options import BeamOptions
from dtg.search.prefix_trie import Pieces, SearchedSentence, search_all
from dtg.text.sentence import GivenSentence, Sentence, as_sentence
from dtg.transitions.batch import SentenceBatch

LOOK_AHEAD = 256  # sentences among which equal prefixes are looked for
PIECES_AT_ONCE = 4_000  # in one pass: bounds memory
LONGEST_PASS = 1_000  # subwords of a sentence; memory grows with its square, and a search's does not


def surprisal_stream(
    model: DecoderModel, sentences: Iterable[GivenSentence], options: BeamOptions, ends: bool = True
) -> Iterator[SentenceSurprisal]:
    """Lazily, in order, looking no more than LOOK_AHEAD sentences ahead; without `ends`, nothing is said about `<END>`."""
    tokenizer = model.require_tokenizer()
    check_value("ends", ends, bool)
    search = BeamSearch(model, options)
    source, first = iter(sentences), 1
    while some := [as_sentence(sentence) for sentence in islice(source, LOOK_AHEAD)]:
        pieces = [
            tokenizer.encode_sentence(sentence.words, f"sentence {number}, ")
            for number, sentence in enumerate(some, start=first)
        ]
        first += len(some)
        for sentence, words, found in zip(some, pieces, search_sentences(search, pieces, ends), strict=True):
            result = in_columns(sentence, words, found, search.column_names)
            if wrong := np.flatnonzero(~np.isfinite(result.surprisals)).tolist():
                word = sentence.words[wrong[0]]
                raise NotFiniteError(f"the surprisal of {word!r}, word {wrong[0] + 1},", "NaN or infinite")
            yield result


def search_sentences(
    search: BeamSearch, sentences: Sequence[Sequence[Pieces]], ends: bool
) -> Iterator[SearchedSentence]:
    """By search; for a model without trees by one pass, but for very long sentences, and for what a pass does not tell."""
    model, options = search.evaluator.model, search.options
    is_enough = not (model.has_trees or options.columns or options.boundary == "own")
    in_one = [is_enough and fits_one_pass(words) for words in sentences]
    read = read_in_one_pass(model, list(compress(sentences, in_one)), search.evaluator.constrained, ends)
    searched = search_all(search, list(compress(sentences, map(not_, in_one))), ends=ends)
    return (next(read if is_in_one else searched) for is_in_one in in_one)


def fits_one_pass(words: Sequence[Pieces]) -> bool:
    """Whether the sentence is short enough."""
    return sum(map(len, words)) <= LONGEST_PASS


@torch.inference_mode()
def read_in_one_pass(
    model: DecoderModel, sentences: Sequence[Sequence[Pieces]], constrained: bool, ends: bool = True
) -> Iterator[SearchedSentence]:
    """Every sentence's statistics by a model without trees, in order, as `search_all` gives them."""
    for some in passes(sentences):
        found = model(SentenceBatch.of_words(some, model.device), constrained).log_probability
        scores = iter(checked(found.to(finest(found.device))).tolist())
        for words in some:
            of_words = [sum(next(scores) for _ in pieces) for pieces in words]
            masses = list(accumulate(of_words))
            end = next(scores)
            statistics = tuple(
                (mass, -score, -score, 0.0, 0.0, 0.0, 1.0) for mass, score in zip(masses, of_words, strict=True)
            )
            yield SearchedSentence(statistics, masses[-1] + end if ends else float("nan"))


def passes(sentences: Sequence[Sequence[Pieces]]) -> Iterator[list[Sequence[Pieces]]]:
    """Sentences that follow each other, together as long as they are few enough."""
    lengths = [sum(map(len, words)) for words in sentences]
    for places in chunks(lengths, range(len(lengths)), [0] * len(lengths), PIECES_AT_ONCE):
        yield [sentences[place] for place in places]


def in_columns(
    sentence: Sentence, pieces: Sequence[Pieces], found: SearchedSentence, names: Sequence[str] = ()
) -> SentenceSurprisal:
    """The same numbers, column by column; `names` are those of the columns asked for."""
    columns = np.array(found.words, dtype=np.float64).T
    own = len(WordStatistics._fields)
    statistics = WordStatistics(*columns[:own])
    entropies = np.asarray(statistics.entropy)
    return SentenceSurprisal(
        sentence=sentence,
        surprisals=np.asarray(statistics.surprisal),
        lexical=np.asarray(statistics.lexical),
        structural=np.asarray(statistics.structural),
        entropies=entropies,
        entropy_reductions=np.concatenate([[0.0], entropies])[:-1] - entropies,
        stack_depths=np.asarray(statistics.stack_depth),
        kept=np.asarray(statistics.kept),
        pieces=np.array([len(word) for word in pieces]),
        end_surprisal=float(statistics.log_mass[-1]) - found.log_probability,
        log_probability=found.log_probability,
        measures=with_changes(dict(zip(names, columns[own:], strict=True))),
    )
