"""Several models on the same garden paths, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dtg.errors import MissingExtraError
from dtg.evaluation.rendering import Block, Heading, TextBlock
from dtg.evaluation.results import Results
from dtg.evaluation.tasks.garden_paths.pages import EXPLAINED, summary
from dtg.evaluation.tasks.garden_paths.task import GardenPaths


def side_by_side(found: Sequence[Results]) -> list[Block]:
    """The effects of each, and a comparison of each with the first."""
    blocks: list[Block] = [Heading("Garden paths")]
    for one in found:
        blocks += summary(one.name, {**one.content, "against": None})
    blocks += [TextBlock([EXPLAINED])]
    first, *others = found
    for other in others:
        blocks += [Heading(f"{first.name} and {other.name}", 2), *first.compare(other).blocks()]
    return blocks


def draw_together(found: Sequence[Results], folder: Path) -> bool:
    """effects.svg and effects.png; false if matplotlib is not installed."""
    chart = GardenPaths.chart({one.name: one.metrics for one in found})
    try:
        for suffix in (".svg", ".png"):
            chart.draw(folder / f"effects{suffix}")
    except MissingExtraError:
        return False
    return True
