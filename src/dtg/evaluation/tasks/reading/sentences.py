"""Sentences in a table of their own: what a row of times was read in, where the times do not say the word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dtg.errors import ColumnError, InputError
from dtg.evaluation.tasks.reading.columns import column_of_texts
from dtg.io.messages import pluralize
from dtg.tables.formats import number_in, read_rows

WORD = "word"
Row = Mapping[str, Any]


def with_words(
    rows: Sequence[tuple[str, Row]], path: Path, sentences: Path, position: str | None, others: frozenset[str]
) -> tuple[list[tuple[str, Row]], tuple[str, ...], tuple[str, ...]]:
    """Rows of times with the word that each is about, and rows without a time for words that nobody was timed at.

    Args:
        rows: of the times, each with its place in the file.
        path: their file.
        sentences: the table of sentences; a sentence's words are what is between spaces.
        position: the column of `rows` with the number of the word in its sentence.
        others: columns of `rows` that say something else than which sentence it is, such as the time.

    Returns:
        The rows, the columns that tell sentences apart, and what the user should know.
    """
    if position is None:
        raise ColumnError(
            f"{path} has no column with the number of the word in its sentence, which its sentences in {sentences} need. "
            f"It has: {', '.join(rows[0][1])}.",
            "position",
        )
    table = list(read_rows(sentences))
    if not table:
        raise InputError(f"{sentences} has no rows; a row for each sentence is expected.")
    text = column_of_texts(sentences, list(table[0][1]))
    keys = tuple(
        name for name in rows[0][1] if name in table[0][1] and name not in others and name not in (text, position)
    )
    if not keys:
        raise InputError(
            f"{path} and {sentences} have no column in common that says which sentence it is, such as item. "
            f"The one has: {', '.join(rows[0][1])}; the other: {', '.join(table[0][1])}."
        )
    words: dict[tuple[str, ...], list[str]] = {}
    for where, row in table:
        key = key_of(row, keys)
        if key in words:
            raise InputError(
                f"{sentences}, {where}: there are two sentences with {described(keys, key)}. The columns that both tables have "
                "must tell sentences apart."
            )
        words[key] = str(row[text] or "").split()
    numbers = [number_in(dict(row), position, int, f"{path}, {where}") for where, row in rows]
    first = 0 if any(number == 0 for number in numbers) else 1
    found, read = list[tuple[str, Row]](), set[tuple[tuple[str, ...], int]]()
    for (where, timed), number in zip(rows, numbers, strict=True):
        key = key_of(timed, keys)
        if key not in words:
            raise InputError(f"{path}, {where}: {sentences} has no sentence with {described(keys, key)}.")
        if number is None or not first <= number < first + len(words[key]):
            raise InputError(
                f"{path}, {where}: {position} is {timed[position]!r}; {' '.join(words[key])!r} has words {first} to "
                f"{first + len(words[key]) - 1}."
            )
        place = int(number) - first
        read.add((key, place))
        found.append((where, {**timed, WORD: words[key][place], position: place + 1}))
    asked = {key for key, _ in read}
    empty = dict.fromkeys(rows[0][1])
    for key in (one for one in words if one in asked):
        found += [
            (
                f"sentence with {described(keys, key)}",
                {**empty, **dict(zip(keys, key, strict=True)), WORD: word, position: place + 1},
            )
            for place, word in enumerate(words[key])
            if (key, place) not in read
        ]
    notes = [f"words are those of {pluralize(len(asked), 'sentence')} in {sentences.name}, by {' and '.join(keys)}."]
    if first == 0:
        notes.append(f"{position} counts words from 0.")
    return found, keys, tuple(notes)


def key_of(row: Row, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in names)


def described(names: Sequence[str], key: Sequence[str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in zip(names, key, strict=True))
