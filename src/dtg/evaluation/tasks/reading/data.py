"""Reading times from a table: the words of texts in their order, with the mean time of each.

A row is a word, or a word that one participant read. Columns are found by the names that are common for them, or named by the
user. Times of several participants become means; nothing is left out in silence.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dtg.errors import ColumnError, InputError
from dtg.evaluation.tasks.reading.collected import Collected, SingleReading, TimedWord, sentence_name
from dtg.evaluation.tasks.reading.columns import (
    SHORT,
    TEXTS,
    Role,
    candidates,
    check_column,
    find_columns,
    known_columns,
    shown,
)
from dtg.evaluation.tasks.reading.places import (
    DIFFERING,
    TextColumns,
    WordRow,
    find_text_columns,
    helpful_columns,
    is_read_on,
    key_of,
    places_of,
    spelled,
)
from dtg.evaluation.tasks.reading.sentences import WORD, Stimuli, is_of_sentences, with_words
from dtg.io.messages import pluralize
from dtg.tables.delimited import WINDOWS, encoding_of
from dtg.tables.formats import number_in, read_rows

SHORTEST, LONGEST = 100.0, 3000.0  # ms: times of single readings outside are left out
CORRECT = ("correct", "accuracy", "acc", "is_correct", "response_correct")
THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+")
TableRows = list[tuple[str, Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class ReadingTimes:
    """Words of texts in their order, with times."""

    words: tuple[TimedWord, ...]
    readings: tuple[SingleReading, ...]  # of single participants; empty if the table has means
    columns: Mapping[Role, tuple[str, ...]]  # which columns were read as what
    notes: tuple[str, ...]
    is_read_on: bool = True  # a text's sentences are read one after another; not if they are versions of an item


def read_times(
    path: Path,
    named: Mapping[Role, str | None],
    limits: tuple[float, float] | None = None,
    sentences: Path | None = None,
    only: Mapping[str, Collection[str]] | None = None,
) -> ReadingTimes:
    """The words and times of a table.

    Args:
        path: a .csv, .tsv, .jsonl or .parquet file; .gz of the first three; a .txt with tabs, semicolons or spaces.
        named: the columns that the user named; a sentence may be told by several, with commas between them.
        limits: the shortest and longest time of a single reading that counts, in ms.
        sentences: a table of the sentences, if the times do not say which word they are of.
        only: rows that have one of these values in these columns; others are left out.
    """
    rows, wrong, notes = read_table(path, only or {})
    rows, named, remarks = with_stimuli(rows, path, named, sentences)
    columns = find_columns(path, [row for _, row in rows], named)
    time_column = columns["time"][0]
    cells, commas = without_commas(rows, time_column)
    cells = [(where, {**row, time_column: None} if where in wrong else row) for where, row in cells]
    word_rows, dropped = rows_of_words(path, cells, columns, named)
    texts = find_text_columns(word_rows, columns, named)
    if texts.position:
        numbered = [row for row in word_rows if texts.number(row) is not None]
        if len(numbered) < len(word_rows):
            dropped.append(
                f"{pluralize(len(word_rows) - len(numbered), 'row')} without a number in {texts.position[0]} left out."
            )
        word_rows = numbered
    columns = {**columns, "story": texts.story, "position": texts.position}
    columns["sentence"] = (*texts.sentence, *(() if set(texts.version) <= set(texts.sentence) else texts.version))
    places = places_of(word_rows, texts)
    collected = Collected.of(word_rows, places, time_column, limits or (SHORTEST, LONGEST))
    check_words(collected, word_rows, texts, columns)
    if not any(one.time is not None for one in collected.words):
        raise InputError(no_times(path, time_column, collected))
    check_scale(path, collected.words, time_column)
    notes += [described(columns, [row.cells for row in word_rows]), *remarks, *commas, *dropped, *collected.notes()]
    if not texts.sentence:
        notes.append("the table has no column of sentences: sentences end at words that end in . ? or !")
    is_told = any(name in (only or {}) for name in known_columns(list(rows[0][1]), CORRECT))
    if not is_told and (name := next(iter(known_columns(list(rows[0][1]), CORRECT)), None)):
        notes.append(f"rows count whatever their {name} is; of a maze task, only those that are right should.")
    read_on = is_read_on(word_rows, places, texts)
    return ReadingTimes(collected.words, collected.readings, columns, tuple(notes), read_on)


def read_table(path: Path, only: Mapping[str, Collection[str]]) -> tuple[TableRows, set[str], list[str]]:
    """The rows that are wanted, those of them whose time does not count, and what the user should know."""
    rows: TableRows = list(read_rows(path, guess_encoding=True))
    if not rows:
        raise InputError(f"{path} has no rows; a row for each word is expected.")
    notes, wrong = list[str](), set[str]()
    if path.suffix.lower() not in (".parquet", ".jsonl") and encoding_of(path, guess=True) == WINDOWS:
        notes.append(
            f"{path.name} is not UTF-8; it was read as Windows-1252. Check that accents and quotation marks are right."
        )
    for name, values in only.items():
        check_column(path, name, list(rows[0][1]))
        wanted = {spelled(value).lower() for value in values}
        kept = [(where, row) for where, row in rows if spelled(row[name]).lower() in wanted]
        if not kept:
            there = list(dict.fromkeys(spelled(row[name]) for _, row in rows))
            more = ", ..." if len(there) > 8 else ""
            raise InputError(
                f"{path}: no row has {name} {' or '.join(values)}. What it has there: {', '.join(there[:8])}{more}."
            )
        said = f"{len(kept):,} of {len(rows):,} rows have {name} {' or '.join(values)}"
        if known_columns([name], CORRECT):  # the word was shown, whatever the answer
            wrong |= {where for where, _ in rows} - {where for where, _ in kept}
            notes.append(f"{said}; the times of the others do not count.")
        else:
            rows = kept
            notes.append(f"{said}; the others are left out.")
    return rows, wrong, notes


def with_stimuli(
    rows: TableRows, path: Path, named: Mapping[Role, str | None], sentences: Path | None
) -> tuple[TableRows, Mapping[Role, str | None], list[str]]:
    """The rows with words: from a table of sentences, or from whole sentences in the table itself if it has no words."""
    cells = [row for _, row in rows]
    roles = find_columns(path, cells, named, needed=() if sentences is None else ("time",))
    numbers = roles["position"][0] if roles["position"] else None
    if sentences is not None:
        if numbers is None:
            raise ColumnError(
                f"{path} has no column with the number of the word in its sentence, which the sentences in {sentences} need. "
                f"It has: {shown(list(cells[0]))}.",
                {"position": "COLUMN"},
            )
        others = frozenset(name for role in ("time", "participant", "word") for name in roles[role])
        stimuli = Stimuli.of(sentences, list(cells[0]), others | {numbers})
    else:
        texts = known_columns(list(cells[0]), TEXTS)
        text = next((name for name in texts if is_of_sentences(cells, name)), None)
        if roles["word"] or text is None or numbers is None:
            return rows, named, []
        stimuli = Stimuli.among(path, rows, text)
    rows, remarks = with_words(rows, path, stimuli, numbers)
    named = {**named, "word": WORD, "position": numbers, "sentence": named.get("sentence") or ",".join(stimuli.keys)}
    story = named.get("story") or ",".join(roles["story"] or stimuli.keys[:1])
    return rows, {**named, "story": story} if sentences is not None else named, list(remarks)


def without_commas(rows: TableRows, column: str) -> tuple[TableRows, list[str]]:
    """Times with decimal commas, or with commas between thousands, as Python reads numbers."""
    written = [str(row[column]).strip() for _, row in rows if isinstance(row[column], str) and "," in row[column]]
    if not written or not all(re.fullmatch(r"[\d,]+", one) for one in written):
        return rows, []
    thousands = all(THOUSANDS.fullmatch(one) for one in written) and (
        statistics.median(int(one.replace(",", "")) for one in written) < 10 * LONGEST
    )
    by = "" if thousands else "."
    changed = [
        (where, {**row, column: row[column].replace(",", by)} if isinstance(row[column], str) else row)
        for where, row in rows
    ]
    return changed, [f"commas in {column} are {'between thousands' if thousands else 'decimal commas'}."]


def rows_of_words(
    path: Path, rows: TableRows, columns: Mapping[Role, tuple[str, ...]], named: Mapping[Role, str | None]
) -> tuple[list[WordRow], list[str]]:
    """The rows that have a word; those without one must have no time either."""
    found, empty, last = [], 0, ("", "")
    word_column, time_column = columns["word"][0], columns["time"][0]
    several = repeated = 0
    for where, row in rows:
        text = " ".join(str(row[word_column] if row[word_column] is not None else "").split())
        who = key_of(row, columns["participant"])
        if text in ("", "NA", "nan", "<NA>"):
            if not text and number_in(dict(row), time_column, float, f"{path}, {where}"):
                raise InputError(
                    f"{path}, {where}: the column {word_column} is empty; a word is expected where there is a time."
                )
            if not number_in(dict(row), time_column, float, f"{path}, {where}"):
                empty += 1
                continue
        if " " in text:
            several += 1
            repeated += (who, text) == last
        last = (who, text)
        found.append(WordRow(f"{path}, {where}", row, text, who))
    if repeated > several / 2:
        raise InputError(
            f"{path}: the column {word_column} has whole sentences, the same in row after row; a column that has the word of "
            "each row is expected, or one with the number of the word beside the sentence."
        )
    notes = [f"{pluralize(empty, 'row')} without a word and without a time left out."] if empty else []
    if several:
        notes.append(
            f"{pluralize(several, 'row')} with several words (regions): surprisals and lengths add up, frequencies are means."
        )
    return found, notes


def check_words(
    found: Collected, rows: Sequence[WordRow], texts: TextColumns, columns: Mapping[Role, tuple[str, ...]]
) -> None:
    """Raise if the same place has several words, or a table without readers has a place or most sentences twice."""
    if not found.twice and not found.differing:
        if not columns["participant"] and (sentence := found.repeated_sentence()):
            raise ColumnError(
                f"most sentences are there several times, such as {sentence!r}. If several people read them, name the "
                f"column that says who. Columns: {shown(list(rows[0].cells))}.",
                {"participant": "COLUMN"},
            )
        return
    taken = [name for role in ("word", "time", "participant") for name in columns[role]]
    names = helpful_columns(rows, texts, taken)
    if found.differing and not names and len(found.differing) <= DIFFERING * len(rows):
        return  # spelling that was corrected
    help_ = f" {' or '.join(names[:3])} would tell them apart." if names else ""
    apart = (*(texts.sentence or texts.story), *texts.version, *(names[:1] or ["COLUMN"]))
    row, at = found.twice[0] if found.twice else found.differing[0][:2]
    where, all_columns = (
        f"{row.where}: word {at.position} of {sentence_name(at)}",
        f" Columns: {shown(list(row.cells))}.",
    )
    tell = "name all columns that tell sentences apart, such as item and condition."
    if found.twice:
        raise ColumnError(
            f"{where} is there a second time. If several people read it, name the column that says who; if several versions of "
            f"a sentence have the same number, {tell}{help_}{all_columns}",
            {"participant": "COLUMN"},
        )
    raise ColumnError(
        f"{where} is {row.word!r} here and {found.differing[0][2]!r} before; {tell}{help_}{all_columns}",
        {"sentence": ",".join(apart)},
    )


def no_times(path: Path, column: str, found: Collected) -> str:
    """Why nothing is left to fit."""
    if not found.left_out:
        return f"{path} has no times in its column {column}."
    low, high = found.limits
    return (
        f"{path}: none of the {len(found.left_out):,} times in its column {column} is between {low:g} and {high:g} ms; their "
        f"median is {statistics.median(found.left_out):.4g}. Times in ms are expected, not seconds or logarithms."
    )


def described(columns: Mapping[Role, tuple[str, ...]], rows: Sequence[Mapping[str, Any]]) -> str:
    """Which columns were read as what, and which others have times, too."""
    parts = [f"{role} {' and '.join(names)}" for role, names in columns.items() if names]
    taken = {name for names in columns.values() for name in names}
    others = [name for name in candidates(rows, "time") if name not in taken]
    more = f" (not read: {', '.join(others)})" if others else ""
    return f"columns: {', '.join(parts)}{more}."


def check_scale(path: Path, words: Sequence[TimedWord], column: str) -> None:
    """Raise if times are too short to be in ms."""
    median = statistics.median(one.time for one in words if one.time is not None)
    if median < SHORT:
        raise InputError(
            f"{path}: the median of the times in its column {column} is {median:.4g}. Times in ms are expected, not seconds or "
            "logarithms."
        )
