"""Metrics as tables of the report: a row for each group and a column for each model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from dtg.evaluation.contract import Interval, Metric
from dtg.evaluation.report.comparing import notes_on
from dtg.evaluation.report.gathering import ReportedModel
from dtg.evaluation.report.page import Cell, Notes, ReportTable, absent, accuracy, missing

Metrics = Mapping[str, Metric]  # of one model, by group
NO_ITEMS = "None of its items were evaluated."


def metrics_of(model: ReportedModel, kind: str, **wanted: Any) -> dict[str, Metric]:
    """A model's metrics with these attributes, by group; of what it was not evaluated on, none."""
    if kind not in model.results:
        return {}
    return {
        one.group: one
        for one in model.results[kind].metrics
        if all(getattr(one, name) == value for name, value in wanted.items())
    }


def header_of(models: Sequence[ReportedModel], kind: str) -> list[Cell]:
    """The models' names, with what is to be known of their results."""
    return [
        Cell(model.name, notes if kind in model.results else missing(kind).notes)
        for model, notes in zip(models, notes_on(models, kind), strict=True)
    ]


def pivot(
    models: Sequence[ReportedModel],
    kind: str,
    groups: Iterable[str],
    found: Sequence[Metrics],
    *,
    title: Callable[[str], str] = str,
    cell: Callable[[Interval], Cell] = accuracy,
    without: Notes = (NO_ITEMS,),
) -> list[list[Cell]]:
    """The rows of a table. Dashes of a model without results are explained at its name, others by `without`."""

    def shown(model: ReportedModel, known: Metrics, group: str) -> Cell:
        if kind not in model.results:
            return absent()
        return cell(known[group].value) if group in known else absent(*without)

    return [
        [Cell(title(group)), *(shown(model, known, group) for model, known in zip(models, found, strict=True))]
        for group in groups
    ]


def effects_table(
    models: Sequence[ReportedModel],
    kind: str,
    name: str,
    titles: tuple[str, str],
    found: Sequence[Metrics],
    cell: Callable[[Interval], Cell],
) -> list[ReportTable]:
    """A table of groups in the order of the first model that has them; none if there are no groups."""
    groups = dict.fromkeys(group for some in found for group in some)
    rows = pivot(models, kind, groups, found, cell=cell, without=())
    return [ReportTable(name, titles[1], [Cell(titles[0]), *header_of(models, kind)], rows)] if rows else []


def groups_in(found: Sequence[Metrics]) -> list[str]:
    """Of all models, in alphabetical order."""
    return sorted({group for some in found for group in some})
