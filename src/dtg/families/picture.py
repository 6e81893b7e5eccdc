"""Draws the attention masks of one sentence (paper, Figure 2b) into an SVG, PNG or PDF file. Needs matplotlib.

A coloured cell (i, j) means that row i attends to row j; the number in it is the relative position. Families whose attention
heads see in several ways have a panel for each view; the channel of a view, such as the depths of Pushdown's stack tape, has a
panel of its own. Colours are told apart by colour-blind readers and in grey print.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dtg.errors import InputError
from dtg.families.rows import Kind, Row
from dtg.io.pictures import picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

# After Okabe and Ito: cell colour, and the colour of the number on it.
COLOURS = {
    Kind.STACK: ("#0072B2", "white"),
    Kind.COMPOSE: ("#E69F00", "black"),
    Kind.POPSTACK: ("#56B4E9", "black"),
    Kind.LINEAR: ("#0072B2", "white"),
}
CELL = 0.30  # inches
MOST_ROWS = 400  # beyond, a picture has labels nobody can read


@dataclass(frozen=True, slots=True)
class Panel:
    """One mask: by row, the rows that it attends to and a number for each."""

    title: str | None
    attends: tuple[tuple[int, ...], ...]
    numbers: tuple[tuple[int, ...], ...]


def draw_mask(rows: Sequence[Row], path: str | Path) -> None:
    """Draw the masks of one sentence into `path`; the suffix says in which format."""
    if len(rows) > MOST_ROWS:
        raise InputError(f"the sentence has {len(rows)} rows; a picture of more than {MOST_ROWS} could not be read.")
    with picture(path, "mask") as figure:
        paint(figure, rows)


def panels_of(rows: Sequence[Row]) -> list[Panel]:
    """A panel for each view, and one for its channel if it has one."""
    if not rows[0].views:
        return [Panel(None, tuple(row.attends for row in rows), tuple(row.relative for row in rows))]
    panels = []
    for place, first in enumerate(rows[0].views):
        views = [row.views[place] for row in rows]
        attends = tuple(view.attends for view in views)
        panels.append(Panel(first.name, attends, tuple(view.relative for view in views)))
        if first.channel is not None:
            panels.append(Panel(f"{first.name}: depth", attends, tuple(view.channel or () for view in views)))
    return panels


def paint(figure: Figure, rows: Sequence[Row]) -> None:
    """The panels side by side, what rows read at the left, what they predict at the right."""
    count, panels = len(rows), panels_of(rows)
    names = [" + ".join(row.reads) for row in rows]
    labels = [f"{name}  {i}" for i, name in enumerate(names)]
    all_axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for place, (axes, panel) in enumerate(zip(all_axes, panels, strict=True)):
        paint_cells(axes, rows, panel)
        axes.set_xticks(range(count), labels, rotation=90, fontsize=8)
        axes.set_yticks(range(count), labels if place == 0 else [""] * count, fontsize=8)
        paint_frame(axes, count)
        if panel.title is not None:
            axes.set_title(panel.title, fontsize=9)
        legend(axes, rows)
    predictions = all_axes[-1].secondary_yaxis("right")
    predictions.set_yticks(range(count), [f"→ {row.predicts}" if row.predicts else "" for row in rows], fontsize=8)
    predictions.tick_params(length=0)
    predictions.spines["right"].set_visible(False)
    margin = 0.075 * (max(len(name) for name in names) + 4)
    answers = 0.075 * max(len(row.predicts or "") + 3 for row in rows)
    width = (CELL * count + 0.3) * len(panels) + margin + answers
    figure.set_size_inches(width, CELL * count + margin + 0.8 + 0.2 * (panels[0].title is not None))


def paint_cells(axes: Axes, rows: Sequence[Row], panel: Panel) -> None:
    """A coloured cell with its number for everything that is attended to."""
    for row, attends, numbers in zip(rows, panel.attends, panel.numbers, strict=True):
        colour, ink = COLOURS[row.kind]
        for key, number in zip(attends, numbers, strict=True):
            axes.add_patch(square(key, row.index, colour))
            axes.text(key, row.index, str(number).replace("-", "−"), color=ink, ha="center", va="center", fontsize=7)


def paint_frame(axes: Axes, count: int) -> None:
    """Limits, grid lines between the cells, and no marks."""
    axes.set_xlim(-0.5, count - 0.5)
    axes.set_ylim(count - 0.5, -0.5)
    axes.set_aspect("equal")
    axes.tick_params(length=0, labeltop=True, labelbottom=False)
    axes.set_xticks([i - 0.5 for i in range(count + 1)], minor=True)
    axes.set_yticks([i - 0.5 for i in range(count + 1)], minor=True)
    axes.grid(which="minor", color="#DDDDDD", linewidth=0.5)
    axes.tick_params(which="minor", length=0)
    for side in axes.spines.values():
        side.set_color("#999999")


def square(column: int, row: int, colour: str) -> Rectangle:
    """One cell. matplotlib is optional, so it is imported where something is drawn."""
    from matplotlib.patches import Rectangle

    return Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=colour, edgecolor="white", linewidth=0.5)


def legend(axes: Axes, rows: Sequence[Row]) -> None:
    """One entry for each kind that occurs, under the picture."""
    kinds = [kind for kind in Kind if any(row.kind == kind for row in rows)]
    handles = [square(0, 0, COLOURS[kind][0]) for kind in kinds]
    axes.legend(
        handles,
        [str(kind) for kind in kinds],
        loc="upper center",
        bbox_to_anchor=(0.5, -0.01),
        ncols=len(kinds),
        frameon=False,
        fontsize=8,
    )
