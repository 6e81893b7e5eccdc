"""Several models on the same task: each compared with the first, and one picture of all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from dtg.errors import MissingExtraError
from dtg.evaluation.contract import Metric
from dtg.evaluation.rendering import Block, Drawing, Heading
from dtg.evaluation.results import Results

ChartOf = Callable[[Mapping[str, Sequence[Metric]]], Drawing]  # metrics by model


def compare_with_first(found: Sequence[Results]) -> list[Block]:
    """A section for each model but the first."""
    first, *others = found
    blocks: list[Block] = []
    for other in others:
        blocks += [Heading(f"{first.name} and {other.name}", 2), *first.compare(other).blocks()]
    return blocks


def draw_together(found: Sequence[Results], chart_of: ChartOf, stem: Path) -> bool:
    """One chart of all as STEM.svg and STEM.png; false if matplotlib is not installed."""
    chart = chart_of({one.name: one.metrics for one in found})
    try:
        for suffix in (".svg", ".png"):
            chart.draw(stem.with_name(stem.name + suffix))
    except MissingExtraError:
        return False
    return True
