"""BLiMP's results for people: scores or a comparison in, Markdown tables out. Numbers are percent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dtg.evaluation.blimp.comparison import Comparison
from dtg.evaluation.blimp.intervals import Interval
from dtg.evaluation.blimp.paradigms import title
from dtg.evaluation.blimp.scored import Convention
from dtg.evaluation.blimp.scores import Accuracy, Scores
from dtg.evaluation.markdown import p_value, table

CONVENTION_TITLES: dict[Convention, str] = {"sentence": "log p of the sentence", "per_word": "log p per word"}


def scores_markdown(conventions: Mapping[Convention, Scores]) -> str:
    """One model: all pairs, fields, phenomena and paradigms, by each convention given."""
    scores = list(conventions.values())
    overall = scores[0].overall
    sizes = [f"{overall.paradigms:,}", f"{overall.pairs:,}"]
    all_pairs, mean = ["all pairs", *sizes], ["mean over paradigms", *sizes]
    header = ["pairs"]
    for convention, one in conventions.items():
        header += [CONVENTION_TITLES[convention], interval_title(one), "ties"]
        all_pairs += measured(one.overall)
        mean += [percent(one.overall.paradigm_mean), interval(one.overall.paradigm_interval), f"{one.overall.ties:,}"]
    fields, phenomena, paradigms = (
        [[name, str(groups[0][name].paradigms), *across([group[name] for group in groups])] for name in groups[0]]
        for groups in ([getattr(one, level) for one in scores] for level in ("fields", "phenomena", "paradigms"))
    )
    return "\n".join(
        (
            table(("", "paradigms", *header), [all_pairs, mean]),
            table(("field", "paradigms", *header), [[title(name), *cells] for name, *cells in fields]),
            table(("phenomenon", "paradigms", *header), [[title(name), *cells] for name, *cells in phenomena]),
            table(("paradigm", *header), [[name, *cells] for name, _, *cells in paradigms]),
        )
    )


def across(conventions: Sequence[Accuracy]) -> list[str]:
    """The cells of one group."""
    return [f"{conventions[0].pairs:,}", *(cell for one in conventions for cell in measured(one))]


def comparison_markdown(comparison: Comparison) -> str:
    """Several models: a column for each, then rows for every two of them: of all pairs, and of each phenomenon."""
    scores = list(comparison.models.values())
    pairs = f"{scores[0].overall.pairs:,}"
    rows = [
        ["all pairs", pairs, *(f"{percent(one.overall.share)} {interval(one.overall.interval)}" for one in scores)],
        ["mean over paradigms", pairs, *(percent(one.overall.paradigm_mean) for one in scores)],
        ["ties, in all", pairs, *(f"{one.overall.ties:,}" for one in scores)],
    ]
    fields = [
        [title(name), f"{one.pairs:,}", *(percent(each.fields[name].share) for each in scores)]
        for name, one in scores[0].fields.items()
    ]
    phenomena = [
        [title(name), f"{one.pairs:,}", *(percent(each.phenomena[name].share) for each in scores)]
        for name, one in scores[0].phenomena.items()
    ]
    tests = [
        [
            f"{test.a} − {test.b}",
            title(name),
            f"{100 * test.difference:+.1f}",
            interval(test.interval, "+"),
            *(f"{count:,}" for count in (test.both, test.only_a, test.only_b, test.neither)),
            p_value(test.p),
        ]
        for together in zip(*comparison.groups.values(), strict=True)
        for name, test in zip(comparison.groups, together, strict=True)
    ]
    measures = (
        "pairs",
        "difference",
        interval_title(scores[0]),
        "both right",
        "only the first",
        "only the second",
        "neither",
        "p (McNemar)",
    )
    return "\n".join(
        (
            f"Compared by {CONVENTION_TITLES[comparison.convention]}.\n",
            table(("", "pairs", *comparison.models), rows),
            table(("field", "pairs", *comparison.models), fields),
            table(("phenomenon", "pairs", *comparison.models), phenomena),
            table(("", *measures), tests),
        )
    )


def measured(one: Accuracy) -> list[str]:
    return [percent(one.share), interval(one.interval), f"{one.ties:,}"]


def interval_title(scores: Scores) -> str:
    return f"{100 * scores.resampling.level:g} % interval"


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def interval(of: Interval, sign: str = "") -> str:
    return f"[{100 * of.low:{sign}.1f}, {100 * of.high:{sign}.1f}]"
