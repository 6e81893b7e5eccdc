"""The report's sections on human reading: reading times and garden paths. They are left out where nothing was evaluated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dtg.evaluation.contract import Metric
from dtg.evaluation.figures import EffectPlot
from dtg.evaluation.report.gathering import Found, ReportedModel
from dtg.evaluation.report.page import (
    Cell,
    Figure,
    ReportTable,
    Section,
    Text,
    absent,
    described,
    difference,
    number,
    parts_of,
)
from dtg.evaluation.report.pivots import effects_table, header_of, metrics_of
from dtg.evaluation.tasks.garden_paths.pages import EXPLAINED as EFFECTS_EXPLAINED
from dtg.evaluation.tasks.garden_paths.task import GardenPaths
from dtg.evaluation.tasks.reading.pages import EXPLAINED as READING_EXPLAINED
from dtg.evaluation.tasks.reading.pages import UNIT
from dtg.evaluation.tasks.reading.task import ReadingTask

READING, PATHS = ReadingTask.name, GardenPaths.name
OVERS = {"baseline": "beyond controls", "surprisal": "beyond controls and surprisal"}
EFFECTS = {"bits": "Effects, in bits.", "ms": "Effects, in ms.", "human_ms": "People's effects, in ms."}


def reading_section(models: Sequence[ReportedModel]) -> Section | None:
    """What each model's columns gain."""
    some = [model for model in models if READING in model.results]
    if not some:
        return None
    title = "Reading times: held-out log-likelihood gained over controls."
    tables = [
        table
        for over, beyond in OVERS.items()
        for found in [[metrics_of(model, READING, rule=over) for model in models]]
        for table in effects_table(
            models, READING, f"reading-{over}", ("predictors", f"Gained {beyond}, {UNIT}."), found, difference
        )
    ]

    def fact(value: Callable[[Found], Cell]) -> list[Cell]:
        return [value(model.results[READING]) if READING in model.results else absent() for model in models]

    facts = [
        [Cell("words fitted"), *fact(lambda found: number(found.content["words"]))],
        [Cell("ms a bit of surprisal"), *fact(lambda found: number(found.content["ms_per_bit"]["total"], 2))],
    ]
    tables.append(ReportTable("reading-facts", "What they are of.", [Cell(""), *header_of(models, READING)], facts))
    warnings = dict.fromkeys(line for model in some for line in model.results[READING].content["warnings"])
    figures = effect_figures("reading", title, some, READING, ReadingTask.chart)
    return Section("Reading times", (*figures, *tables, Text((*warnings, READING_EXPLAINED))))


def garden_paths_section(models: Sequence[ReportedModel]) -> Section | None:
    """The effects at the critical word and after it, in bits, and people's beside them in ms."""
    some = [model for model in models if PATHS in model.results]
    if not some:
        return None
    tables = [
        table
        for rule, title in EFFECTS.items()
        for found in [[widest_of(model, rule) for model in models]]
        for table in effects_table(
            models, PATHS, f"garden-paths-{rule}", ("construction, place", title), found, difference
        )
    ]
    figures = effect_figures("garden-paths", "Garden paths: effects in bits.", some, PATHS, GardenPaths.chart)
    return Section("Garden paths", (*figures, *tables, Text((EFFECTS_EXPLAINED,))))


def widest_of(model: ReportedModel, rule: str) -> dict[str, Metric]:
    """Effects by the widest beam, by construction and place."""
    if PATHS not in model.results:
        return {}
    metrics = model.results[PATHS].metrics
    last = metrics[-1].level
    return {f"{one.group}, {one.name}": one for one in metrics if one.rule == rule and one.level == last}


def effect_figures(
    file: str,
    title: str,
    models: Sequence[ReportedModel],
    kind: str,
    chart_of: Callable[[Mapping[str, Sequence[Metric]]], EffectPlot],
) -> list[Figure]:
    """Points of all models, in as many pictures as it takes, and the same in words."""
    figures = []
    for name, suffix, part in parts_of(file, [model.name for model in models]):
        chart = chart_of({one.name: one.results[kind].metrics for one in models if one.name in part})
        words = described(chart.groups, chart.points, "+.1f")
        figures.append(Figure(name, f"{title}{suffix}", f"{title}{suffix} Points with intervals. {words}", chart.draw))
    return figures
