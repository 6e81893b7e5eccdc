"""The sentences that an argument of the command line names: a text, lines, a table, a treebank, the standard input."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import typer

from dtg.cli.output.destination import exists
from dtg.cli.progress import list_skipped
from dtg.errors import FileError, InputError
from dtg.io.messages import pluralize
from dtg.io.processes import launched
from dtg.io.text_files import check_is_file
from dtg.tables.formats import FORMATS
from dtg.tables.items import Content, Item, Lines, OneText, Sentences
from dtg.tables.long_sentences import LengthLimit
from dtg.tables.records import Paragraphs, Records, TreebankSentences, looks_like_a_table
from dtg.tables.unparsed import UnparsedSentence, read_lines, read_unparsed_brackets, read_unparsed_conllu
from dtg.trees.conllu import sentence_blocks
from dtg.trees.phrases.bracket_lines import bracket_blocks
from dtg.trees.reading import BRACKET_FILES, CONLLU_FILES, is_bracket_file, is_conllu_file

LIKE_A_FILE = (".txt", ".gz", ".tok", *CONLLU_FILES, *BRACKET_FILES, *(f".{known}" for known in FORMATS))
MANY_WORDS = 100  # in one sentence


@dataclass(frozen=True, slots=True)
class UnparsedInput:
    """Sentences that are to get trees: a text, a file of lines, or the words of a treebank."""

    source: Lines | OneText | Path
    tokenized: bool
    limit: int | None
    length: LengthLimit

    @classmethod
    def of(cls, source: str, *, tokenized: bool, limit: int | None, length: LengthLimit) -> UnparsedInput:
        """What the argument names, checked before a parser is loaded."""
        if not is_treebank(source):
            return cls(text_or_file(source), tokenized, limit, length)
        if tokenized:
            raise InputError(f"--tokenized is about plain text; the words of {source} are split already.")
        return cls(Path(source), tokenized, limit, length)

    @property
    def settings(self) -> dict[str, Any]:
        """What decides which sentences there are."""
        return {
            "tokenized": self.tokenized,
            "limit": self.limit,
            "max_words": self.length.max_words,
            "long": self.length.long,
        }

    @property
    def name(self) -> str:
        return str(self.source) if isinstance(self.source, Path) else self.source.name

    @property
    def size(self) -> int | None:
        """Of the input, in the unit of the items' positions."""
        return count_sentences([self.source]) if isinstance(self.source, Path) else self.source.size

    def items(self, language: str) -> Iterator[Item[UnparsedSentence]]:
        """The sentences. Raw text is split by the rules of a language."""
        if isinstance(self.source, Path):
            read = read_unparsed_brackets if is_bracket_file(self.source) else read_unparsed_conllu
            items = numbered(read(self.source))
        else:
            items = read_lines(self.source, tokenized=self.tokenized, language=language)
        return self.length.apply(islice(items, self.limit))

    def tell_left_out(self) -> None:
        """Say how many lines have no sentence, and which sentences were too long."""
        if found := self.length.found:
            many, are = pluralize(len(found), "sentence"), "was" if len(found) == 1 else "were"
            what = "cut into parts (--long split)"
            if self.length.long == "skip":
                what = "left out (--long split cuts such sentences into parts; --max-words N sets the limit)"
            typer.echo(f"dtg: {many} {are} {what}:", err=True)
            list_skipped(found, "raise --max-words to keep them")
        if not isinstance(self.source, Path):
            tell_empty(self.source)


def is_treebank(source: str) -> bool:
    """Whether the argument names a file of trees."""
    return (is_conllu_file(source) or is_bracket_file(source)) and len(source.split()) == 1


def numbered(items: Iterable[Item[Content]]) -> Iterator[Item[Content]]:
    """Items whose position is how many have been read, for those of a treebank."""
    return (replace(item, position=number) for number, item in enumerate(items, start=1))


def count_sentences(paths: Iterable[Path]) -> int:
    """How many sentences there are in treebanks, which says how much is left to do; in a file that is not there, none."""
    return sum(
        1
        for path in paths
        if path.is_file()
        for _ in (bracket_blocks(path) if is_bracket_file(path) else sentence_blocks(path))
    )


