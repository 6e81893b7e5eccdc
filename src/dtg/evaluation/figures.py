"""Pictures for papers, as SVG, PDF or PNG files: bars of accuracies, effects with intervals, lines. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dtg.errors import InputError
from dtg.evaluation.intervals import Interval
from dtg.io.pictures import INK, NAME_SIZE, STYLES, Style, add_legend, check_models, picture, plain, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 7.0  # inches: the text of a page
NUMBER_SIZE = 6.5  # points


def bars_by_group(
    path: str | Path,
    groups: Sequence[str],
    models: Mapping[str, Sequence[Interval | None]],
    *,
    what: str = "accuracy (%)",
    chance: float | None = 50.0,
    dots: Mapping[str, Sequence[Sequence[float]]] | None = None,
) -> None:
    """Draw a row for each group, and in it a bar for each model, in the order given; None where there is no value.

    `dots` are further values of some models, such as those of its seeds: any number of them for each group.
    """
    check_models(models)
    for name, bars in models.items():
        if len(bars) != len(groups) or not groups:
            raise InputError(f"a bar for each of {len(groups)} groups is expected, but {name} has {len(bars)}.")
    thickness = 0.30 if len(models) == 1 else 0.16 if len(models) <= 3 else 0.11  # inches, as is everything vertical
    pitch = len(models) * thickness + 0.14
    with picture(path, "picture of bars") as figure:
        axes = figure.add_subplot()
        for number, ((name, bars), style) in enumerate(zip(models.items(), STYLES, strict=False)):
            offset = (number + 0.5 - len(models) / 2) * thickness
            for row, bar in enumerate(bars):
                if bar is not None:
                    draw_bar(axes, bar, row * pitch + offset, thickness, style)
            for row, some in enumerate((dots or {}).get(name, ())):
                at = [row * pitch + offset] * len(some)
                axes.plot(
                    some, at, "o", color="white", markeredgecolor=INK, markersize=3, markeredgewidth=0.7, zorder=6
                )
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


def draw_bar(axes: Axes, bar: Interval, y: float, thickness: float, style: Style) -> None:
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


@dataclass(frozen=True, slots=True)
class EffectPlot:
    """Effects that may be above or below zero: a point with its interval for each group of each model, or None."""

    groups: Sequence[str]
    points: Mapping[str, Sequence[Interval | None]]
    what: str  # the axis's name

    def draw(self, path: Path) -> None:
        """To an SVG, PNG or PDF file."""
        check_models(self.points)
        step = 0.16  # inches, as is everything vertical
        pitch = len(self.points) * step + 0.16
        with picture(path, "picture of effects") as figure:
            axes = figure.add_subplot()
            axes.axvline(0, color=INK, linewidth=0.8, zorder=2)
            for number, ((name, points), style) in enumerate(zip(self.points.items(), STYLES, strict=False)):
                offset = (number + 0.5 - len(self.points) / 2) * step
                for row, point in enumerate(points):
                    if point is None:
                        continue
                    y = row * pitch + offset
                    axes.plot([point.low, point.high], [y, y], color=style.color, linewidth=1.5, zorder=3)
                    shown = name if row == first_place(points) else None
                    axes.plot([point.value], [y], style.marker, color=style.color, markersize=5, zorder=4, label=shown)
                    axes.annotate(
                        f"{point.value:.1f}".replace("-", "−"),
                        (max(point.value, point.high), y),
                        (4, 0),
                        textcoords="offset points",
                        va="center_baseline",
                        fontsize=NUMBER_SIZE,
                    )
            axes.set_ylim((len(self.groups) - 0.5) * pitch, -0.5 * pitch)
            names = [wrapped(group, 34) for group in self.groups]
            axes.set_yticks([row * pitch for row in range(len(self.groups))], names)
            axes.margins(x=0.12)
            axes.set_xlabel(self.what, fontsize=NAME_SIZE)
            axes.tick_params(labelsize=NAME_SIZE)
            axes.tick_params(axis="y", length=0)
            plain(axes, "x")
            legend = 0.0
            if len(self.points) > 1:
                axes.legend(fontsize=NUMBER_SIZE, frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=4)
                legend = 0.25
            figure.set_size_inches(WIDTH, len(self.groups) * pitch + 0.7 + legend)


@dataclass(frozen=True, slots=True)
class LinePlot:
    """A line for each name, over the same values of a scale that grows by factors; intervals are drawn at each."""

    scale: Sequence[float]
    lines: Mapping[str, Sequence[Interval | None]]
    along: str  # the name of the scale
    what: str

    def draw(self, path: Path) -> None:
        """To an SVG, PNG or PDF file."""
        check_models(self.lines)
        with picture(path, "picture of lines") as figure:
            axes = figure.add_subplot()
            axes.axhline(0, color=INK, linewidth=0.8, zorder=2)
            for number, ((name, points), style) in enumerate(zip(self.lines.items(), STYLES, strict=False)):
                shift = 1 + 0.03 * (number - (len(self.lines) - 1) / 2)  # so that intervals stand beside each other
                there = [(at * shift, point) for at, point in zip(self.scale, points, strict=True) if point is not None]
                axes.errorbar(
                    [at for at, _ in there],
                    [point.value for _, point in there],
                    yerr=[
                        [max(0.0, point.value - point.low) for _, point in there],
                        [max(0.0, point.high - point.value) for _, point in there],
                    ],
                    color=style.color,
                    marker=style.marker,
                    linestyle=style.line,
                    linewidth=1.3,
                    markersize=4,
                    elinewidth=0.9,
                    label=name,
                    zorder=3,
                )
            axes.set_xscale("log")
            axes.set_xticks(list(self.scale), [f"{at:g}" for at in self.scale])
            axes.minorticks_off()
            axes.set_xlabel(self.along, fontsize=NAME_SIZE)
            axes.set_ylabel(self.what, fontsize=NAME_SIZE)
            axes.tick_params(labelsize=NAME_SIZE)
            plain(axes, "y")
            axes.legend(fontsize=NUMBER_SIZE, frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=3)
            figure.set_size_inches(WIDTH * 0.75, 3.4)


def first_place(points: Sequence[Interval | None]) -> int:
    """Of the first group that has a value; its point stands for the model in the legend."""
    return next((place for place, point in enumerate(points) if point is not None), 0)
