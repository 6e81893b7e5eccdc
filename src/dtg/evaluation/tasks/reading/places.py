"""Which word of which sentence of which text a row of times is about.

Tables number words within sentences, within texts, or not at all; the same number may mean different words in several versions
of an item, or in several parts of a book; a number of the trial is another text for every reader. What tells texts apart is
therefore not taken from names alone: the same place must have the same word for everybody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any

from dtg.evaluation.tasks.reading.columns import Role, candidates, known_columns

SENTENCE_END = re.compile(r"[.?!…][\"'”’)\]]*$")
VERSIONS = ("condition", "cond", "version", "difficulty_level")  # of an item: alternatives, which nobody reads in a row
PARTS = ("part", "chapter", "section", "paragraph_id", "paragraph", "page", "language", "lang", "experiment", "exp")
DIFFERING = 0.01  # rows that may have another word than others at the same place: spelling that was corrected
NUMBERED_THROUGH = 2  # the first word of a sentence has a number above this where words are numbered within texts


@dataclass(frozen=True, slots=True)
class WordRow:
    """A row of the table, with what it says of its word."""

    where: str
    cells: Mapping[str, Any]
    word: str
    participant: str


@dataclass(frozen=True, slots=True)
class TextColumns:
    """The columns that tell texts, versions of them and sentences apart, and the one that numbers words."""

    story: tuple[str, ...] = ()
    version: tuple[str, ...] = ()
    sentence: tuple[str, ...] = ()
    position: tuple[str, ...] = ()

    def key(self, row: WordRow) -> tuple[str, str, str]:
        return key_of(row.cells, self.story), key_of(row.cells, self.version), key_of(row.cells, self.sentence)

    def number(self, row: WordRow) -> int | None:
        return number_of(row.cells.get(self.position[0])) if self.position else None

    def differing(self, rows: Iterable[WordRow]) -> int:
        """How many rows have another word than an earlier one at the same place."""
        words: dict[Any, str] = {}
        return sum(words.setdefault((self.key(row), self.number(row)), row.word) != row.word for row in rows)

    def tells_apart(self, rows: Sequence[WordRow]) -> bool:
        """Whether every place has one word."""
        words: dict[Any, str] = {}
        return all(words.setdefault((self.key(row), self.number(row)), row.word) == row.word for row in rows)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a word is."""

    story: str
    sentence: str
    position: int  # in the sentence, from 1
    order: tuple[int, int]  # within the story, among sentences and words


def find_text_columns(
    rows: Sequence[WordRow], columns: Mapping[Role, tuple[str, ...]], named: Mapping[Role, str | None]
) -> TextColumns:
    """Columns that tell texts and sentences apart: those that were named, and the likeliest of the others that do."""
    first = TextColumns(columns["story"], (), columns["sentence"], columns["position"])
    if not first.position or not rows:
        return with_versions(first, rows) if not first.sentence else first
    cells = [row.cells for row in rows]
    taken = {name for role in ("word", "time", "participant") for name in columns[role]}

    def choices(role: Role) -> list[tuple[str, ...]]:
        if named.get(role) is not None:
            return [columns[role]]
        return [(name,) for name in candidates(cells, role) if name not in taken] or [columns[role]]

    for position in choices("position"):
        for sentence in [first.sentence] if named.get("sentence") is not None else dict.fromkeys((first.sentence, ())):
            if position == sentence:
                continue
            for some in told_apart(rows, position, sentence, [one for one in choices("story") if one != sentence]):
                if some.tells_apart(rows):
                    return some
    more = [name for name in (*PARTS, *VERSIONS) if known_columns(list(cells[0]), [name])]
    called = [known_columns(list(cells[0]), [name])[0] for name in more]
    for chosen in chain(combinations(called, 1), combinations(called, 2)):
        if taken & set(chosen) or set(chosen) & {*first.story, *first.sentence}:
            continue
        versions = tuple(name for name in chosen if known_columns([name], VERSIONS))
        parts = tuple(name for name in chosen if name not in versions)
        if parts and named.get("story") is not None:
            continue
        some = TextColumns((*parts, *first.story), versions, first.sentence, first.position)
        if some.tells_apart(rows):
            return some
    return first


def told_apart(
    rows: Sequence[WordRow], position: tuple[str, ...], sentence: tuple[str, ...], stories: Sequence[tuple[str, ...]]
) -> Iterator[TextColumns]:
    """Ways to tell texts apart. Where sentences have numbers of their own, a text is what has whole sentences."""
    alone = TextColumns((), (), sentence, position)
    is_enough = bool(sentence) and alone.tells_apart(rows)
    for story in stories:
        if is_enough and story:
            belongs: dict[str, str] = {}
            pairs = ((key_of(row.cells, sentence), key_of(row.cells, story)) for row in rows)
            if not all(belongs.setdefault(one, text) == text for one, text in pairs):
                continue  # the number of a trial, which is another for every reader
        yield TextColumns(story, (), sentence, position)
    if is_enough:
        yield alone


def with_versions(columns: TextColumns, rows: Sequence[WordRow]) -> TextColumns:
    """Where words have no numbers: a condition that differs within an item tells versions apart."""
    there = known_columns(list(rows[0].cells), VERSIONS) if rows and columns.story else []
    for name in there:
        belongs: dict[str, str] = {}
        pairs = ((key_of(row.cells, columns.story), key_of(row.cells, (name,))) for row in rows)
        if not all(belongs.setdefault(story, version) == version for story, version in pairs):
            return TextColumns(columns.story, (name,), columns.sentence, columns.position)
    return columns


