"""Surprisals of the sentences in a column of a pandas frame, with the other columns repeated beside each word."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from dtg.errors import InputError, MissingExtraError
from dtg.scoring.columns import RUN_COLUMNS, Per, carried_columns
from dtg.scoring.surprisal import SentenceSurprisal
from dtg.tables.columns import UNITS, Base, Column
from dtg.text.sentence import GivenSentence

if TYPE_CHECKING:
    import pandas

Surprisals = Callable[[Iterable[GivenSentence]], Iterator[SentenceSurprisal]]


def surprisal_table(
    frame: pandas.DataFrame,
    column: str,
    surprisals: Surprisals,
    *,
    name: str,
    beam: int,
    base: Base = "e",
    per: Per = "word",
    end: bool = False,
) -> pandas.DataFrame:
    """A row for each word of each sentence, as `dtg surprisal FILE --column NAME` writes them.

    Args:
        frame: a row for each sentence.
        column: where the sentences are: texts, which are split into words, or sequences of words.
        surprisals: gives the surprisals of sentences, in order.
        name: of the model.
        beam: of the search.
        base: "e" gives nats, "2" bits; the column `unit` says which.
        per: a row for each word, or for each whitespace-separated word.
        end: a row for `<END>`, too.

    Returns:
        A new frame. `sentence_id` is the row of the sentence, from 1. Columns of `frame` that are called like one of ours are
        renamed to `input_NAME`. Rows without a sentence are left out, with a warning.
    """
    try:
        import pandas
    except ImportError:
        raise MissingExtraError("pandas", "tables", "surprisal_table") from None
    if column not in frame.columns:
        raise InputError(f"the frame has no column {column!r}. It has: {', '.join(map(str, frame.columns))}.")
    given = [(number, value) for number, value in enumerate(frame[column]) if not is_empty(value)]
    if missing := len(frame) - len(given):
        warnings.warn(f"{missing} of {len(frame)} rows have no sentence and are left out.", stacklevel=4)
    if not given:
        raise InputError(f"the column {column!r} has no sentences.")
    found = list(surprisals(sentence for _, sentence in given))
    parts = [
        result.to_frame(base=base, per=per, end=end, sentence_id=number + 1)
        for (number, _), result in zip(given, found, strict=True)
    ]
    table = pandas.concat(parts, ignore_index=True)
    for own, value in zip(RUN_COLUMNS, (name, UNITS[base], beam), strict=True):
        table[own.name] = value
    names = carried_columns([Column(str(one), str, "of the input") for one in frame.columns], tuple(found[0].measures))
    rows = frame.iloc[(table["sentence_id"] - 1).to_numpy()].reset_index(drop=True)
    repeated = rows.set_axis([one.name for one in names], axis="columns")
    joined = pandas.concat([table, repeated], axis="columns")
    joined.attrs["unit"] = UNITS[base]
    return joined


def is_empty(value: Any) -> bool:
    """Whether a cell has no sentence: it is missing, or a text without words."""
    return value is None or (isinstance(value, float) and value != value) or not len(str(value).strip())
