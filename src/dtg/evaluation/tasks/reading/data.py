"""Reading times from a table: the words of texts in their order, with the mean time of each.

A row is a word, or a word that one participant read. Columns are found by the names that are common for them, or named by the
user. Times of several participants become means; nothing is left out in silence.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dtg.errors import InputError
from dtg.evaluation.tasks.reading.columns import Role, find_columns
from dtg.evaluation.tasks.reading.sentences import WORD, with_words
from dtg.io.messages import pluralize
from dtg.tables.formats import number_in, read_rows

SENTENCE_END = re.compile(r"[.?!…][\"'”’)\]]*$")
SHORTEST, LONGEST = 100.0, 3000.0  # ms: times of single readings outside are left out


@dataclass(frozen=True, slots=True)
class SingleReading:
    """One participant's time at a word."""

    participant: str
    word: int  # its place among the words
    time: float


@dataclass(frozen=True, slots=True)
class TimedWord:
    """A word of a text."""

    story: str
    sentence: str
    position: int  # in the sentence, from 1
    word: str
    time: float | None  # the mean in ms
    log_time: float | None  # the mean of logarithms
    readings: int  # over how many


@dataclass(frozen=True, slots=True)
class ReadingTimes:
    """Words of texts in their order, with times."""

    words: tuple[TimedWord, ...]
    readings: tuple[SingleReading, ...]  # of single participants; empty if the table has means
    columns: Mapping[Role, tuple[str, ...]]  # which columns were read as what
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WordRow:
    """A row of the table, with what it says of its word."""

    where: str
    cells: Mapping[str, Any]
    word: str
    story: str
    number: int | None  # in its sentence, or in its text


def read_times(
    path: Path,
    named: Mapping[Role, str | None],
    limits: tuple[float, float] | None = None,
    sentences: Path | None = None,
) -> ReadingTimes:
    """The words and times of a table.

    Args:
        path: a .csv, .tsv, .jsonl or .parquet file; .gz of the first three.
        named: the columns that the user named; a sentence may be told by several, with commas between them.
        limits: the shortest and longest time of a single reading that counts, in ms.
        sentences: a table of the sentences, if the times do not say which word they are of.
    """
    rows: list[tuple[str, Mapping[str, Any]]] = list(read_rows(path))
    if not rows:
        raise InputError(f"{path} has no rows; a row for each word is expected.")
    notes: list[str] = []
    if sentences is not None:
        roles = find_columns(path, list(rows[0][1]), named, needed=("time",))
        others = frozenset(name for role in ("time", "participant", "word") for name in roles[role])
        numbers = roles["position"][0] if roles["position"] else None
        rows, keys, remarks = with_words(rows, path, sentences, numbers, others)
        named = {**named, "word": WORD, "sentence": named.get("sentence") or ",".join(keys)}
        named = {**named, "story": named.get("story") or ",".join(roles["story"] or keys[:1])}
        notes += remarks
    columns = find_columns(path, list(rows[0][1]), named)
    places: dict[tuple[str, str, int], int] = {}
    words: list[TimedWord] = []
    times: list[list[float]] = []
    readings: list[SingleReading] = []
    left_out = without = skipped = 0
    word_rows = [word_row(row, columns, f"{path}, {where}") for where, row in rows]
    positions = None if columns["sentence"] else positions_in_texts(word_rows)
    counter = Positions(has_sentences=bool(columns["sentence"]), known=positions)
    low, high = limits or (SHORTEST, LONGEST)
    for row in word_rows:
        text, story = row.word, row.story
        participant = key_of(row.cells, columns["participant"])
        sentence, position = counter.next(participant, story, key_of(row.cells, columns["sentence"]), row.number, text)
        key = (story, sentence, position)
        place = places.setdefault(key, len(words))
        if place == len(words):
            words.append(TimedWord(story, sentence, position, text, None, None, 0))
            times.append([])
        elif not participant:
            raise InputError(
                f"{row.where}: word {position} of sentence {sentence or '1'}{in_story(story)} is there a second time. If "
                "several people read it, name the column that says who; if several versions of a sentence have the same "
                "number, name all columns that tell them apart."
            )
        elif words[place].word != text:
            raise InputError(
                f"{row.where}: word {position} of sentence {sentence or '1'}{in_story(story)} is {text!r} here and "
                f"{words[place].word!r} before. Name all columns that tell sentences apart, such as item and condition."
            )
        time = number_in(dict(row.cells), columns["time"][0], float, row.where)
        if time == 0:  # in eye tracking, a word that was skipped
            time, skipped = None, skipped + 1
        if time is not None and time < 0:
            raise InputError(f"{row.where}: the time is {time:g}; times are in ms, above 0, or empty.")
        if time is None:
            without += 1
        elif participant and not low <= time <= high:
            left_out += 1
        else:
            times[place].append(time)
            if participant:
                readings.append(SingleReading(participant, place, time))
    order = in_order(words, is_numbered=positions is not None)
    again = {old: new for new, old in enumerate(order)}
    found = tuple(with_means(words[old], times[old]) for old in order)
    readings = [replace(one, word=again[one.word]) for one in readings]
    if columns["participant"]:
        people = len({one.participant for one in readings})
        notes.append(f"means over {pluralize(people, 'participant')}, of {len(readings):,} readings.")
    if left_out:
        notes.append(f"{pluralize(left_out, 'reading')} shorter than {low:g} or longer than {high:g} ms left out.")
    if skipped:
        notes.append(f"{pluralize(skipped, 'time')} of 0 ms counted as missing: words that were skipped.")
    if without - skipped:
        notes.append(f"{pluralize(without - skipped, 'row')} without a time.")
    if not columns["sentence"]:
        notes.append("the table has no column of sentences: sentences end at words that end in . ? or !")
    if not any(one.time is not None for one in found):
        raise InputError(f"{path} has no times in its column {columns['time'][0]}.")
    return ReadingTimes(found, tuple(readings), columns, tuple(notes))


