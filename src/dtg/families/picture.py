"""The attention mask as a picture (paper, Figure 2b): rows in, an SVG, PNG or PDF file out. Needs matplotlib.

A coloured cell (i, j) means that row i attends to row j; the number in it is the relative position. Colours are told
apart by colour-blind readers and in grey print.
"""

from __future__ import annotations

from collections.abc import Sequence
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


def draw_mask(rows: Sequence[Row], path: str | Path) -> None:
    """Draw the mask of one sentence into `path`; the suffix says in which format."""
    if len(rows) > MOST_ROWS:
        raise InputError(f"the sentence has {len(rows)} rows; a picture of more than {MOST_ROWS} could not be read.")
    with picture(path, "mask") as figure:
        paint(figure, rows)


def paint(figure: Figure, rows: Sequence[Row]) -> None:
    """Cells, numbers, labels and the legend."""
    count = len(rows)
    axes = figure.add_subplot()
    for row in rows:
        colour, ink = COLOURS[row.kind]
        for key, relative in zip(row.attends, row.relative, strict=True):
            axes.add_patch(square(key, row.index, colour))
            axes.text(key, row.index, str(relative).replace("-", "−"), color=ink, ha="center", va="center", fontsize=7)
    axes.set_xlim(-0.5, count - 0.5)
    axes.set_ylim(count - 0.5, -0.5)
    axes.set_aspect("equal")
    names = [" + ".join(row.reads) for row in rows]
    axes.set_xticks(range(count), [f"{name}  {i}" for i, name in enumerate(names)], rotation=90, fontsize=8)
    axes.set_yticks(range(count), [f"{name}  {i}" for i, name in enumerate(names)], fontsize=8)
    axes.tick_params(length=0, labeltop=True, labelbottom=False)
    axes.set_xticks([i - 0.5 for i in range(count + 1)], minor=True)
    axes.set_yticks([i - 0.5 for i in range(count + 1)], minor=True)
    axes.grid(which="minor", color="#DDDDDD", linewidth=0.5)
    axes.tick_params(which="minor", length=0)
    for side in axes.spines.values():
        side.set_color("#999999")
    predictions = axes.secondary_yaxis("right")
    predictions.set_yticks(range(count), [f"→ {row.predicts}" if row.predicts else "" for row in rows], fontsize=8)
    predictions.tick_params(length=0)
    predictions.spines["right"].set_visible(False)
    legend(axes, rows)
    widest = max(len(name) for name in names)
    labels = 0.075 * (widest + 4)
    answers = 0.075 * max(len(row.predicts or "") + 3 for row in rows)
    figure.set_size_inches(CELL * count + labels + answers + 0.3, CELL * count + labels + 0.8)


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