def stimuli(
    source: str, *, literal: bool, column: str | None, paragraphs: bool, tokenized: bool
) -> Lines | OneText | Records | Paragraphs | TreebankSentences:
    """Sentences with what is repeated beside each of their words: a text, lines, a column of a table, or a treebank."""
    found: Lines | OneText | Records
    if is_treebank(source) and not literal and column is None:
        if paragraphs or tokenized:
            raise InputError(f"--paragraphs and --tokenized are about text; the words of {source} are split already.")
        check_is_file(Path(source))
        return TreebankSentences(Path(source))
    if column is None:
        found = text_or_file(source, literal=literal, has_column_option=True)
    elif literal:
        raise InputError("--column names a column of a table, and --literal says that the argument is a sentence.")
    else:
        found = Records(Path(source), column)
    if paragraphs and tokenized:
        raise InputError("--paragraphs splits plain text into sentences; tokenized text has a sentence on each line.")
    return Paragraphs(found) if paragraphs else found


def text_or_file(source: str, *, literal: bool = False, has_column_option: bool = False) -> Lines | OneText:
    """A file if there is one of that name, the standard input for -, or else a sentence."""
    if literal or not source.strip():
        return OneText(source)
    if source == "-" or exists(Path(source)):
        if source != "-" and looks_like_a_table(Path(source)):
            advice = (
                "Name the column with the sentences: --column NAME.\n"
                if has_column_option
                else "A file with one sentence on each line is expected.\n"
            )
            raise InputError(f"{source} is a table. {advice}(If it is text after all: dtg COMMAND - < {source})")
        return lines_of(source)
    is_named_like_a_file = Path(source.strip()).suffix.lower() in LIKE_A_FILE
    if is_named_like_a_file or (len(source.split()) == 1 and any(sign in source for sign in ("/", os.sep))):
        way_out = " If it is a sentence, pass --literal." if has_column_option else ""
        raise FileError(f"cannot read {source}: there is no such file.{way_out}")
    return OneText(source)


def lines_of(source: str) -> Lines:
    """A file of sentences, or the standard input for -."""
    if source == "-":
        if launched().count > 1:
            raise InputError("several processes cannot read one standard input: name a file instead of -.")
        if sys.stdin is None:
            raise InputError("the standard input is closed; name a file instead of -.")
        return Lines(lambda: sys.stdin.buffer, "the standard input", typed=sys.stdin.isatty())
    return Lines.of_file(Path(source))


def tell_empty(sentences: Sentences) -> None:
    """Say how many lines have no rows, and what paragraphs became."""
    if sentences.empty:
        what = sentences.unit if sentences.empty == 1 else f"{sentences.unit}s"
        typer.echo(
            f"dtg: {sentences.empty:,} empty {what} in {sentences.name}; they have numbers, but no rows.", err=True
        )
    if isinstance(sentences, Paragraphs):
        count = pluralize(sentences.paragraphs, sentences.unit)
        typer.echo(f"dtg: split {count} into {pluralize(sentences.sentences, 'sentence')} (--paragraphs).", err=True)


class LengthWarning:
    """Warns about sentences of very many words, which may be paragraphs; once in full, then they are counted."""

    def __init__(self, unit: str, advice: str) -> None:
        self.unit, self.advice, self.count = unit, advice, 0
        self.first: tuple[int, int] | None = None  # its number and its words

    def check(self, item: Item[object], words: int) -> None:
        """Look at one sentence."""
        if words <= MANY_WORDS:
            return
        self.count += 1
        self._tell(item.sentence_id, words)

    def _tell(self, number: int, words: int) -> None:
        if self.first is None:
            self.first = number, words
            typer.echo(
                f"dtg: warning: {self.unit} {number:,} has {words:,} words, and is taken for one sentence. {self.advice}",
                err=True,
            )

    def counts(self) -> list[Any]:
        return [self.count, self.first]

    def add_counts(self, counts: list[Any]) -> None:
        count, first = counts
        self.count += count
        if first is not None:
            self._tell(*first)

    def end(self) -> None:
        """Say how many there were."""
        if self.count > 1:
            typer.echo(f"dtg: {self.count:,} sentences have more than {MANY_WORDS} words.", err=True)
