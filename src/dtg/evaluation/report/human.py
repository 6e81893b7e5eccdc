"""The report's sections on human reading: reading times and garden paths. They are left out where nothing was evaluated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from dtg.evaluation.contract import Metric
from dtg.evaluation.effects import EffectPlot
from dtg.evaluation.report.benchmarks import header_of
from dtg.evaluation.report.gathering import ReportedModel
from dtg.evaluation.report.page import (
    Cell,
    Figure,
    ReportBlock,
    Section,
    Table,
    Text,
    absent,
    difference,
    number,
    parts_of,
)
from dtg.evaluation.tasks.garden_paths.pages import EXPLAINED as EFFECTS_EXPLAINED
from dtg.evaluation.tasks.garden_paths.task import GardenPaths
from dtg.evaluation.tasks.reading.pages import EXPLAINED as READING_EXPLAINED
from dtg.evaluation.tasks.reading.pages import UNIT
from dtg.evaluation.tasks.reading.task import ReadingTask

READING, PATHS = ReadingTask.name, GardenPaths.name
OVERS = {"baseline": "beyond controls", "surprisal": "beyond controls and surprisal"}


def reading_section(models: Sequence[ReportedModel]) -> Section | None:
    """What each model's columns gain."""
    some = [model for model in models if READING in model.results]
    if not some:
        return None
    header, blocks = header_of(models, READING), list[ReportBlock]()
    for name, suffix, part in parts_of("reading", [model.name for model in some]):
        chart = ReadingTask.chart({one.name: one.results[READING].metrics for one in some if one.name in part})
        title = f"Reading times: held-out log-likelihood gained over controls.{suffix}"
        blocks.append(figure(name, title, chart))
    for over, title in OVERS.items():
        found = [metrics_of(model, READING, over) for model in models]
        rows = pivot(models, READING, found)
        if rows:
            blocks.append(Table(f"reading-{over}", f"Gained {title}, {UNIT}.", [Cell("predictors"), *header], rows))
    facts = [
        [Cell("words fitted"), *(fact(model, "words") for model in models)],
        [Cell("ms a bit of surprisal"), *(ms_per_bit(model) for model in models)],
    ]
    blocks.append(Table("reading-facts", "What they are of.", [Cell(""), *header], facts))
    warnings = dict.fromkeys(line for model in some for line in model.results[READING].content["warnings"])
    return Section("Reading times", (*blocks, Text((*warnings, READING_EXPLAINED))))


def garden_paths_section(models: Sequence[ReportedModel]) -> Section | None:
    """The effects at the critical word and after it, in bits, and people's beside them in ms."""
    some = [model for model in models if PATHS in model.results]
    if not some:
        return None
    blocks = list[ReportBlock]()
    for name, suffix, part in parts_of("garden-paths", [model.name for model in some]):
        chart = GardenPaths.chart({one.name: one.results[PATHS].metrics for one in some if one.name in part})
        blocks.append(figure(name, f"Garden paths: effects in bits.{suffix}", chart))
    header = header_of(models, PATHS)
    for rule, title in (
        ("bits", "Effects, in bits."),
        ("ms", "Effects, in ms."),
        ("human_ms", "People's effects, in ms."),
    ):
        rows = pivot(models, PATHS, [widest_of(model, rule) for model in models])
        if rows:
            blocks.append(Table(f"garden-paths-{rule}", title, [Cell("construction, place"), *header], rows))
    return Section("Garden paths", (*blocks, Text((EFFECTS_EXPLAINED,))))


def pivot(models: Sequence[ReportedModel], kind: str, found: Sequence[Mapping[str, Metric]]) -> list[list[Cell]]:
    """A row for each group, in the order of the first model that has it, and a column for each model."""
    groups = dict.fromkeys(group for some in found for group in some)
    return [
        [
            Cell(group),
            *(
                difference(known[group].value) if kind in model.results and group in known else absent()
                for model, known in zip(models, found, strict=True)
            ),
        ]
        for group in groups
    ]


def metrics_of(model: ReportedModel, kind: str, rule: str) -> dict[str, Metric]:
    if kind not in model.results:
        return {}
    return {one.group: one for one in model.results[kind].metrics if one.rule == rule}


def widest_of(model: ReportedModel, rule: str) -> dict[str, Metric]:
    """Effects by the widest beam, by construction and place."""
    if PATHS not in model.results:
        return {}
    metrics = model.results[PATHS].metrics
    last = metrics[-1].level
    return {f"{one.group}, {one.name}": one for one in metrics if one.rule == rule and one.level == last}


def fact(model: ReportedModel, name: str) -> Cell:
    return number(model.results[READING].content[name]) if READING in model.results else absent()


def ms_per_bit(model: ReportedModel) -> Cell:
    if READING not in model.results:
        return absent()
    return number(model.results[READING].content["ms_per_bit"]["total"], 2)


def figure(name: str, title: str, chart: EffectPlot) -> Figure:
    """A picture, and the same in words."""
    lines = []
    for place, group in enumerate(chart.groups):
        values = ((model, points[place]) for model, points in chart.points.items())
        shown = ", ".join(f"{model} {point.value:+.1f}" for model, point in values if point is not None)
        lines.append(f"{group}: {shown or 'nothing'}.")

    def draw(path: Path) -> None:
        chart.draw(path)

    return Figure(name, title, f"{title} Points with intervals. {' '.join(lines)}", draw)