def helpful_columns(rows: Sequence[WordRow], columns: TextColumns, taken: Iterable[str]) -> list[str]:
    """Columns that would tell apart what is not, among those that are not about a reader or a single row."""
    used = {*taken, *columns.story, *columns.version, *columns.sentence, *columns.position}
    places = len({columns.key(row) for row in rows})
    found = []
    for name in rows[0].cells:
        if name in used or not name:
            continue
        some = TextColumns(columns.story, (*columns.version, name), columns.sentence, columns.position)
        readers: dict[str, str] = {}
        pairs = ((row.participant, key_of(row.cells, (name,))) for row in rows)
        is_of_reader = all(readers.setdefault(who, value) == value for who, value in pairs)
        if not is_of_reader and len({some.key(row) for row in rows}) <= 6 * places and some.tells_apart(rows):
            found.append(name)
    return found


def places_of(rows: Sequence[WordRow], columns: TextColumns) -> list[Place]:
    """The place of the word of each row."""
    numbers = [columns.number(row) for row in rows]
    keys = [columns.key(row) for row in rows]
    if columns.position and None not in numbers:
        known = [number for number in numbers if number is not None]
        if not columns.sentence:
            return places_in_texts(rows, keys, known, has_sentences=False)
        if is_numbered_through(keys, known):
            return places_in_texts(rows, keys, known, has_sentences=True)
        lowest = 1 - min(known, default=1) if min(known, default=1) < 1 else 0
        labels = [sentence_label(key) for key in keys]
        order = {one: place for place, one in enumerate(dict.fromkeys(zip((k[0] for k in keys), labels, strict=True)))}
        return [
            Place(key[0], label, number + lowest, (order[key[0], label], number))
            for key, label, number in zip(keys, labels, known, strict=True)
        ]
    return places_by_counting(rows, keys, has_sentences=bool(columns.sentence))


def sentence_label(key: tuple[str, str, str]) -> str:
    """A sentence by its version and its own number or text."""
    return " ".join(part for part in (key[2], key[1]) if part)


def is_numbered_through(keys: Sequence[tuple[str, str, str]], numbers: Sequence[int]) -> bool:
    """Whether words are numbered within texts of several sentences, not within sentences."""
    lowest: dict[tuple[str, str, str], int] = {}
    for key, number in zip(keys, numbers, strict=True):
        lowest[key] = min(number, lowest.get(key, number))
    texts = {key[:2] for key in lowest}
    later = sum(number > NUMBERED_THROUGH for number in lowest.values())
    return len(lowest) > len(texts) and later > (len(lowest) - len(texts)) / 2


def places_in_texts(
    rows: Sequence[WordRow], keys: Sequence[tuple[str, str, str]], numbers: Sequence[int], *, has_sentences: bool
) -> list[Place]:
    """Of words that are numbered within their texts, so that readers may have left out words, or be in any order."""
    texts: dict[tuple[str, str], dict[int, tuple[str, str]]] = {}
    for row, key, number in zip(rows, keys, numbers, strict=True):
        texts.setdefault(key[:2], {}).setdefault(number, (row.word, key[2]))
    found: dict[tuple[tuple[str, str], int], Place] = {}
    for rank, (text, words) in enumerate(texts.items()):
        counts: dict[str, int] = {}
        ended = 1
        for number in sorted(words):
            word, said = words[number]
            sentence = said if has_sentences else str(ended)
            counts[sentence] = counts.get(sentence, 0) + 1
            label = sentence_label((text[0], text[1], sentence))
            found[text, number] = Place(text[0], label, counts[sentence], (rank, number))
            ended += bool(SENTENCE_END.search(word))
    return [found[key[:2], number] for key, number in zip(keys, numbers, strict=True)]


def places_by_counting(
    rows: Sequence[WordRow], keys: Sequence[tuple[str, str, str]], *, has_sentences: bool
) -> list[Place]:
    """Of words in the order of the rows, for each reader."""
    ended: dict[Any, int] = {}
    counts: dict[Any, int] = {}
    order: dict[Any, int] = {}
    found = []
    for row, key in zip(rows, keys, strict=True):
        reader = (row.participant, *key[:2])
        sentence = key[2] if has_sentences else str(ended.setdefault(reader, 1))
        if not has_sentences and SENTENCE_END.search(row.word):
            ended[reader] += 1
        counts[reader, sentence] = position = counts.get((reader, sentence), 0) + 1
        label = sentence_label((key[0], key[1], sentence))
        found.append(Place(key[0], label, position, (order.setdefault((key[0], label), len(order)), position)))
    return found


def is_read_on(rows: Sequence[WordRow], places: Sequence[Place], columns: TextColumns) -> bool:
    """Whether a text's sentences are read one after another, not as versions of an item."""
    if not columns.story or columns.version or set(columns.story) < set(columns.sentence):
        return False
    if not any(row.participant for row in rows):
        return True
    read: dict[tuple[str, str], str] = {}
    pairs = (((row.participant, place.story), place.sentence) for row, place in zip(rows, places, strict=True))
    return not all(read.setdefault(reader, sentence) == sentence for reader, sentence in pairs)


def key_of(row: Mapping[str, Any], names: Iterable[str]) -> str:
    return " ".join(spelled(row[name]) for name in names)


def spelled(value: Any) -> str:
    """A value that tells things apart: 3, 3.0 and " 3" are the same."""
    text = "" if value is None else str(value).strip()
    return text[:-2] if text.endswith(".0") and text[:-2].isdigit() else text


def number_of(value: Any) -> int | None:
    """The number of a word; None if there is none."""
    try:
        return int(float(str(value).strip()))
    except ValueError:
        return None
