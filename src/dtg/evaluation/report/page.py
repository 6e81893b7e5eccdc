"""What a page consists of, whatever it is written in: sections of texts, tables and figures.

A note is text that belongs to a cell or to a name in a figure. Within its block it gets a letter, equal texts the same one.
In texts and notes, `backticks` enclose what is set as code; cells and names are taken literally.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

MISSING = "–"


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a table, what is to be known about it, and the exact number, if it is one."""

    text: str
    notes: tuple[str, ...] = ()
    number: float | int | None = None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """The first cell of a row is what the row is about. `is_folded` if only some readers will want it."""

    name: str  # of the file that has the exact numbers
    title: str
    header: Sequence[Cell]
    rows: Sequence[Sequence[Cell]]
    is_folded: bool = False

    def letters(self) -> dict[str, str]:
        """Those of all notes."""
        return letters(note for row in (self.header, *self.rows) for cell in row for note in cell.notes)


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture, drawn as NAME.svg and NAME.pdf."""

    name: str
    title: str
    description: str  # for those who do not see it
    draw: Callable[[Path], None]
    notes: tuple[str, ...] = ()  # in the order of the letters in the picture


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph or, if there are several items, a list."""

    items: tuple[str, ...]


Block = Table | Figure | Text


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page with a heading."""

    title: str
    blocks: tuple[Block, ...]

    @property
    def identifier(self) -> str:
        """For links to it."""
        return self.title.lower().replace(" ", "-")


@dataclass(frozen=True, slots=True)
class Page:
    """All of it."""

    title: str
    introduction: tuple[Text, ...]
    sections: tuple[Section, ...]


def without_empty_columns(header: Sequence[Cell], rows: Sequence[Sequence[Cell]]) -> list[list[Cell]]:
    """The header and the rows, without columns that have nothing to say."""
    nothing = Cell(MISSING)
    kept = [place for place in range(len(header)) if any(row[place] != nothing for row in rows)]
    return [[row[place] for place in kept] for row in (header, *rows)]


def letters(notes: Iterable[str]) -> dict[str, str]:
    """A letter for each different note, in the order in which they come: a to z, then aa, ab and so on."""
    found: dict[str, str] = {}
    alphabet = string.ascii_lowercase
    for note in notes:
        if note not in found:
            rounds, place = divmod(len(found), len(alphabet))
            found[note] = (alphabet[rounds - 1] if rounds else "") + alphabet[place]
    return found


def marks(notes: Iterable[str], of: Mapping[str, str]) -> str:
    """The letters of some notes in brackets; nothing if there are none."""
    found = sorted((of[note] for note in notes), key=lambda letter: (len(letter), letter))
    return f" ({', '.join(found)})" if found else ""


def quoted(text: object) -> str:
    """Something that a user named, as code within a text."""
    return "`" + " ".join(str(text).replace("`", "'").split()) + "`"
