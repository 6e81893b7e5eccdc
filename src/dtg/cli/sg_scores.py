"""What `dtg evaluate sg` prints: averages, circuits and a comparison in, tables for people out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from dtg.io.messages import pluralize

if TYPE_CHECKING:
    from dtg.evaluation.sg import Comparison, Score
    from dtg.evaluation.sg.reporting import Report


def show_scores(report: Report) -> None:
    """The averages, the circuits, and how another model compares."""
    from dtg.evaluation.sg.markdown import RULE_TITLES

    typer.echo(f"{report.name}: {report.title}")
    for note in report.notes:
        typer.echo(note)
    typer.echo(f"\n{'':28}{'items':>6}" + "".join(f"   {RULE_TITLES[rule]:<22}" for rule in report.scores).rstrip())
    by_rule = list(report.scores.values())
    for averages in zip(*(scores.averages for scores in by_rule), strict=True):
        show_line(f"{averages[0].suites.name}, {averages[0].mean}", [average.score for average in averages])
    typer.echo()
    for circuits in zip(*(scores.circuits for scores in by_rule), strict=True):
        show_line(circuits[0].name, circuits)
    typer.echo()
    for remark in report.remarks():
        typer.echo(remark)
    for comparison in report.comparisons:
        if comparison.rule == report.rule and report.compared is not None:
            show_comparison(comparison, *report.compared)


def show_line(label: str, rules: Sequence[Score]) -> None:
    """One group of items by each rule."""
    from dtg.evaluation.sg.markdown import interval

    shown = (
        f"{100 * one.value:5.1f} {interval(one)}" + (f" {pluralize(one.ties, 'tie')}" if one.ties else "")
        for one in rules
    )
    typer.echo(f"{label:28}{rules[0].items:6}{''.join(f'   {text:<22}' for text in shown)}".rstrip())


def show_comparison(comparison: Comparison, first: str, second: str) -> None:
    """The paper's overlap table."""
    from dtg.evaluation.markdown import p_value
    from dtg.evaluation.sg.markdown import RULE_TITLES

    typer.echo(f"\n{first} (1) and {second} (2), by {RULE_TITLES[comparison.rule]}: items right")
    typer.echo(f"{'':28}{'both':>6}{'only 1':>8}{'only 2':>8}{'neither':>9}   1 − 2 (95 %), p (McNemar)")
    for one in (comparison.overall, *comparison.circuits):
        difference = (
            f"{100 * one.difference:+.1f} [{100 * one.low:+.1f}, {100 * one.high:+.1f}], {p_value(one.p_value)}"
        )
        typer.echo(f"{one.name:28}{one.both:6}{one.only_first:8}{one.only_second:8}{one.neither:9}   {difference}")
