"""Sentences named on the command line: what the argument is, and what in it has no sentence."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import typer

from dtg.cli.commands.parse import is_treebank
from dtg.errors import InputError
from dtg.io.messages import pluralize
from dtg.tables.items import Content, Item, Lines, OneText
from dtg.tables.unparsed import UnparsedSentence, read_lines, read_unparsed_conllu
from dtg.trees.conllu import sentence_blocks

LIKE_A_FILE = (".txt", ".gz", ".tsv", ".csv", ".tok", ".conllu")


@dataclass(frozen=True, slots=True)
class Given:
    """Sentences that are to get trees: a text, a file of lines, or the words of a treebank."""

    items: Iterator[Item[UnparsedSentence]]
    name: str
    size: int | None  # of the input, in the unit of the items' positions
    lines: Lines | OneText | None = None  # None for a treebank

    @classmethod
    def of(cls, source: str, *, tokenized: bool) -> Given:
        """What the argument names."""
        if not is_treebank(source):
            lines = text_or_file(source, is_text=False)
            return cls(read_lines(lines, tokenized=tokenized), lines.name, lines.size, lines)
        if tokenized:
            raise InputError(f"--tokenized is about plain text; the words of {source} are split already.")
        path = Path(source)
        return cls(numbered(read_unparsed_conllu(path)), source, count_sentences([path]))

    def tell_empty(self) -> None:
        """Say how many lines have no sentence."""
        if self.lines is not None:
            tell_empty(self.lines)


def numbered(items: Iterable[Item[Content]]) -> Iterator[Item[Content]]:
    """Items whose position is how many have been read, for those of a treebank."""
    return (replace(item, position=place) for place, item in enumerate(items, start=1))


def count_sentences(paths: Iterable[Path]) -> int:
    """How many sentences there are in treebanks, which says how much is left to do; in a file that is not there, none."""
    return sum(1 for path in paths if path.is_file() for _ in sentence_blocks(path))


def text_or_file(source: str, *, is_text: bool) -> Lines | OneText:
    """A file if there is one of that name, the standard input for -, or else a sentence."""
    if is_text or not source.strip():
        return OneText(source)
    try:
        names_a_file = source == "-" or Path(source).exists()
    except OSError:  # a sentence can be longer than a name may be
        names_a_file = False
    if names_a_file:
        return lines_of(source)
    if len(source.split()) == 1 and Path(source).suffix.lower() in LIKE_A_FILE:
        typer.echo(f"dtg: there is no file {source}, so this is taken for a sentence.", err=True)
    return OneText(source)


def lines_of(source: str) -> Lines:
    """A file of sentences, or the standard input for -."""
    if source == "-":
        return Lines(lambda: sys.stdin.buffer, "the standard input", typed=sys.stdin.isatty())
    return Lines.of_file(Path(source))


def tell_empty(lines: Lines | OneText) -> None:
    """Say how many lines have no rows."""
    if lines.empty:
        typer.echo(
            f"dtg: {pluralize(lines.empty, 'empty line')} in {lines.name}; they have numbers, but no rows.", err=True
        )
