"""Pictures of results for papers: accuracies or training logs in, an SVG, PDF or PNG file out.

They are to be read in print and by colour-blind readers: colours are Okabe and Ito's, and every model has a hatch, or a
marker and a line, of its own besides. Numbers stand at the bars, names at the curves. Needs matplotlib (the `draw` extra).
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from dtg.errors import InputError
from dtg.pictures import picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 7.0  # inches: the text of a page
CURVES_HEIGHT = 4.0
INK, GRID = "#222222", "#DDDDDD"
NAME_SIZE, NUMBER_SIZE = 8, 6.5  # points


@dataclass(frozen=True, slots=True)
class Style:
    """How one model is drawn."""

    color: str
    hatch: str
    marker: str
    line: str | tuple[int, tuple[int, ...]]


STYLES = (  # hatches of lines only: dots make an SVG file of half a megabyte
    Style("#0072B2", "", "o", "-"),
    Style("#E69F00", "////", "s", "--"),
    Style("#009E73", "xxxx", "^", "-."),
    Style("#D55E00", "\\\\\\\\", "D", (0, (1, 1))),
    Style("#56B4E9", "||||", "v", (0, (5, 1, 1, 1, 1, 1))),
    Style("#CC79A7", "++++", "P", (0, (8, 2))),
    Style("#BBBBBB", "----", "X", (0, (3, 3))),
    Style("#F0E442", "", "*", (0, (1, 3))),
)


@dataclass(frozen=True, slots=True)
class Bar:
    """A value and where it may well be; all in percent."""

    value: float
    low: float
    high: float


def bars_by_group(
    path: str | Path,
    groups: Sequence[str],
    models: Mapping[str, Sequence[Bar | None]],
    *,
    what: str = "accuracy (%)",
    chance: float | None = 50.0,
) -> None:
    """Draw a row for each group, and in it a bar for each model, in the order given; None where there is no value."""
    check_models(models)
    for name, bars in models.items():
        if len(bars) != len(groups) or not groups:
            raise InputError(f"a bar for each of {len(groups)} groups is expected, but {name} has {len(bars)}.")
    thickness = 0.30 if len(models) == 1 else 0.16 if len(models) <= 3 else 0.11  # inches, as is everything vertical
    pitch = len(models) * thickness + 0.14
    with picture(path, "picture of bars") as figure:
        from matplotlib import rcParams

        rcParams["hatch.linewidth"] = 0.5  # `picture` puts it back
        axes = figure.add_subplot()
        for number, (bars, style) in enumerate(zip(models.values(), STYLES, strict=False)):
            offset = (number + 0.5 - len(models) / 2) * thickness
            for row, bar in enumerate(bars):
                if bar is not None:
                    draw_bar(axes, bar, row * pitch + offset, thickness, style)
        if chance is not None:
            axes.axvline(chance, color=INK, linewidth=0.8, linestyle=(0, (4, 2)), zorder=2)
            top = axes.get_xaxis_transform()  # x in percent, y from 0 to 1
            axes.text(chance, 1.0, "chance", transform=top, ha="center", va="bottom", fontsize=NUMBER_SIZE)
        axes.set_ylim((len(groups) - 0.5) * pitch, -0.5 * pitch)  # the first group on top
        axes.set_yticks([row * pitch for row in range(len(groups))], [wrapped(group, 30) for group in groups])
        axes.set_xlim(0, 108)  # room for the number at a full bar
        axes.set_xticks(range(0, 101, 10))
        axes.set_xlabel(what, fontsize=NAME_SIZE)
        axes.tick_params(labelsize=NAME_SIZE)
        axes.tick_params(axis="y", length=0)
        plain(axes, "x")
        rows = add_legend(figure, list(models))
        figure.set_size_inches(WIDTH, len(groups) * pitch + 0.6 + 0.2 * rows)


def draw_bar(axes: Axes, bar: Bar, y: float, thickness: float, style: Style) -> None:
    """A bar with its interval, and its number to the right of both."""
    axes.barh(
        y, bar.value, 0.84 * thickness, color=style.color, hatch=style.hatch, edgecolor=INK, linewidth=0.5, zorder=3
    )
    for color, width in (("white", 2.0), (INK, 1.0)):  # a light edge, for dark bars and hatches
        interval = axes.plot([bar.low, bar.high], [y, y], color=color, linewidth=width, marker="|", zorder=4)
        interval[0].set(markersize=30 * thickness, markeredgewidth=width)
    axes.annotate(
        f"{bar.value:.1f}",
        (max(bar.value, bar.high), y),
        (3, 0),
        textcoords="offset points",
        va="center_baseline",
        fontsize=NAME_SIZE if thickness > 0.2 else NUMBER_SIZE,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.4},  # the lines behind it stop
        zorder=5,
    )


def learning_curves(path: str | Path, runs: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Draw perplexity against words read, from each run's log (`dtg.training.log.read_log`).

    Thin lines are what was trained on; thick ones with markers are the development set.
    """
    check_models(runs)
    with picture(path, "picture of learning curves") as figure:
        figure.set_size_inches(WIDTH, CURVES_HEIGHT)
        axes = figure.add_subplot()
        ends = []
        for (name, records), style in zip(runs.items(), STYLES, strict=False):
            train, dev = ([record for record in records if record["kind"] == kind] for kind in ("train", "dev"))
            if not train and not dev:
                raise InputError(f"the log of {name} has no losses yet; leave the run out, or wait until it has some.")
            draw_curve(axes, train, style, linewidth=0.7, alpha=0.5)
            draw_curve(axes, dev, style, linewidth=1.6, linestyle=style.line, marker=style.marker, markersize=4.5)
            ends.append((name, (dev or train)[-1], style))
        axes.plot([], [], color=INK, linewidth=0.7, label="training")
        axes.plot([], [], color=INK, linewidth=1.6, marker="o", markersize=4.5, label="development set")
        figure.legend(frameon=False, fontsize=NAME_SIZE, loc="outside upper center", ncols=2)
        axes.set_yscale("log")
        axes.set_xlim(left=0)
        axes.set_xlabel("words read", fontsize=NAME_SIZE)
        axes.set_ylabel("perplexity per word, tree included", fontsize=NAME_SIZE)
        write_plain_numbers(axes)
        plain(axes, "both")
        name_curves(axes, ends)


