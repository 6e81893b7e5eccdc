"""Whole sentences, in a table of their own or in a column beside the times: what a row of times was read in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dtg.errors import InputError
from dtg.evaluation.tasks.reading.columns import SAMPLE, TEXTS, known_columns, shown, simplified, text_of
from dtg.evaluation.tasks.reading.places import spelled
from dtg.io.messages import pluralize
from dtg.tables.formats import number_in, read_rows

WORD = "word"
FEW_WORDS = 3  # a sentence has at least as many, mostly
Row = Mapping[str, Any]
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stimuli:
    """The words between spaces of sentences, by what tells them apart."""

    name: str
    keys: tuple[str, ...]  # columns of the table of times
    words: Mapping[Key, Sequence[str]]

    @classmethod
    def of(cls, path: Path, there: Sequence[str], others: frozenset[str]) -> Stimuli:
        """From a table of sentences.

        Args:
            path: the table.
            there: the columns of the table of times.
            others: those of them that say something else than which sentence it is, such as the time.
        """
        table = list(read_rows(path, guess_encoding=True))
        if not table:
            raise InputError(f"{path} has no rows; a row for each sentence is expected.")
        text = column_of_texts(path, [row for _, row in table])
        known = {simplified(name): name for name in reversed(list(table[0][1])) if name and name != text}
        keys = {name: known[simplified(name)] for name in there if simplified(name) in known and name not in others}
        if not keys:
            raise InputError(
                f"the times and {path} have no column in common that says which sentence it is, such as item. "
                f"The times have: {shown(there)}; {path.name} has: {shown(list(table[0][1]))}."
            )
        words: dict[Key, Sequence[str]] = {}
        for where, row in table:
            key = key_of(row, tuple(keys.values()))
            split = str(row[text] or "").split()
            if words.setdefault(key, split) != split:
                raise InputError(
                    f"{path}, {where}: there are two sentences with {described(tuple(keys), key)}. The columns that both "
                    "tables have must tell sentences apart."
                )
        return cls(path.name, tuple(keys), words)

    @classmethod
    def among(cls, path: Path, rows: Sequence[tuple[str, Row]], text: str) -> Stimuli:
        """From a column of the table of times that has the whole sentence in every row."""
        words = {key_of(row, (text,)): text_of(row[text]).split() for _, row in rows}
        return cls(f"the column {text}", (text,), words)


def column_of_texts(path: Path, rows: Sequence[Row]) -> str:
    """The column that has whole sentences: by its name, or else the only one whose values are several words."""
    if named := known_columns(list(rows[0]), TEXTS):
        return named[0]
    found = [name for name in rows[0] if name and is_of_sentences(rows, name)]
    if len(found) == 1:
        return found[0]
    several = f" Several may be meant: {shown(found)}." if found else ""
    raise InputError(
        f"{path} has no column called {', '.join(TEXTS[:4])}. It has: {shown(list(rows[0]))}.{several} "
        "Call the one with the sentences `sentence`."
    )


def is_of_sentences(rows: Sequence[Row], name: str) -> bool:
    """Whether most values of a column are several words."""
    some = rows[:: max(1, len(rows) // SAMPLE)]
    return sum(len(text_of(row.get(name)).split()) >= FEW_WORDS for row in some) > len(some) / 2


def with_words(
    rows: Sequence[tuple[str, Row]], path: Path, stimuli: Stimuli, position: str
) -> tuple[list[tuple[str, Row]], tuple[str, ...]]:
    """Rows of times with the word that each is about, and rows without a time for words that nobody was timed at.

    Args:
        rows: of the times, each with its place in the file.
        path: their file.
        stimuli: the sentences; their words are what is between spaces.
        position: the column of `rows` with the number of the word in its sentence.

    Returns:
        The rows, and what the user should know.
    """
    keys, words = stimuli.keys, stimuli.words
    numbers = [number_in(dict(row), position, float, f"{path}, {where}") for where, row in rows]
    first = 0 if any(number == 0 for number in numbers) else 1
    found, read = list[tuple[str, Row]](), set[tuple[Key, int]]()
    for (where, timed), number in zip(rows, numbers, strict=True):
        key = key_of(timed, keys)
        if key not in words:
            raise InputError(f"{path}, {where}: {stimuli.name} has no sentence with {described(keys, key)}.")
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
    notes = [f"words are those of {pluralize(len(asked), 'sentence')} in {stimuli.name}, by {' and '.join(keys)}."]
    if first == 0:
        notes.append(f"{position} counts words from 0.")
    return found, tuple(notes)


def key_of(row: Row, names: Sequence[str]) -> Key:
    return tuple(spelled(row[name]) for name in names)


def described(names: Sequence[str], key: Sequence[str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in zip(names, key, strict=True))