def word_row(cells: Mapping[str, Any], columns: Mapping[Role, tuple[str, ...]], where: str) -> WordRow:
    word, number = word_of(cells, columns, where), position_of(cells, columns, where)
    return WordRow(where, cells, word, key_of(cells, columns["story"]), number)


def word_of(row: Mapping[str, Any], columns: Mapping[Role, tuple[str, ...]], where: str) -> str:
    """The word of a row."""
    text = str(row[columns["word"][0]] if row[columns["word"][0]] is not None else "").strip()
    if not text:
        raise InputError(f"{where}: the column {columns['word'][0]} is empty; a word is expected in every row.")
    if len(text.split()) > 1:
        raise InputError(
            f"{where}: {text!r} is more than one word; a row for each word between spaces is expected. If the column has whole "
            "sentences, name the column that has words."
        )
    return text


def key_of(row: Mapping[str, Any], names: Iterable[str]) -> str:
    return " ".join(str(row[name]) for name in names)


def position_of(row: Mapping[str, Any], columns: Mapping[Role, tuple[str, ...]], where: str) -> int | None:
    if not columns["position"]:
        return None
    found = number_in(dict(row), columns["position"][0], float, where)
    return None if found is None else int(found)


def in_story(story: str) -> str:
    return f" of story {story}" if story else ""


def positions_in_texts(rows: Sequence[WordRow]) -> dict[tuple[str, int], tuple[str, int]] | None:
    """The sentence and the place in it of each word of a text, by its number there; None if numbers do not tell words apart.

    So readers may have left out words, or be in any order.
    """
    texts: dict[str, dict[int, str]] = {}
    for row in rows:
        if row.number is None or texts.setdefault(row.story, {}).setdefault(row.number, row.word) != row.word:
            return None
    found: dict[tuple[str, int], tuple[str, int]] = {}
    for story, words in texts.items():
        sentence, place = 1, 0
        for number in sorted(words):
            place += 1
            found[story, number] = (str(sentence), place)
            if SENTENCE_END.search(words[number]):
                sentence, place = sentence + 1, 0
    return found


class Positions:
    """Numbers words within sentences as rows come: by the table's own numbers, or by counting."""

    def __init__(self, *, has_sentences: bool, known: Mapping[tuple[str, int], tuple[str, int]] | None = None) -> None:
        self.has_sentences, self.known = has_sentences, known
        self.sentence: dict[tuple[str, str], int] = {}  # where no column says it: the number of the sentence
        self.counts: dict[tuple[str, str, str], int] = {}

    def next(self, participant: str, story: str, sentence: str, position: int | None, word: str) -> tuple[str, int]:
        """The sentence and the place of the next word."""
        if self.known is not None and position is not None:
            return self.known[story, position]
        reader = (participant, story)
        if not self.has_sentences:
            sentence = str(self.sentence.setdefault(reader, 1))
            if SENTENCE_END.search(word):
                self.sentence[reader] += 1
        if position is None:
            key = (*reader, sentence)
            self.counts[key] = position = self.counts.get(key, 0) + 1
        return sentence, position


def in_order(words: Sequence[TimedWord], *, is_numbered: bool) -> list[int]:
    """Places by story and sentence as they first come (by the sentence's number, if that is known), and by position in it."""
    first: dict[tuple[str, str], int] = {}
    stories: dict[str, int] = {}
    for place, word in enumerate(words):
        first.setdefault((word.story, word.sentence), place)
        stories.setdefault(word.story, place)
    sentences = [int(one.sentence) if is_numbered else first[one.story, one.sentence] for one in words]
    keys = [(stories[one.story], sentence, one.position) for one, sentence in zip(words, sentences, strict=True)]
    return sorted(range(len(words)), key=keys.__getitem__)


def with_means(word: TimedWord, times: Sequence[float]) -> TimedWord:
    if not times:
        return word
    logs = math.fsum(map(math.log, times)) / len(times)
    return replace(word, time=math.fsum(times) / len(times), log_time=logs, readings=len(times))
