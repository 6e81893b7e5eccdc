"""Results for people: headings, lines, tables and bar charts, as text for a terminal, Markdown, or HTML for a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Protocol

from dtg.evaluation.figures import bars_by_group
from dtg.evaluation.intervals import Interval
from dtg.io.messages import pluralize

__all__ = ["pluralize"]  # what counts are written with, from one place


@dataclass(frozen=True, slots=True)
class Heading:
    """A title: of a page (1), or of a part of it (2)."""

    text: str
    depth: int = 1


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Text; `is_list` if each line is a remark of its own."""

    lines: Sequence[str]
    is_list: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """The first cell of a row is what the row is about."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]


Block = Heading | TextBlock | Table


class Drawing(Protocol):
    """Something that can be drawn."""

    def draw(self, path: Path) -> None:
        """To an SVG, PNG or PDF file; needs matplotlib."""


@dataclass(frozen=True, slots=True)
class BarChart:
    """A bar for each group of each model; None where a model has no value. `dots` are further values on each bar."""

    groups: Sequence[str]
    bars: Mapping[str, Sequence[Interval | None]]
    chance: float | None = None
    dots: Mapping[str, Sequence[Sequence[float]]] = field(default_factory=dict)

    def draw(self, path: Path) -> None:
        """To an SVG, PNG or PDF file; needs matplotlib."""
        bars_by_group(path, self.groups, self.bars, chance=self.chance, dots=self.dots)


def as_markdown(blocks: Sequence[Block]) -> str:
    """A page, with an empty line between blocks."""
    return "\n".join(block_markdown(block) for block in blocks if not is_empty(block))


def block_markdown(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.depth} {block.text}\n"
    if isinstance(block, Table):
        return markdown_table(block.header, block.rows)
    return "".join(f"- {line}\n" if block.is_list else f"{line}\n" for line in block.lines)


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The first column to the left, the others to the right."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def as_text(blocks: Sequence[Block]) -> str:
    """For a terminal, with an empty line between blocks."""
    return "\n".join(block_text(block) for block in blocks if not is_empty(block))


def block_text(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{block.text}\n"
    if isinstance(block, TextBlock):
        return "".join(f"{line}\n" for line in block.lines)
    lines = [block.header, *block.rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    shown = (
        "  ".join(
            f"{cell:{'>' if place else '<'}{width}}"
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
    return "".join(f"{line}\n" for line in shown)


def as_html(blocks: Sequence[Block]) -> str:
    """For a notebook."""
    return "".join(block_html(block) for block in blocks if not is_empty(block))


def block_html(block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h{block.depth + 2}>{escape(block.text)}</h{block.depth + 2}>\n"
    if isinstance(block, TextBlock):
        return "".join(f"<p>{escape(line)}</p>\n" for line in block.lines)
    head, *rows = ("".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in line) for tag, line in tagged(block))
    body = "".join(f"<tr>{row}</tr>\n" for row in rows)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n"


def tagged(table: Table) -> list[tuple[str, Sequence[str]]]:
    return [("th", table.header), *(("td", row) for row in table.rows)]


def is_empty(block: Block) -> bool:
    return (isinstance(block, TextBlock) and not block.lines) or (isinstance(block, Table) and not block.rows)


def percent(value: float) -> str:
    return f"{value:.1f}"


def signed(value: float) -> str:
    return f"{value:+.1f}"


def interval(bounds: Sequence[float]) -> str:
    low, high = bounds
    return f"[{low:.1f}, {high:.1f}]"


def p_value(p: float) -> str:
    return f"{p:.2g}" if p >= 1e-300 else "< 1e-300"


def perplexity_text(value: float) -> str:
    """A perplexity, with as many decimals as may matter."""
    if value >= 1e7:  # of a model that knows nothing
        return f"{value:.2e}"
    return f"{value:,.1f}" if value >= 100 else f"{value:.2f}"
