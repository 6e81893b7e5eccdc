"""Bar charts of accuracies for papers, as SVG, PDF or PNG files. Needs matplotlib (the `draw` extra)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dtg.errors import InputError
from dtg.io.pictures import INK, NAME_SIZE, STYLES, Style, add_legend, check_models, picture, plain, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 7.0  # inches: the text of a page
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