def draw_curve(axes: Axes, records: Sequence[Mapping[str, Any]], style: Style, **looks: Any) -> None:
    words, perplexities = ([record[key] for record in records] for key in ("words", "word_perplexity"))
    axes.plot(words, perplexities, color=style.color, markeredgecolor=INK, markeredgewidth=0.4, **looks)


def name_curves(axes: Axes, ends: Sequence[tuple[str, Mapping[str, Any], Style]]) -> None:
    """Write each name right of the axes, at the height of its curve's end or, where names would overlap, near it."""
    names = [wrapped(name, 28) for name, _, _ in ends]
    line = 1.5 * NAME_SIZE / 72 / (CURVES_HEIGHT - 1.0)  # of text, as a share of the height that the axes have at least
    heights = [height_of(axes, record["word_perplexity"]) for _, record, _ in ends]
    places = spread(heights, [line * (name.count("\n") + 1) for name in names])
    for (_, record, style), name, place in zip(ends, names, places, strict=True):
        leader = {
            "arrowstyle": "-",
            "color": style.color,
            "linewidth": 0.7,
            "shrinkA": 1,
            "shrinkB": 3,
            "relpos": (0, 0.5),
        }
        axes.annotate(
            name,
            (record["words"], record["word_perplexity"]),
            (1.05, place),
            textcoords="axes fraction",
            va="center",
            fontsize=NAME_SIZE,
            arrowprops=leader,
        )


def spread(heights: Sequence[float], sizes: Sequence[float]) -> list[float]:
    """Places near `heights` for things of the given sizes, so that none overlap."""
    order = sorted(range(len(heights)), key=lambda number: heights[number])
    pushed_up, pushed_down = list(heights), list(heights)
    for below, above in pairwise(order):
        pushed_up[above] = max(heights[above], pushed_up[below] + (sizes[below] + sizes[above]) / 2)
    for above, below in pairwise(reversed(order)):
        pushed_down[below] = min(heights[below], pushed_down[above] - (sizes[below] + sizes[above]) / 2)
    # Things are far enough apart in both, so they are in between.
    return [(up + down) / 2 for up, down in zip(pushed_up, pushed_down, strict=True)]


def height_of(axes: Axes, value: float) -> float:
    """Where a value is on the y axis, from 0 at its lower end to 1."""
    _, pixel = axes.transData.transform((0, value))
    return float(axes.transAxes.inverted().transform((0, pixel))[1])


def write_plain_numbers(axes: Axes) -> None:
    """10,000 instead of 10⁴, and 200k for words."""
    from matplotlib.ticker import EngFormatter, FuncFormatter, LogLocator, NullLocator

    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.yaxis.set_minor_locator(NullLocator())


def add_legend(figure: Figure, names: Sequence[str]) -> int:
    """Put the models' names above the picture, in as many columns as fit; say in how many lines."""
    from matplotlib.patches import Patch

    labels = [wrapped(name, 90) for name in names]
    longest = max(len(line) for label in labels for line in label.split("\n"))
    columns = max(1, min(len(names), 100 // (longest + 7)))
    patches = [Patch(facecolor=style.color, hatch=style.hatch, edgecolor=INK, linewidth=0.5) for style in STYLES]
    figure.legend(
        patches[: len(names)], labels, loc="outside upper center", ncols=columns, frameon=False, fontsize=NAME_SIZE
    )
    return -(-len(names) // columns) + sum(label.count("\n") for label in labels)


def plain(axes: Axes, grid: Literal["x", "both"]) -> None:
    """Light lines behind the data, and no box around it."""
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
    """A name in lines of so many characters, broken at spaces or after underscores."""
    return textwrap.fill(name.replace("_", "_ "), width).replace("_ ", "_")
