"""Draws surprisals as bars, a group for each word, into an SVG, PNG or PDF file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from dtg.errors import InputError
from dtg.io.pictures import INK, NAME_SIZE, STYLES, add_legend, check_models, picture, plain

HEIGHT = 2.6  # inches
PITCH = 0.62  # inches for a word, as long as there are not too many
WIDEST = 13.0


def draw_surprisals(
    path: str | Path, words: Sequence[str], models: Mapping[str, Sequence[float]], unit: str = "bits"
) -> None:
    """Draw a group of bars for each word, and in it one for each model, in the order given."""
    check_models(models)
    for name, surprisals in models.items():
        if len(surprisals) != len(words) or not words:
            raise InputError(f"a number for each of {len(words)} words is expected, but {name} has {len(surprisals)}.")
    with picture(path, "picture of surprisals") as figure:
        axes = figure.add_subplot()
        thickness = 0.8 / len(models)
        for number, (surprisals, style) in enumerate(zip(models.values(), STYLES, strict=False)):
            places = [place + (number + 0.5 - len(models) / 2) * thickness for place in range(len(words))]
            width = 0.9 * thickness
            axes.bar(places, surprisals, width, color=style.color, hatch=style.hatch, edgecolor=INK, linewidth=0.5)
        axes.set_xticks(range(len(words)), words, rotation=90 if len(words) > WIDEST / PITCH else 0)
        axes.set_xlim(-0.6, len(words) - 0.4)
        axes.set_ylabel(f"surprisal ({unit})", fontsize=NAME_SIZE)
        plain(axes, "y")
        axes.tick_params(axis="x", length=0)
        rows = add_legend(figure, list(models))
        figure.set_size_inches(min(WIDEST, max(3.0, PITCH * len(words) + 0.7)), HEIGHT + 0.2 * rows)
