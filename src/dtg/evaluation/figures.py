"""Pictures of results for papers: bar charts of accuracies and learning curves, as SVG, PDF or PNG files.

Numbers stand at the bars, names at the curves. Needs matplotlib (the `draw` extra).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dtg.errors import InputError
from dtg.pictures import INK, NAME_SIZE, STYLES, Style, add_legend, check_models, picture, plain, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 7.0  # inches: the text of a page
CURVES_HEIGHT = 4.0
NUMBER_SIZE = 6.5  # points


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
        axes.set_yticks([row * pitch for row in range(len(groups))], [wrapped(literal(group), 30) for group in groups])
        axes.set_xlim(0, 108)  # room for the number at a full bar
        axes.set_xticks(range(0, 101, 10))
        axes.set_xlabel(what, fontsize=NAME_SIZE)
        axes.tick_params(labelsize=NAME_SIZE)
        axes.tick_params(axis="y", length=0)
        plain(axes, "x")
        rows = add_legend(figure, [literal(model) for model in models])
        figure.set_size_inches(WIDTH, len(groups) * pitch + 0.6 + 0.2 * rows)


def literal(name: str) -> str:
    """A name that is drawn as it is: matplotlib takes what is between dollars for mathematics."""
    return name.replace("$", r"\$")


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
    names = [wrapped(literal(name), 28) for name, _, _ in ends]
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
