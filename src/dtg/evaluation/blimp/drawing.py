"""BLiMP's accuracies as a picture: the scores of one or more models in, bars by field or phenomenon out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from dtg.evaluation.blimp.paradigms import title
from dtg.evaluation.blimp.scores import Accuracy, Scores
from dtg.evaluation.figures import Bar, bars_by_group


def draw_scores(path: str | Path, models: Mapping[str, Scores], level: Literal["fields", "phenomena"]) -> None:
    """Draw a row for all pairs and one for each group; a model that has not been scored on a group has no bar there."""
    groups = {name: scores.fields if level == "fields" else scores.phenomena for name, scores in models.items()}
    names = sorted({name for some in groups.values() for name in some})
    bars = {
        model: [bar(scores.overall), *(bar(groups[model].get(name)) for name in names)]
        for model, scores in models.items()
    }
    bars_by_group(path, ["all pairs", *map(title, names)], bars)


def bar(accuracy: Accuracy | None) -> Bar | None:
    if accuracy is None:
        return None
    return Bar(100 * accuracy.share, 100 * accuracy.interval.low, 100 * accuracy.interval.high)
