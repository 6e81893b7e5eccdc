"""What is written of reading times: words with all that is known of them, and single readings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from dtg.errors import InputError
from dtg.evaluation.contract import Item
from dtg.evaluation.tasks.reading.analysis import ALL, BY_SURPRISAL, TimesAnalysis
from dtg.evaluation.tasks.reading.data import ReadingTimes
from dtg.evaluation.tasks.reading.imported import is_of_last
from dtg.evaluation.tasks.reading.predictors import COLUMNS, SURPRISAL
from dtg.scoring.columns import SURPRISAL_COLUMNS, measure_columns, surprisal_rows
from dtg.search.measures.names import MEASURES
from dtg.tables.columns import Column, Value

if TYPE_CHECKING:
    from dtg.scoring.surprisal import SentenceSurprisal

MODEL_COLUMNS = (SURPRISAL, "lexical", *COLUMNS, "kept")
WORD_COLUMNS: tuple[Column, ...] = (
    Column("story", str, "the text; folds are made of it"),
    Column("sentence", str, "the sentence"),
    Column("position", int, "of the word in the sentence, from 1"),
    Column("word", str, "the word"),
    Column("time", float, "its mean reading time, in ms"),
    Column("log_time", float, "the mean of the logarithms of its times in ms"),
    Column("readings", int, "over how many times, where the table has single readings"),
    Column("fold", int, "it is predicted by a fit without this fold"),
    Column("excluded", int, "1 if it is not fitted because some model has no surprisal of it"),
    Column("length", float, "characters, without punctuation at the ends"),
    Column("log_frequency", float, "log2 of its count in the list of frequencies, plus 1"),
    Column("punctuation_before", float, "1 if the word begins with punctuation"),
    Column("punctuation_after", float, "1 if it ends with punctuation"),
    Column("sentence_start", float, "1 for the first word of a sentence"),
    Column("sentence_end", float, "1 for the last"),
    *(column for column in SURPRISAL_COLUMNS if column.name in MODEL_COLUMNS),
    *measure_columns(tuple(MEASURES)),
    Column("held_out_baseline", float, "held-out log-likelihood of the time, by controls alone"),
    Column("held_out_surprisal", float, "the same with surprisal"),
    Column("held_out_all", float, "the same with every column"),
)
HELD_OUT = {"held_out_baseline": "baseline", "held_out_surprisal": BY_SURPRISAL, "held_out_all": ALL}


def columns_of_words(found: SentenceSurprisal, words: Sequence[str]) -> dict[str, list[Value]]:
    """The model's columns of a sentence's words; of regions of several words, as over the words of a whitespace word."""
    names = tuple(found.measures)
    called = [column.name for column in (*SURPRISAL_COLUMNS, *measure_columns(names))]
    table = surprisal_rows(found, 1, base="2", per="whitespace", measures=names)
    sizes = [len(word.split()) for word in words]
    if len(table) != sum(sizes):
        raise InputError(f"{found.sentence.text!r} was split into {len(table)} words, not {sum(sizes)}.")
    ends = list(accumulate(sizes))
    groups = [table[end - size : end] for end, size in zip(ends, sizes, strict=True)]
    wanted = [name for name in called if name in MODEL_COLUMNS or name in names]
    return {name: [joined_value(name, [row[called.index(name)] for row in some]) for some in groups] for name in wanted}


def joined_value(name: str, values: Sequence[Any]) -> Value:
    """Of several words: what is kept multiplies, what is said after a word is that of the last, the rest adds up."""
    if len(values) == 1 or is_of_last(name):
        last: Value = values[-1]
        return last
    if any(value is None for value in values):
        return None
    return math.prod(values) if name == "kept" else math.fsum(values)


def words_table(found: TimesAnalysis) -> tuple[list[Column], list[tuple[Value, ...]]]:
    """A row for each word, with the held-out likelihoods of those that were fitted."""
    items = [dict(one) for one in found.items]
    for column, name in HELD_OUT.items():
        if name in found.likelihoods:
            for one in items:
                one[column] = None
            for place, value in zip(found.fitted.place.tolist(), found.likelihoods[name].tolist(), strict=True):
                items[place][column] = value
    known = {column.name: column for column in WORD_COLUMNS}
    columns = [known.get(name) or measure_columns([name])[0] for name in items[0]]
    return columns, [tuple(one.values()) for one in items]


def readings_table(times: ReadingTimes) -> tuple[list[Column], list[tuple[Value, ...]]]:
    """A row for each time of each participant."""
    known = {column.name: column for column in WORD_COLUMNS}
    of_reading = [known[name] for name in ("story", "sentence", "position", "word")]
    columns = [Column("participant", str, "who"), *of_reading, Column("time", float, "in ms")]
    rows: list[tuple[Value, ...]] = [
        (one.participant, at.story, at.sentence, at.position, at.word, one.time)
        for one in times.readings
        for at in [times.words[one.word]]
    ]
    return columns, rows


def as_numbers(item: Item) -> dict[str, Any]:
    """A row that was read from words.csv: columns that the task does not know by name are numbers, too."""
    known = {column.name for column in WORD_COLUMNS}
    return {name: value if name in known else number_or_none(value) for name, value in item.items()}


def number_or_none(value: Any) -> float | None:
    try:
        found = float(value)
    except (TypeError, ValueError):
        return None
    return None if math.isnan(found) else found
