"""Tables with a row for each group of items and a column for each model: scores by group in, header and rows out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dtg.evaluation.report.cells import absent, accuracy, missing
from dtg.evaluation.report.finding import Kind
from dtg.evaluation.report.models import Model
from dtg.evaluation.report.overview import notes_on
from dtg.evaluation.report.page import Cell

Groups = Mapping[str, Mapping[str, Any]]  # what is known of each group of items, by name
NO_ITEMS = "None of its items were evaluated."


def header_of(models: Sequence[Model], kind: Kind) -> list[Cell]:
    """The models' names, with what is to be known of their results."""
    return [
        Cell(model.name, notes if kind in model.results else missing(kind).notes)
        for model, notes in zip(models, notes_on(models, kind), strict=True)
    ]


def group_rows(
    models: Sequence[Model],
    kind: Kind,
    names: Sequence[str],
    groups_of: Callable[[Model], Groups],
    title: Callable[[str], str] = str,
) -> list[list[Cell]]:
    """A row for each name; `title` is how it is written."""
    known = [groups_of(model) if kind in model.results else None for model in models]
    return [[Cell(title(name)), *(cell_of(groups, name) for groups in known)] for name in names]


def cell_of(groups: Groups | None, name: str) -> Cell:
    """Dashes of a model without any results are explained where its name is."""
    if groups is None:
        return absent()
    return accuracy(groups[name]) if name in groups else absent(NO_ITEMS)
