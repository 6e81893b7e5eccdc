"""Plain text as sentences to be parsed: files in, numbered items out, with documents and an account of what was left out.

A line is a sentence; of running text, it is a paragraph, which is split into sentences. An empty line ends a document, and
so does the end of a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from dtg.errors import InputError
from dtg.parser.unparsed import Unparsed, of_sentence
from dtg.tables.items import Item, Lines, sentence_of
from dtg.text.words import split_sentences
from dtg.trees import SkippedSentence

LONGEST = 150  # words: parsing takes time and memory that grow with the cube and the square of the length


@dataclass(frozen=True, slots=True)
class TextReading:
    """How plain text is read."""

    tokenized: bool = False  # words are between spaces
    paragraphs: bool = False  # a line holds several sentences
    longest: int = LONGEST  # words of a sentence; longer ones are left out

    def __post_init__(self) -> None:
        if self.tokenized and self.paragraphs:
            raise InputError(
                "--paragraphs splits plain text into sentences, and --tokenized text is not plain. "
                "Give tokenized text with a sentence on each line."
            )


@dataclass(frozen=True, slots=True)
class Part:
    """What of a text is wanted: every so many-th document or sentence, or all but those."""

    by: Literal["document", "sentence"]
    every: int
    held_out: bool

    def has(self, document: int, sentence: int) -> bool:
        number = document if self.by == "document" else sentence
        return (number % self.every == 0) == self.held_out


@dataclass(frozen=True, slots=True)
class Place:
    """Where a sentence stands; numbers are from 1."""

    path: Path
    sentence: int  # in the file
    line: int
    in_line: int


class TextFiles:
    """The sentences of text files, one file after another; `skipped` grows while they are read, and begins anew each time."""

    def __init__(self, paths: Sequence[Path], reading: TextReading, part: Part | None = None) -> None:
        self.paths, self.reading, self.part = paths, reading, part
        self.size = sum(path.stat().st_size for path in paths)
        self.skipped: list[SkippedSentence] = []

    def __iter__(self) -> Iterator[Item[Unparsed]]:
        self.skipped = []
        document = number = given = bytes_before = 0
        for path in self.paths:
            before, is_new = number, False  # is_new: no sentence of this document has been given yet
            for line, begins in documents(path):
                document, is_new = document + begins, is_new or begins
                for in_line, text in enumerate(self._sentences(line.content), start=1):
                    number += 1
                    if self.part is not None and not self.part.has(document, number):
                        continue
                    place = Place(path, number - before, line.sentence_id, in_line)
                    unparsed = self._unparsed(text, place, is_new)
                    if unparsed is not None:
                        given, is_new = given + 1, False
                        yield Item(given, unparsed, text.encode(), bytes_before + line.position)
            bytes_before += path.stat().st_size

    def _sentences(self, line: str) -> list[str]:
        return split_sentences(line) if self.reading.paragraphs else [line]

    def _unparsed(self, text: str, place: Place, is_new: bool) -> Unparsed | None:
        """The words of one sentence, with its comments; nothing, if it is too long."""
        sentence = sentence_of(text, tokenized=self.reading.tokenized)
        if len(sentence) > self.reading.longest:
            reason = f"it has {len(sentence):,} words; --longest is {self.reading.longest:,}."
            self.skipped.append(SkippedSentence(str(place.path), place.sentence, place.line, reason))
            return None
        name = place.path.name.removesuffix(".gz").removesuffix(".txt")
        identifier = f"{name}-{place.line}" + (f"-{place.in_line}" if self.reading.paragraphs else "")
        comments = (f"# newdoc id = {identifier}",) if is_new else ()
        return of_sentence(sentence, str(place.path), place.line, (*comments, f"# sent_id = {identifier}"))


def documents(path: Path) -> Iterator[tuple[Item[str], bool]]:
    """The lines of a file that are not empty, and whether a document begins with each."""
    before = -1
    for line in Lines.of_file(path):
        yield line, line.sentence_id > before + 1
        before = line.sentence_id


def hold_out_by(paths: Iterable[Path], every: int) -> Literal["document", "sentence"]:
    """Documents are held out whole, if there are enough to hold one out."""
    beginnings = (None for path in paths for _, begins in documents(path) if begins)
    return "document" if len(list(islice(beginnings, every))) == every else "sentence"
