"""Sentences named on the command line: what the argument is, and what in it has no sentence."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from dtg.tables.items import Lines, OneText
from dtg.trees.report import number

LIKE_A_FILE = (".txt", ".gz", ".tsv", ".csv", ".tok", ".conllu")


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
        return Lines(lambda: sys.stdin.buffer, "the standard input")
    return Lines.of_file(Path(source))


def tell_empty(lines: Lines | OneText) -> None:
    """Say how many lines have no rows."""
    if lines.empty:
        typer.echo(
            f"dtg: {number(lines.empty, 'empty line')} in {lines.name}; they have numbers, but no rows.", err=True
        )
