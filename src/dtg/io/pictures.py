"""Figures to draw on, written atomically as SVG, PNG or PDF files, and the style that all pictures share.

matplotlib is an optional dependency (the `draw` extra), imported only when something is drawn. The same picture makes the
same file: no dates, no random names. For print and for colour-blind readers, colours are Okabe and Ito's, and every model has a
hatch, or a marker and a line style, of its own as well.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from dtg.errors import InputError, MissingExtraError
from dtg.io.atomic import replacing
from dtg.io.fonts import (
    FONT,
    ask_for_fonts,
    installed_fonts,
    missing_characters,
    use_fonts,
    warn_of_boxes,
    without_glyph_warnings,
)
from dtg.io.json_files import FORMAT_VERSION

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".svg", ".png", ".pdf")
INK, GRID = "#222222", "#DDDDDD"
NAME_SIZE = 8  # points


@dataclass(frozen=True, slots=True)
class Style:
    """How one model is drawn."""

    color: str
    hatch: str
    marker: str
    line: str | tuple[int, tuple[int, ...]]


# Hatches of lines only: dots make an SVG file of half a megabyte.
STYLES = (
    Style("#0072B2", "", "o", "-"),
    Style("#E69F00", "////", "s", "--"),
    Style("#009E73", "xxxx", "^", "-."),
    Style("#D55E00", "\\\\\\\\", "D", (0, (1, 1))),
    Style("#56B4E9", "||||", "v", (0, (5, 1, 1, 1, 1, 1))),
    Style("#CC79A7", "++++", "P", (0, (8, 2))),
    Style("#BBBBBB", "----", "X", (0, (3, 3))),
    Style("#F0E442", "", "*", (0, (1, 3))),
)


def check_picture_path(path: Path) -> None:
    """Raise unless a picture can be written under this name."""
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"cannot draw {path}: the name must end in one of {', '.join(SUFFIXES)}.")
    if not path.parent.is_dir():
        raise InputError(f"cannot draw {path}: the folder {path.parent} does not exist.")


@contextmanager
def picture(path: str | Path, what: str) -> Iterator[Figure]:
    """Give an empty figure, and write it to `path` once it is drawn; the suffix says in which format."""
    path = Path(path)
    check_picture_path(path)
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "draw", f"drawing a {what}") from None
    note = f"dtg {what}, format_version {FORMAT_VERSION}"
    metadata = {
        ".svg": {"Date": None, "Description": note},
        ".png": {"Description": note},
        ".pdf": {"CreationDate": None, "Subject": note},
    }[path.suffix.lower()]
    # Without mathematics: a $ in a word or a name is a dollar.
    with rc_context({"svg.hashsalt": "dtg", "font.family": FONT, "hatch.linewidth": 0.5, "text.parse_math": False}):
        figure = Figure(layout="constrained")
        yield figure
        with replacing(path) as temporary, fonts_for(figure, path, temporary):
            figure.savefig(temporary, format=path.suffix[1:].lower(), dpi=150, metadata=metadata)


@contextmanager
def fonts_for(figure: Figure, path: Path, temporary: Path) -> Iterator[None]:
    """Around writing a figure: text in scripts that the usual font lacks is drawn in another, or left to the reader's (SVG)."""
    from matplotlib import rc_context

    missing = missing_characters(figure)
    if not missing:
        yield
        return
    if path.suffix.lower() == ".svg":
        with without_glyph_warnings(), rc_context({"svg.fonttype": "none"}):
            yield
        ask_for_fonts(temporary)
        return
    fonts, in_no_font = installed_fonts(missing)
    use_fonts(figure, fonts)
    if in_no_font:
        warn_of_boxes(in_no_font, path)
    with without_glyph_warnings():
        yield


def add_legend(figure: Figure, names: Sequence[str], notes: Sequence[str] = ()) -> int:
    """Put the models' names above the picture, and notes after them, in as many columns as fit; return the number of lines."""
    from matplotlib.patches import Patch

    labels = [wrapped(name, 90) for name in (*names, *notes)]
    longest = max(len(line) for label in labels for line in label.split("\n"))
    columns = max(1, min(len(labels), 100 // (longest + 7)))
    patches = [Patch(facecolor=style.color, hatch=style.hatch, edgecolor=INK, linewidth=0.5) for style in STYLES]
    blank = [Patch(facecolor="none", edgecolor="none") for _ in notes]
    figure.legend(
        patches[: len(names)] + blank,
        labels,
        loc="outside upper center",
        ncols=columns,
        frameon=False,
        fontsize=NAME_SIZE,
    )
    return -(-len(labels) // columns) + sum(label.count("\n") for label in labels)


def plain(axes: Axes, grid: Literal["x", "y", "both"]) -> None:
    """Light grid lines behind the data, and no frame."""
    axes.grid(axis=grid, color=GRID, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=NAME_SIZE)


def check_models(models: Mapping[str, object]) -> None:
    """Raise unless there are as many models as a picture can show."""
    if not 1 <= len(models) <= len(STYLES):
        raise InputError(
            f"a picture shows from 1 to {len(STYLES)} models, which is as many as can be told apart; {len(models)} were given."
        )


def wrapped(name: str, width: int) -> str:
    """A name in lines of at most `width` characters, broken at spaces or after underscores."""
    return textwrap.fill(name.replace("_", "_ "), width).replace("_ ", "_")
