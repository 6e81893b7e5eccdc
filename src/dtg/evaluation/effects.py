"""Pictures of effects that may be above or below zero: points with intervals, and lines over a scale. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from dtg.evaluation.figures import NUMBER_SIZE, WIDTH
from dtg.io.pictures import INK, NAME_SIZE, STYLES, check_models, picture, plain, wrapped


class Point(Protocol):
    """A value and where it may well be."""

    @property
    def value(self) -> float: ...

    @property
    def low(self) -> float: ...

    @property
    def high(self) -> float: ...


@dataclass(frozen=True, slots=True)
class EffectPlot:
    """A point with its interval for each group of each model; None where a model has no value."""

    groups: Sequence[str]
    points: Mapping[str, Sequence[Point | None]]
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
                        f"{point.value:.1f}",
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
    lines: Mapping[str, Sequence[Point | None]]
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


def first_place(points: Sequence[Point | None]) -> int:
    """Of the first group that has a value; its point stands for the model in the legend."""
    return next((place for place, point in enumerate(points) if point is not None), 0)
