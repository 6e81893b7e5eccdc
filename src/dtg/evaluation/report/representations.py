"""Arc representations: models and their training runs in, the paper's table of them out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dtg.evaluation.report.cells import texts
from dtg.evaluation.report.models import Model
from dtg.evaluation.report.overview import Headlines
from dtg.evaluation.report.page import Cell, Section, Table, Text

NAME = "arc_representation"
NONE = (
    "No two of these models differ in `arc_representation` and nothing else of their configuration, which is known from "
    "training runs: `--run NAME=RUN`."
)


def representation_section(models: Sequence[Model], headlines: Headlines) -> Section:
    """Models that differ in how arcs are represented, and in nothing else of the [model] table."""
    groups: dict[tuple[tuple[str, Any], ...], dict[int, str]] = {}
    for place, model in enumerate(models):
        if model.run is not None and model.has_trees:
            others = tuple(sorted((name, value) for name, value in model.run.model.items() if name != NAME))
            groups.setdefault(others, {})[place] = str(model.run.model[NAME])
    rows = [
        [
            Cell(models[place].name),
            Cell(str(models[place].family)),
            Cell(representation),
            headlines.per_word[place],
            headlines.blimp[place],
            headlines.sg[place],
        ]
        for group in groups.values()
        if len(set(group.values())) > 1
        for place, representation in group.items()
    ]
    if not rows:
        return Section("Arc representations", (Text((NONE,)),))
    header = texts("Model", "Family", "arc representation", "PPL per word", "BLiMP", "SG")
    return Section("Arc representations", (Table("representations", "Representations of arcs.", header, rows),))
