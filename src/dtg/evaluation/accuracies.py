"""What tasks with right and wrong items share: tables of their accuracies, overlap tables of two models, and bar charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol

from dtg.evaluation.comparison import ONLY, overlap_summary
from dtg.evaluation.contract import Content, Metric, Task
from dtg.evaluation.rendering import BarChart, Block, Heading, Table, TextBlock, interval, percent, pluralize


class AccuracyTask(Task, Protocol):
    """A task whose metrics are accuracies of groups of items, by one or more rules of when an item is right."""

    heading: ClassVar[str]
    items_name: ClassVar[str]  # pairs, items
    strata: ClassVar[str]  # the groups that resamples keep: paradigms, suites
    rules: ClassVar[Mapping[str, str]]  # by which items are counted, with their titles
    labels: ClassVar[Mapping[str, str]]  # the kinds of groups, as metrics name them, with the titles of their columns
    summarized: ClassVar[Sequence[str]]  # those that a summary shows
    pictured: ClassVar[Mapping[str, Sequence[str]]]  # those in each picture, by the picture's name
    only: ClassVar[tuple[str, str]] = ONLY  # what results.json calls items that one model alone gets right

    @classmethod
    def title(cls, group: str) -> str:
        """A group's name as one writes it in a table or picture."""
        return group

    @classmethod
    def rule_of(cls, content: Content) -> str:
        """The rule that pictures and comparisons follow."""
        return str(content.get("rule", next(iter(content["scores"]))))

    @classmethod
    def tests(cls, content: Content, rule: str) -> dict[str, Mapping[str, Any]]:
        """The paired tests of a comparison, by group, as results.json has them."""

    @classmethod
    def compared_names(cls, content: Content) -> tuple[str, str]:
        """The models that were compared."""

    @classmethod
    def compared_blocks(cls, content: Content, rule: str) -> list[Block]:
        """A comparison by one rule, for results.md."""

    @classmethod
    def explained(cls, content: Content) -> TextBlock:
        """What follows the first table of results.md."""
        return TextBlock([])

    @classmethod
    def table_of(cls, metrics: Sequence[Metric], level: str) -> Table:
        """A row for each group of a level and, for each rule, its accuracy, interval and ties."""
        rows = by_group([one for one in metrics if one.level == level])
        rules = dict.fromkeys(one.rule for one in metrics)
        first = next(iter(next(iter(rows.values())).values())) if rows else None
        header = [cls.labels[level], *([cls.strata] if first and first.strata else []), cls.items_name]
        header += [title for rule in rules for title in (cls.rules[rule], "95 % interval", "ties")]
        cells = []
        for (group, _), found in rows.items():
            one = next(iter(found.values()))
            counts = [*([f"{one.strata:,}"] if one.strata else []), f"{one.n:,}"]
            numbers = [
                text
                for each in found.values()
                for text in (percent(each.value.value), interval((each.value.low, each.value.high)), f"{each.ties:,}")
            ]
            cells.append([cls.title(group), *counts, *numbers])
        return Table(header, cells)

    @classmethod
    def page(cls, name: str, content: Content) -> list[Block]:
        metrics = cls.metrics(content)
        first, *others = (cls.table_of(metrics, level) for level in cls.labels)
        blocks: list[Block] = [Heading(f"{cls.heading}: {name}"), TextBlock([content["title"]]), first]
        blocks += [cls.explained(content), *others, *(TextBlock([one]) for one in remarks_of(content))]
        blocks.append(TextBlock(content["notes"], is_list=True))
        if content["against"]:
            blocks.append(Heading("Comparison", 2))
            for rule in (rule for rule in content["against"] if rule in cls.rules):
                blocks += cls.compared_blocks(content, rule)
        return blocks

    @classmethod
    def summary(cls, name: str, content: Content) -> list[Block]:
        metrics = [one for one in cls.metrics(content) if one.level in cls.summarized]
        titles = [cls.rules[rule] for rule in dict.fromkeys(one.rule for one in metrics)]
        rows = [
            [
                cls.title(group) if kind in ("", "accuracy") or "mean over" in group else f"{group}, {kind}",
                f"{next(iter(found.values())).n:,}",
                *(in_one_cell(one) for one in found.values()),
            ]
            for (group, kind), found in by_group(metrics).items()
        ]
        blocks: list[Block] = [TextBlock([f"{name}: {content['title']}", *content["notes"]])]
        blocks += [Table(["", cls.items_name, *titles], rows), TextBlock(remarks_of(content))]
        return blocks + (cls.comparison(cls.compared_names(content), content) if content["against"] else [])

    @classmethod
    def comparison(cls, names: tuple[str, str], content: Content) -> list[Block]:
        return overlap_summary(names, cls.tests(content, cls.rule_of(content)), cls.only)

    @classmethod
    def pictures(cls, name: str, content: Content) -> dict[str, BarChart]:
        rule = cls.rule_of(content)
        metrics = [one for one in cls.metrics(content) if one.rule == rule]
        return {
            picture: cls.chart({name: [one for one in metrics if one.level in levels]})
            for picture, levels in cls.pictured.items()
        }

    @classmethod
    def chart(cls, models: Mapping[str, Sequence[Metric]]) -> BarChart:
        """A bar for each model in each group; a model that has no metric of a group has no bar there."""
        found = {
            name: {one.group: one.value for one in metrics if cls.is_drawn(one)} for name, metrics in models.items()
        }
        groups = list(dict.fromkeys(group for some in found.values() for group in some))
        bars = {name: [some.get(group) for group in groups] for name, some in found.items()}
        return BarChart([cls.title(group) for group in groups], bars, cls.chance)

    chance: ClassVar[float | None] = None

    @classmethod
    def is_drawn(cls, metric: Metric) -> bool:
        return metric.name == "accuracy"


def by_group(metrics: Sequence[Metric]) -> dict[tuple[str, str], dict[str, Metric]]:
    """By group and name, and then by rule."""
    found: dict[tuple[str, str], dict[str, Metric]] = {}
    for one in metrics:
        found.setdefault((one.group, one.name), {})[one.rule] = one
    return found


def in_one_cell(one: Metric) -> str:
    ties = f" {pluralize(one.ties, 'tie')}" if one.ties else ""
    return f"{percent(one.value.value)} {interval((one.value.low, one.value.high))}{ties}"


def remarks_of(content: Content) -> list[str]:
    """What a reader of these numbers should know about any such numbers."""
    return list(content["remarks"]) if "remarks" in content else [content["intervals"]]
