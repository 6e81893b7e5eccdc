"""Draws surprisals as bars, a group for each word and a panel for each sentence, into an SVG, PNG or PDF file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dtg.errors import InputError
from dtg.io.pictures import INK, NAME_SIZE, STYLES, Style, add_legend, check_models, picture, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT = 2.6  # inches, of one sentence alone
PANEL_HEIGHT = 1.9  # inches, of each of several
PITCH = 0.62  # inches for a word, as long as there are not too many
WIDEST = 13.0
MOST_PANELS = 12


@dataclass(frozen=True, slots=True)
class SurprisalPanel:
    """One sentence: its words, each model's surprisals, and how much of them is structural.

    Args:
        words: the words.
        surprisals: a number for each word, by the name of the model.
        structural: the part of each that is the tree's, by the name of the model; models without trees have none.
        title: what stands above the panel, such as the condition.
    """

    words: Sequence[str]
    surprisals: Mapping[str, Sequence[float]]
    structural: Mapping[str, Sequence[float]] = field(default_factory=dict)
    title: str = ""


def draw_surprisals(
    path: str | Path, words: Sequence[str], models: Mapping[str, Sequence[float]], unit: str = "bits"
) -> None:
    """Draw a group of bars for each word, and in it one for each model, in the order given."""
    draw_panels(path, [SurprisalPanel(words, models)], unit)


def draw_panels(path: str | Path, panels: Sequence[SurprisalPanel], unit: str = "bits") -> None:
    """Draw a panel for each sentence, one below the other on the same scale.

    Args:
        path: the picture, .svg, .png or .pdf.
        panels: the sentences, each read by the same models.
        unit: of the surprisals.
    """
    check_panels(panels)
    names = list(panels[0].surprisals)
    highest = max((value for panel in panels for values in panel.surprisals.values() for value in values), default=1.0)
    longest = max(len(panel.words) for panel in panels)
    has_parts = any(panel.structural for panel in panels)
    with picture(path, "picture of surprisals") as figure:
        for number, panel in enumerate(panels):
            axes = figure.add_subplot(len(panels), 1, number + 1)
            draw_bars(axes, panel, names, longest)
            if len(panels) > 1:
                axes.set_ylim(0, 1.05 * highest)
            axes.set_ylabel(f"surprisal ({unit})", fontsize=NAME_SIZE)
            if panel.title:
                axes.set_title(panel.title, fontsize=NAME_SIZE, loc="left")
        rows = add_legend(figure, names, ["lighter: the structural part"] if has_parts else [])
        height = HEIGHT if len(panels) == 1 else PANEL_HEIGHT * len(panels)
        figure.set_size_inches(min(WIDEST, max(3.0, PITCH * longest + 0.7)), height + 0.2 * rows)


def draw_bars(axes: Axes, panel: SurprisalPanel, names: Sequence[str], longest: int) -> None:
    """The bars of one sentence; words of equal number stand below each other in all panels."""
    thickness = 0.8 / len(names)
    for number, (name, style) in enumerate(zip(names, STYLES, strict=False)):
        values = panel.surprisals[name]
        places = [place + (number + 0.5 - len(names) / 2) * thickness for place in range(len(values))]
        structural = panel.structural.get(name, [0.0] * len(values))
        lexical = [value - part for value, part in zip(values, structural, strict=True)]
        outline: dict[str, Any] = {"hatch": style.hatch, "edgecolor": INK, "linewidth": 0.5}
        axes.bar(places, lexical, 0.9 * thickness, color=style.color, **outline)
        if name in panel.structural:
            axes.bar(places, structural, 0.9 * thickness, bottom=lexical, color=lighter(style), **outline)
    axes.set_xticks(range(len(panel.words)), panel.words, rotation=90 if longest > WIDEST / PITCH else 0)
    axes.set_xlim(-0.6, longest - 0.4)
    plain(axes, "y")
    axes.tick_params(axis="x", length=0)


def lighter(style: Style) -> str:
    """The colour of a model, two thirds of the way to white."""
    parts = [int(style.color[place : place + 2], 16) for place in (1, 3, 5)]
    return "#" + "".join(f"{round(part + (255 - part) * 2 / 3):02X}" for part in parts)


def check_panels(panels: Sequence[SurprisalPanel]) -> None:
    """Raise unless each sentence has a number for each word by each of the same models."""
    if not 1 <= len(panels) <= MOST_PANELS:
        raise InputError(f"a picture shows from 1 to {MOST_PANELS} sentences; {len(panels)} were given.")
    for panel in panels:
        check_models(panel.surprisals)
        if list(panel.surprisals) != list(panels[0].surprisals):
            raise InputError(
                f"the same models are expected for each sentence: {', '.join(panels[0].surprisals)}, not "
                f"{', '.join(panel.surprisals)}."
            )
        for name, values in [*panel.surprisals.items(), *panel.structural.items()]:
            if len(values) != len(panel.words) or not panel.words:
                raise InputError(
                    f"a number for each of {len(panel.words)} words is expected, but {name} has {len(values)}."
                )
