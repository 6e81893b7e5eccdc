"""SyntaxGym: models in, the circuits figure, its table, and every average in use out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dtg.evaluation.report.bars import bar_figures, bar_of
from dtg.evaluation.report.cells import COMMANDS, texts
from dtg.evaluation.report.groups import Groups, cell_of, group_rows, header_of
from dtg.evaluation.report.models import Model
from dtg.evaluation.report.overview import PAPER, notes_on, sg_average
from dtg.evaluation.report.page import Cell, Section, Table, Text
from dtg.evaluation.sg.circuits import CIRCUITS, PAPER_LIKELY
from dtg.evaluation.sg.markdown import RULE_TITLES
from dtg.evaluation.sg.verdicts import CONTRADICTION, RULES, Rule

TITLE = "SyntaxGym by circuit, first prediction."
THE_PAPERS = "What the paper most likely reports."
EXPLAINED = (
    *(f"{RULE_TITLES[rule].capitalize()}: {meaning}." for rule, meaning in RULES.items()),
    "Micro: the share of all items that are right. A suite's score is the share of its items, a circuit's the mean over its "
    "suites.",
    CONTRADICTION,
    PAPER_LIKELY,
)


def syntaxgym_section(models: Sequence[Model]) -> Section:
    """The paper's circuits figure, and the numbers behind it."""
    some = [model for model in models if "sg" in model.results]
    if not some:
        return Section("SyntaxGym", (Text((f"Not evaluated yet: {COMMANDS['sg']} makes it.",)),))
    names = {name for model in some for name in circuits_of(model)}
    groups = [*sorted(names - CIRCUITS.keys()), *(name for name in CIRCUITS if name in names)]
    bars = {model.name: [bar_of(circuits_of(model).get(group)) for group in groups] for model in some}
    notes = {model.name: found for model, found in zip(some, notes_on(some, "sg"), strict=True)}
    header = header_of(models, "sg")
    suites = sorted({suite for model in some for suite in suites_of(model)})
    every_suite = group_rows(models, "sg", suites, suites_of)
    return Section(
        "SyntaxGym",
        (
            *bar_figures("circuits", TITLE, groups, bars, notes, chance=None),
            Table("circuits", TITLE, [Cell("circuit"), *header], group_rows(models, "sg", groups, circuits_of)),
            Table(
                "syntaxgym-averages", "Averages in use.", [*texts("suites", "mean", "rule"), *header], averages(models)
            ),
            Table("syntaxgym-suites", "Every suite.", [Cell("suite"), *header], every_suite, is_folded=True),
            Text(EXPLAINED),
        ),
    )


def scores_of(model: Model, rule: Rule = "first") -> Mapping[str, Any]:
    found: Mapping[str, Any] = model.results["sg"].content["scores"][rule]
    return found


def suites_of(model: Model) -> Groups:
    found: Groups = scores_of(model)["suites"]
    return found


def circuits_of(model: Model) -> Groups:
    """The mean that stands for the model, and its circuits."""
    average = sg_average(model)
    return {f"{average['suites']}, mean": average, **scores_of(model)["circuits"]}


def averages(models: Sequence[Model]) -> list[list[Cell]]:
    """A row for each set of suites, mean and rule that any model has."""
    known = [averages_of(model) if "sg" in model.results else None for model in models]
    rows = []
    for name in dict.fromkeys(name for some in known if some is not None for name in some):
        suites, mean, rule = name.split("\n")
        is_the_papers = (suites, mean, rule) == (*PAPER, RULE_TITLES["first"])
        first = Cell(suites, (THE_PAPERS,) if is_the_papers else ())
        rows.append([first, *texts(mean, rule), *(cell_of(some, name) for some in known)])
    return rows


def averages_of(model: Model) -> Groups:
    """Under names of three lines: suites, mean and rule."""
    return {
        f"{one['suites']}\n{one['mean']}\n{title}": one
        for rule, title in RULE_TITLES.items()
        for one in scores_of(model, rule)["averages"]
    }
