"""Numbers of results as cells: what a results file says in, text with its interval out, or a dash that says what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dtg.evaluation.perplexity_report import figure
from dtg.evaluation.report.finding import Kind
from dtg.evaluation.report.page import MISSING, Cell

Notes = tuple[str, ...]
COMMANDS: Mapping[Kind, str] = {
    "ppl": "`dtg evaluate ppl --conllu FILE --model MODEL --name NAME --out FOLDER`",
    "blimp": "`dtg evaluate blimp DIR --model MODEL --name NAME --out FOLDER`",
    "sg": "`dtg evaluate sg DIR --model MODEL --name NAME --out FOLDER`",
    "rerank": "`dtg evaluate rerank GOLD.conllu --model MODEL --name NAME --out FOLDER`",
    "parser": "`dtg evaluate parser GOLD.conllu --parser PARSER --json > FOLDER/parser.json`",
}


def missing(kind: Kind) -> Cell:
    """For a number that a command can make."""
    return Cell(MISSING, (f"Not evaluated yet: {COMMANDS[kind]} makes it.",))


def absent(*why: str) -> Cell:
    """For a number that there is not."""
    return Cell(MISSING, why)


def accuracy(one: Mapping[str, Any], notes: Notes = (), value: str = "accuracy", interval: str = "interval") -> Cell:
    """A share in percent with its interval, as evaluations write it."""
    low, high = one[interval]
    return Cell(f"{one[value]:.1f} [{low:.1f}, {high:.1f}]", notes, one[value], (low, high))


def difference(value: float, interval: Sequence[float], notes: Notes = ()) -> Cell:
    """Points of a hundred, with a sign."""
    low, high = interval
    return Cell(f"{value:+.1f} [{low:+.1f}, {high:+.1f}]", notes, value, (low, high))


def perplexity(one: Mapping[str, float] | None, sign: str = "", notes: Notes = ()) -> Cell:
    """A perplexity with its interval; `sign` says what is known of it."""
    if one is None:
        return absent()
    low, high = one["low"], one["high"]
    before = f"{sign} " if sign in ("≤", "≈") else ""
    return Cell(f"{before}{figure(one['value'])} [{figure(low)}, {figure(high)}]", notes, one["value"], (low, high))


def number(value: float | None, decimals: int = 0, notes: Notes = ()) -> Cell:
    """A number without an interval."""
    return absent(*notes) if value is None else Cell(f"{value:,.{decimals}f}", notes, value)


def texts(*some: str) -> list[Cell]:
    """Cells of plain text, such as those of a header."""
    return [Cell(text) for text in some]
