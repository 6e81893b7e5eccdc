"""How accuracies on minimal pairs are shown: tables of all pairs and of every group, comparisons, and bar charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from dtg.evaluation.comparison import overlap_summary, overlap_table
from dtg.evaluation.contract import Content, Interval, Metric
from dtg.evaluation.rendering import (
    BarChart,
    Block,
    Heading,
    Lines,
    Table,
    accuracy_table,
    bar_of,
    interval,
    percent,
)
from dtg.evaluation.tasks.pairs.scored import Levels

TITLES = {
    "sentence": "log p of the sentence",
    "per_word": "log p per word",
    "region": "log p of the region",
    "region_per_word": "log p per word of the region",
}
ONLY = ("only_a", "only_b")


class PairPages:
    """What is told of the accuracies in results.json. Groups are of the kinds in `levels`; pairs are drawn within `strata`."""

    heading: ClassVar[str]
    strata: ClassVar[str]
    levels: ClassVar[Levels]
    compared_level: ClassVar[str]
    pictured: ClassVar[Sequence[str]]

    @classmethod
    def metrics(cls, content: Content) -> list[Metric]:
        found = []
        for rule, scores in content["scores"].items():
            for level in ("overall", *(level for level in cls.levels if level in scores)):
                groups = {"all pairs": scores["overall"]} if level == "overall" else scores[level]
                mean = f"{cls.strata[:-1]}_mean"
                for group, one in groups.items():
                    counts = {"n": one["pairs"], "ties": one["ties"], "rule": rule, "level": level}
                    found.append(Metric(group, "accuracy", Interval.of(one), **counts))
                    if level == "overall":
                        found.append(Metric(group, mean, Interval.of(one, mean, f"{mean}_interval"), **counts))
        return found

    @classmethod
    def tests_in(cls, compared: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
        """All tests of one convention, by what they are of."""
        groups = {cls.title(name): tests[0] for name, tests in compared[cls.compared_level].items()}
        return {"all pairs": compared["tests"][0], **groups}

    @classmethod
    def title(cls, group: str) -> str:
        """A group's name as one writes it in a table or picture."""
        return group

    @classmethod
    def page(cls, name: str, content: Content) -> list[Block]:
        blocks: list[Block] = [Heading(f"{cls.heading}: {name}"), Lines([content["title"]])]
        blocks += cls.tables_of(content["scores"], wide=True)
        blocks += [Lines([content["intervals"]]), Lines(content["notes"], is_list=True)]
        if content["against"]:
            blocks.append(Heading("Comparison", 2))
            for rule, compared in content["against"].items():
                blocks += cls.comparison_blocks(rule, compared)
        return blocks

    @classmethod
    def tables_of(cls, scores: Mapping[str, Any], *, wide: bool) -> list[Block]:
        """All pairs and, for each level, every group; not `wide`, all pairs and the first level."""
        mean = f"{cls.strata[:-1]}_mean"
        total = {
            rule: {"all pairs": one["overall"], f"mean over {cls.strata}": mean_of(one, mean)}
            for rule, one in scores.items()
        }

        def lead(shown: str, one: Mapping[str, Any]) -> list[str]:
            counts = [f"{one[cls.strata]:,}"] if wide else []
            return [shown, *counts, f"{one['pairs']:,}"]

        def rows(level: str) -> dict[str, Any]:
            return {rule: one[level] for rule, one in scores.items()}

        counts = [cls.strata, "pairs"] if wide else ["pairs"]
        first = next(iter(cls.levels))
        if not wide:
            titled = {
                rule: {cls.title(group): one for group, one in found.items()} for rule, found in rows(first).items()
            }
            merged = {rule: {**total[rule], **titled[rule]} for rule in scores}
            return [accuracy_table("", counts, TITLES, merged, lead, wide=False)]
        blocks: list[Block] = [accuracy_table("", counts, TITLES, total, lead)]
        for level in cls.levels:
            if level == cls.strata:
                blocks.append(
                    accuracy_table(
                        singular(level), ["pairs"], TITLES, rows(level), lambda name, one: [name, f"{one['pairs']:,}"]
                    )
                )
            else:
                blocks.append(
                    accuracy_table(
                        singular(level), counts, TITLES, rows(level), lambda name, one: lead(cls.title(name), one)
                    )
                )
        return blocks

    @classmethod
    def comparison_blocks(cls, rule: str, compared: Mapping[str, Any]) -> list[Block]:
        """Both models' numbers on the same pairs, and every test."""
        models = compared["models"]
        scores = list(models.values())
        pairs = f"{scores[0]['overall']['pairs']:,}"
        overall = [one["overall"] for one in scores]
        mean = f"{cls.strata[:-1]}_mean"
        rows = [
            ["all pairs", pairs, *(f"{percent(one['accuracy'])} {interval(one['interval'])}" for one in overall)],
            [f"mean over {cls.strata}", pairs, *(percent(one[mean]) for one in overall)],
            ["ties, in all", pairs, *(f"{one['ties']:,}" for one in overall)],
        ]
        blocks: list[Block] = [Lines([f"Compared by {TITLES[rule]}."]), Table(["", "pairs", *models], rows)]
        for level in cls.levels:
            if level == cls.strata and len(cls.levels) > 1:
                continue
            groups = [
                [cls.title(name), f"{one['pairs']:,}", *(percent(each[level][name]["accuracy"]) for each in scores)]
                for name, one in scores[0][level].items()
            ]
            blocks.append(Table([singular(level), "pairs", *models], groups))
        label = " − ".join(models)
        blocks.append(overlap_table(cls.tests_in(compared), "pairs", ONLY, label))
        return [*blocks, Lines(compared["notes"], is_list=True)]

    @classmethod
    def summary(cls, name: str, content: Content) -> list[Block]:
        blocks: list[Block] = [Lines([f"{name}: {content['title']}"]), *cls.tables_of(content["scores"], wide=False)]
        blocks.append(Lines([content["intervals"]]))
        if content["against"]:
            first = next(iter(content["against"].values()))
            test = first["tests"][0]
            blocks += cls.comparison((test["a"], test["b"]), content)
        return blocks

    @classmethod
    def comparison(cls, names: tuple[str, str], content: Content) -> list[Block]:
        first = next(iter(content["against"].values()))  # by log p of the sentence; the other is in the files
        return [*overlap_summary(names, cls.tests_in(first), ONLY), Lines(first["notes"])]

    @classmethod
    def pictures(cls, name: str, content: Content) -> dict[str, BarChart]:
        scores = next(iter(content["scores"].values()))
        return {level: cls.chart({name: scores}, level) for level in cls.pictured}

    @classmethod
    def chart(cls, models: Mapping[str, Mapping[str, Any]], level: str) -> BarChart:
        """A row for all pairs and one for each group; a model that has not been scored on a group has no bar there."""
        names = sorted({name for scores in models.values() for name in scores[level]})
        bars = {
            model: [bar_of(scores["overall"]), *(bar_of(scores[level].get(name)) for name in names)]
            for model, scores in models.items()
        }
        return BarChart(["all pairs", *map(cls.title, names)], bars, chance=50.0)


def singular(level: str) -> str:
    return "phenomenon" if level == "phenomena" else level.removesuffix("s")


def mean_of(scores: Mapping[str, Any], mean: str) -> dict[str, Any]:
    """The mean over groups, as an accuracy."""
    overall = scores["overall"]
    return {**overall, "accuracy": overall[mean], "interval": overall[f"{mean}_interval"]}
