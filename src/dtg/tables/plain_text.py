"""Files of plain text as sentences that are to be parsed, with their documents and a record of what is left out.

A line is a sentence, or in running text a paragraph, which is split into sentences. An empty line ends a document, and so does
the end of a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from dtg.errors import InputError
from dtg.tables.items import Item, Lines, sentence_of
from dtg.tables.unparsed import UnparsedSentence, from_sentence
from dtg.text.words import ENGLISH, split_sentences
from dtg.trees import SkippedSentence

LONGEST = 150  # words: parsing takes time and memory that grow with the cube and the square of the length


@dataclass(frozen=True, slots=True)
class TextReading:
    """How plain text is read."""

    tokenized: bool = False  # words are separated by spaces
    paragraphs: bool = False  # a line has several sentences
    longest: int = LONGEST  # words; longer sentences are left out
    language: str = ENGLISH  # whose rules split it

    def __post_init__(self) -> None:
        if self.tokenized and self.paragraphs:
            raise InputError(
                "paragraphs are split into sentences in plain text only, not in tokenized text. "
                "Give tokenized text with a sentence on each line."
            )


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part of a text: every n-th document or sentence (held out), or all others."""

    by: Literal["document", "sentence"]
    every: int
    held_out: bool

    def contains(self, document: int, sentence: int) -> bool:
        number = document if self.by == "document" else sentence
        return (number % self.every == 0) == self.held_out


@dataclass(frozen=True, slots=True)
class TextLocation:
    """Where a sentence stands; numbers are from 1."""

    path: Path
    sentence: int  # in the file
    line: int
    in_line: int


class TextFiles:
    """The sentences of text files, one file after another; `skipped` lists those that the last iteration has left out."""

    def __init__(self, paths: Sequence[Path], reading: TextReading, part: TextPart | None = None) -> None:
        self.paths, self.reading, self.part = paths, reading, part
        self.size = sum(path.stat().st_size for path in paths)
        self.skipped: list[SkippedSentence] = []

    def __iter__(self) -> Iterator[Item[UnparsedSentence]]:
        self.skipped = []
        document = number = given = bytes_before = 0
        for path in self.paths:
            before, is_new = number, False  # is_new: no sentence of this document has been given yet
            for line, begins in documents(path):
                document, is_new = document + begins, is_new or begins
                for in_line, text in enumerate(self._sentences(line.content), start=1):
                    number += 1
                    if self.part is not None and not self.part.contains(document, number):
                        continue
                    location = TextLocation(path, number - before, line.sentence_id, in_line)
                    unparsed = self._unparsed(text, location, is_new)
                    if unparsed is not None:
                        given, is_new = given + 1, False
                        yield Item(given, unparsed, text.encode(), bytes_before + line.position)
            bytes_before += path.stat().st_size

    def _sentences(self, line: str) -> list[str]:
        return split_sentences(line, self.reading.language) if self.reading.paragraphs else [line]

    def _unparsed(self, text: str, location: TextLocation, is_new: bool) -> UnparsedSentence | None:
        """The words of one sentence, with its comments; None, if it is too long."""
        found = UnparsedSentence.of_text(text, lambda: self._split(text, location, is_new))
        if found.has_at_most(self.reading.longest):
            return found
        reason = f"it has {len(found.words):,} words; the limit is {self.reading.longest:,}."
        self.skipped.append(SkippedSentence(str(location.path), location.sentence, location.line, reason))
        return None

    def _split(self, text: str, location: TextLocation, is_new: bool) -> UnparsedSentence:
        """A sentence's words, with its comments."""
        sentence = sentence_of(text, tokenized=self.reading.tokenized, language=self.reading.language)
        name = location.path.name.removesuffix(".gz").removesuffix(".txt")
        identifier = f"{name}-{location.line}" + (f"-{location.in_line}" if self.reading.paragraphs else "")
        comments = (f"# newdoc id = {identifier}",) if is_new else ()
        return from_sentence(sentence, str(location.path), location.line, (*comments, f"# sent_id = {identifier}"))


def documents(path: Path) -> Iterator[tuple[Item[str], bool]]:
    """The lines of a file that are not empty, and whether a document begins with each."""
    before = -1
    for line in Lines.of_file(path):
        yield line, line.sentence_id > before + 1
        before = line.sentence_id


def unit_to_hold_out(paths: Iterable[Path], every: int) -> Literal["document", "sentence"]:
    """What to hold out one of `every`: documents, if there are as many; otherwise sentences."""
    beginnings = (None for path in paths for _, begins in documents(path) if begins)
    return "document" if len(list(islice(beginnings, every))) == every else "sentence"
