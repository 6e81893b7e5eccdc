"""What a report's page consists of, whatever it is written in: sections of texts, tables and figures.

A note is text that belongs to a cell or to a name in a figure. Within its block it gets a letter, equal texts the same one.
In texts and notes, `backticks` enclose what is set as code; cells and names are taken literally.
"""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dtg.evaluation.contract import Interval, Metric
from dtg.evaluation.rendering import BarChart, perplexity_text
from dtg.io.pictures import STYLES

MISSING = "–"
Notes = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a table, what is to be known about it, and the exact number, if it is one."""

    text: str
    notes: Notes = ()
    number: float | int | None = None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class ReportTable:
    """The first cell of a row is what the row is about. `is_folded` if only some readers will want it."""

    name: str  # of the file that has the exact numbers
    title: str
    header: Sequence[Cell]
    rows: Sequence[Sequence[Cell]]
    is_folded: bool = False

    def letters(self) -> dict[str, str]:
        """Those of all notes."""
        return letters(note for row in (self.header, *self.rows) for cell in row for note in cell.notes)

    def numeric(self) -> list[bool]:
        """For each column, whether it has numbers only."""
        return [
            all(cell.number is not None or cell.text == MISSING for cell in column)
            for column in zip(*self.rows, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture, drawn as NAME.svg and NAME.pdf."""

    name: str
    title: str
    description: str  # for those who do not see it
    draw: Callable[[Path], None]
    notes: Notes = ()  # in the order of the letters in the picture


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph or, if there are several items, a list."""

    items: tuple[str, ...]


ReportBlock = ReportTable | Figure | Text


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page with a heading."""

    title: str
    blocks: tuple[ReportBlock, ...]

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


def not_evaluated(title: str, kind: str) -> Section:
    """For a section without any results."""
    return Section(title, (Text((f"Not evaluated yet: `dtg evaluate {kind}` makes it.",)),))


def missing(kind: str) -> Cell:
    """For a number that a command can make."""
    return Cell(MISSING, (f"Not evaluated yet: `dtg evaluate {kind}` makes it.",))


def absent(*why: str) -> Cell:
    """For a number that there is not."""
    return Cell(MISSING, why)


def accuracy(one: Interval, notes: Notes = ()) -> Cell:
    """A share in percent with its interval."""
    return interval_cell(one, lambda value: f"{value:.1f}", notes)


def difference(one: Interval, notes: Notes = ()) -> Cell:
    """Points of a hundred, with a sign."""
    return interval_cell(one, lambda value: f"{value:+.1f}", notes)


def perplexity(one: Interval | None, sign: str = "", notes: Notes = ()) -> Cell:
    """A perplexity with its interval; `sign` says what is known of it."""
    if one is None:
        return absent()
    return interval_cell(one, perplexity_text, notes, f"{sign} " if sign in ("≤", "≈") else "")


def interval_cell(one: Interval, text: Callable[[float], str], notes: Notes = (), before: str = "") -> Cell:
    if math.isnan(one.low):
        return Cell(f"{before}{text(one.value)}", notes, one.value)
    shown = f"{before}{text(one.value)} [{text(one.low)}, {text(one.high)}]"
    return Cell(shown, notes, one.value, (one.low, one.high))


def number(value: float | None, decimals: int = 0, notes: Notes = ()) -> Cell:
    """A number without an interval."""
    return absent(*notes) if value is None else Cell(f"{value:,.{decimals}f}", notes, value)


def texts(*some: str) -> list[Cell]:
    """Cells of plain text, such as those of a header."""
    return [Cell(text) for text in some]


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


def bar_figures(
    name: str,
    title: str,
    groups: Mapping[str, str],
    models: Mapping[str, Mapping[str, Metric]],
    notes: Mapping[str, Notes],
    chance: float | None,
) -> list[Figure]:
    """A bar for each model in each of the `groups`, which have titles; letters are for the notes on models."""
    figures = []
    for file, suffix, some in parts_of(name, list(models)):
        of = letters(note for model in some for note in notes[model])
        bars = {
            f"{model}{marks(notes[model], of)}": [
                found.value if (found := models[model].get(group)) else None for group in groups
            ]
            for model in some
        }
        chart = BarChart(list(groups.values()), bars, chance)
        description = f"{title} Bars with intervals, in percent. {described(chart.groups, chart.bars)}"
        figures.append(Figure(file, f"{title}{suffix}", description, chart.draw, tuple(of)))
    return figures


def parts_of(name: str, models: Sequence[str]) -> Iterator[tuple[str, str, Sequence[str]]]:
    """As many pictures as it takes to tell all models apart: what each is called, what its title ends in, and who is in it."""
    starts = range(0, len(models), len(STYLES))
    for part, start in enumerate(starts, start=1):
        suffix = f" Part {part} of {len(starts)}." if len(starts) > 1 else ""
        yield name if part == 1 else f"{name}-{part}", suffix, models[start : start + len(STYLES)]


def described(groups: Sequence[str], models: Mapping[str, Sequence[Interval | None]], form: str = ".1f") -> str:
    """What a picture shows of each group, in words."""
    lines = []
    for place, group in enumerate(groups):
        values = ((name, points[place]) for name, points in models.items())
        shown = ", ".join(f"{name} {point.value:{form}}" for name, point in values if point is not None)
        lines.append(f"{group}: {shown or 'nothing'}.")
    return " ".join(lines)
