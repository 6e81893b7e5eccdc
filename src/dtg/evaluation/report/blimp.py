"""BLiMP: models in, bars by field and by phenomenon and the tables behind them out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from dtg.evaluation.blimp.paradigms import title
from dtg.evaluation.report.bars import bar_figures, bar_of
from dtg.evaluation.report.cells import COMMANDS, absent, accuracy, number
from dtg.evaluation.report.groups import Groups, group_rows, header_of
from dtg.evaluation.report.models import Model
from dtg.evaluation.report.overview import blimp_of, notes_on
from dtg.evaluation.report.page import Cell, Figure, Section, Table, Text

EXPLAINED = (
    "A pair is right if the acceptable sentence has the higher log p. A tie is not right.",
    "By pairs: the share of all pairs. Mean over paradigms: the same where paradigms have equally many pairs. Per word: by "
    "log p divided by the number of words.",
)


def blimp_section(models: Sequence[Model]) -> Section:
    """Figures by field and phenomenon, and the numbers behind them."""
    some = [model for model in models if "blimp" in model.results]
    if not some:
        return Section("BLiMP", (Text((f"Not evaluated yet: {COMMANDS['blimp']} makes it.",)),))
    header = header_of(models, "blimp")
    fields, phenomena, paradigms = (
        group_rows(models, "blimp", names_in(some, level), partial(groups_of, level=level), written)
        for level, written in (("fields", title), ("phenomena", title), ("paradigms", str))
    )
    return Section(
        "BLiMP",
        (
            *figures(some, "fields", "BLiMP by field."),
            *figures(some, "phenomena", "BLiMP by phenomenon."),
            Table("blimp", "All of BLiMP.", [Cell("all"), *header], overall_rows(models)),
            Table("blimp-fields", "By field.", [Cell("field"), *header], fields),
            Table("blimp-phenomena", "By phenomenon.", [Cell("phenomenon"), *header], phenomena),
            Table("blimp-paradigms", "By paradigm.", [Cell("paradigm"), *header], paradigms, is_folded=True),
            Text(EXPLAINED),
        ),
    )


def figures(models: Sequence[Model], level: str, what: str) -> list[Figure]:
    """All pairs, and each group of a level."""
    names = names_in(models, level)
    bars = {
        model.name: [bar_of(blimp_of(model)), *(bar_of(groups_of(model, level).get(name)) for name in names)]
        for model in models
    }
    notes = {model.name: found for model, found in zip(models, notes_on(models, "blimp"), strict=True)}
    return bar_figures(level, what, ["all pairs", *map(title, names)], bars, notes, chance=50.0)


def overall_rows(models: Sequence[Model]) -> list[list[Cell]]:
    """All pairs together, by the conventions in use."""
    columns = [overall_column(model) if "blimp" in model.results else [absent()] * 5 for model in models]
    titles = ("by pairs", "mean over paradigms", "by pairs, per word", "pairs", "ties")
    return [[Cell(name), *cells] for name, *cells in zip(titles, *columns, strict=True)]


def overall_column(model: Model) -> list[Cell]:
    one = blimp_of(model)
    return [
        accuracy(one),
        accuracy(one, value="paradigm_mean", interval="paradigm_mean_interval"),
        accuracy(model.results["blimp"].content["scores"]["per_word"]["overall"]),
        number(one["pairs"]),
        number(one["ties"]),
    ]


def names_in(models: Sequence[Model], level: str) -> list[str]:
    return sorted({name for model in models for name in groups_of(model, level)})


def groups_of(model: Model, level: str) -> Groups:
    found: Groups = model.results["blimp"].content["scores"]["sentence"][level]
    return found
