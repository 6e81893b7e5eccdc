"""SyntaxGym results for people: scores by both rules, or comparisons, in; Markdown tables out. Numbers are percent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dtg.evaluation.markdown import p_value, table
from dtg.evaluation.sg.comparison import Comparison
from dtg.evaluation.sg.scores import LEVEL, Score, Scores
from dtg.evaluation.sg.verdicts import RULES, Rule

RULE_TITLES: dict[Rule, str] = {"first": "first prediction", "all": "all predictions"}
INTERVAL = f"{100 * LEVEL:g} % interval"


def scores_markdown(rules: Mapping[Rule, Scores]) -> str:
    """The averages, circuits and suites of one model, by each rule given."""
    header = ["items", *(title for rule in rules for title in (RULE_TITLES[rule], INTERVAL, "ties"))]
    first, *_ = scores = list(rules.values())
    averages = [
        [one[0].suites.name, one[0].mean, *cells(average.score for average in one)]
        for one in zip(*(each.averages for each in scores), strict=True)
    ]
    circuits = [[one[0].name, *cells(one)] for one in zip(*(each.circuits for each in scores), strict=True)]
    suites = [
        [one[0].name, *cells(one), " / ".join(map(percent, first.predictions[one[0].name]))]
        for one in zip(*(each.suites for each in scores), strict=True)
    ]
    sets = dict.fromkeys(average.suites for average in first.averages)
    parts = [
        table(("", "mean", *header), averages),
        "".join(f"- {some.name}: {some.meaning}.\n" for some in sets)
        + "".join(f"- {RULE_TITLES[rule]}: {RULES[rule]}.\n" for rule in rules),
        table(("circuit", *header), circuits) if circuits else "",
        table(("suite", *header, "each prediction"), suites),
    ]
    return "\n".join(part for part in parts if part)


def comparison_markdown(comparisons: Iterable[Comparison], names: Sequence[str]) -> str:
    """Two models: the overlap table, for all items and for each circuit, by each rule."""
    return "\n".join(
        f"By {RULE_TITLES[comparison.rule]}: {names[0]} and {names[1]}.\n\n"
        + table(
            ("", "difference", INTERVAL, "both right", "only the first", "only the second", "neither", "p (McNemar)"),
            [
                [
                    one.name,
                    f"{100 * one.difference:+.1f}",
                    f"[{100 * one.low:+.1f}, {100 * one.high:+.1f}]",
                    *map(str, (one.both, one.only_first, one.only_second, one.neither)),
                    p_value(one.p_value),
                ]
                for one in (comparison.overall, *comparison.circuits)
            ],
        )
        for comparison in comparisons
    )


def cells(scores: Iterable[Score]) -> list[str]:
    """One group's items, and its numbers by each rule."""
    some = list(scores)
    numbers = [text for one in some for text in (percent(one.value), interval(one), str(one.ties))]
    return [str(some[0].items), *numbers]


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def interval(score: Score) -> str:
    return f"[{100 * score.low:.1f}, {100 * score.high:.1f}]"
