"""The tables of a SyntaxGym evaluation: sentences, surprisals of words and regions, and verdicts; and verdicts read back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dtg.evaluation.tasks.syntaxgym.formulas import Verdict
from dtg.evaluation.tasks.syntaxgym.scores import ItemResult
from dtg.evaluation.tasks.syntaxgym.suites import Suite, SuiteSentence
from dtg.tables.columns import Column
from dtg.tables.columns import Row as TableRow

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


def results_of(verdicts: Iterable[Mapping[str, Any]]) -> list[ItemResult]:
    """From the rows of verdicts.csv."""
    found: dict[tuple[str, int], list[Verdict]] = {}
    for row in verdicts:
        found.setdefault((row["suite"], int(row["item"])), []).append(
            Verdict(bool(row["holds"]), int(row["ties"] or 0))
        )
    return [ItemResult(suite, item, tuple(some)) for (suite, item), some in found.items()]


def place_of(sentence: SuiteSentence) -> TableRow:
    """The values of the columns in SENTENCE."""
    return (sentence.sentence_id, sentence.key.suite, sentence.key.item, sentence.key.condition)


def sentence_row(sentence: SuiteSentence) -> TableRow:
    """A sentence's row of SENTENCE_COLUMNS."""
    return (*place_of(sentence), sentence.text)


def word_rows(sentence: SuiteSentence, surprisals: Sequence[float], language: str = "en") -> list[TableRow]:
    """A sentence's rows of WORD_COLUMNS."""
    words = sentence.split(language)
    together = enumerate(zip(words.regions, words.words, surprisals, strict=True), start=1)
    return [(*place_of(sentence), region, number, word, bits) for number, (region, word, bits) in together]


def region_rows(sentence: SuiteSentence, suite: Suite, surprisals: Sequence[float]) -> list[TableRow]:
    """A sentence's rows of REGION_COLUMNS."""
    together = zip(suite.regions, sentence.regions, surprisals, strict=True)
    return [
        (*place_of(sentence), number, name, content.strip(), surprisal)
        for number, (name, content, surprisal) in enumerate(together, start=1)
    ]


def verdict_rows(results: Iterable[ItemResult]) -> list[TableRow]:
    """Rows of VERDICT_COLUMNS: one for each item and prediction."""
    return [
        (result.suite, result.circuit, result.item, number, int(verdict.holds), verdict.ties)
        for result in results
        for number, verdict in enumerate(result.verdicts, start=1)
    ]
