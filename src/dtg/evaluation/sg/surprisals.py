"""Surprisals of suites as tables: what a model says of a sentence's words in, tidy rows and a number for each region out.

All surprisals are in bits: the tolerance of `=` was meant for those. importing.py reads the table of words back, and those
of other tools.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dtg.evaluation.sg.suites import Metric, RegionWords, Suite, SuiteSentence
from dtg.evaluation.sg.verdicts import ItemResult
from dtg.tables.columns import Column, Row

SENTENCE = (
    Column("sentence_id", int, "the sentence's number among all of the suites, from 1"),
    Column("suite", str, "the name of the test suite"),
    Column("item", int, "the item's number in the suite"),
    Column("condition", str, "which of the item's sentences it is"),
)
SENTENCE_COLUMNS = (*SENTENCE, Column("sentence", str, "its regions, with spaces between them"))
WORD_COLUMNS = (
    *SENTENCE,
    Column("region", int, "the number of the word's region, from 1"),
    Column("word_id", int, "the word's number in the sentence, from 1"),
    Column("word", str, "the word"),
    Column("surprisal", float, "-log2 p(word | words before it)"),
)
REGION_COLUMNS = (
    *SENTENCE,
    Column("region", int, "the region's number, from 1"),
    Column("region_name", str, "what the suite calls it"),
    Column("content", str, "its words; nothing if it is empty"),
    Column("surprisal", float, "the sum (or mean, if the suite says so) over its words, in bits; 0 if it is empty"),
)
VERDICT_COLUMNS = (
    Column("suite", str, "the name of the test suite"),
    Column("circuit", str, "the circuit that it belongs to, if any"),
    Column("item", int, "the item's number in the suite"),
    Column("prediction", int, "the prediction's number in the suite, from 1"),
    Column("holds", int, "1 if the prediction holds of the item, otherwise 0"),
    Column("ties", int, "strict comparisons in it between equal numbers"),
)


def region_surprisals(
    surprisals: Sequence[float], regions: Sequence[int], count: int, metric: Metric
) -> tuple[float, ...]:
    """(count,) for each region the sum or mean of the surprisals of its words; `regions` has each word's, from 1."""
    by_region: list[list[float]] = [[] for _ in range(count)]
    for surprisal, region in zip(surprisals, regions, strict=True):
        by_region[region - 1].append(surprisal)
    return tuple(sum(some) / (len(some) if metric == "mean" and some else 1) for some in by_region)


def sentence_row(sentence: SuiteSentence) -> Row:
    """A sentence's row of SENTENCE_COLUMNS."""
    return (*place_of(sentence), sentence.text)


def word_rows(sentence: SuiteSentence, words: RegionWords, surprisals: Sequence[float]) -> list[Row]:
    """A sentence's rows of WORD_COLUMNS."""
    together = zip(words.regions, words.words, surprisals, strict=True)
    return [
        (*place_of(sentence), region, number, word, surprisal)
        for number, (region, word, surprisal) in enumerate(together, start=1)
    ]


def region_rows(sentence: SuiteSentence, suite: Suite, surprisals: Sequence[float]) -> list[Row]:
    """A sentence's rows of REGION_COLUMNS."""
    together = zip(suite.regions, sentence.regions, surprisals, strict=True)
    return [
        (*place_of(sentence), number, name, content.strip(), surprisal)
        for number, (name, content, surprisal) in enumerate(together, start=1)
    ]


def verdict_rows(results: Iterable[ItemResult]) -> list[Row]:
    """Rows of VERDICT_COLUMNS: one for each item and prediction."""
    return [
        (result.suite, result.circuit, result.item, number, int(verdict.holds), verdict.ties)
        for result in results
        for number, verdict in enumerate(result.verdicts, start=1)
    ]


def place_of(sentence: SuiteSentence) -> Row:
    """The values of the columns in SENTENCE."""
    return (sentence.sentence_id, sentence.key.suite, sentence.key.item, sentence.key.condition)
