"""SyntaxGym's circuits as a picture: the scores of one or more models on the same suites in, bars by circuit out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dtg.evaluation.figures import Bar, bars_by_group
from dtg.evaluation.sg.scores import Score, Scores


def draw_circuits(path: str | Path, models: Mapping[str, Scores]) -> None:
    """Draw a row for the mean over all suites and one for each circuit."""
    first = next(iter(models.values()))
    names = [f"{first.averages[0].suites.name}, mean", *(circuit.name for circuit in first.circuits)]
    bars = {name: [bar(overall(scores)), *map(bar, scores.circuits)] for name, scores in models.items()}
    bars_by_group(path, names, bars, chance=None)


def overall(scores: Scores) -> Score:
    """The mean over all suites."""
    return next(average.score for average in scores.averages if average.mean == "suite mean")


def bar(score: Score) -> Bar:
    return Bar(100 * score.value, 100 * score.low, 100 * score.high)
