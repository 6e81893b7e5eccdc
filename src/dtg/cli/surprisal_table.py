"""A sentence's surprisal for people: words down, a bar for each, the sentence's log-probability below."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dtg.cli.table_options import BaseChoice

if TYPE_CHECKING:
    from dtg.scoring.columns import Per
    from dtg.scoring.surprisal import SentenceSurprisal
    from dtg.tables.columns import Value

BAR = 12  # cells
EIGHTHS = " ▏▎▍▌▋▊▉█"


def surprisal_table(result: SentenceSurprisal, base: BaseChoice, per: Per, end: bool) -> Table:
    """The columns that fit 80 cells."""
    from dtg.scoring.columns import SURPRISAL_COLUMNS, surprisal_rows

    names = [column.name for column in SURPRISAL_COLUMNS]
    rows = [dict(zip(names, row, strict=True)) for row in surprisal_rows(result, 1, base=base.base, per=per, end=end)]
    largest = max(number(row["surprisal"]) for row in rows)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("word", max_width=18, overflow="fold")
    table.add_column(f"surprisal, {base.unit}", no_wrap=True)
    for name in ("lexical", "structural", "entropy", "depth", "kept"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        value = number(row["surprisal"])
        kept = row["kept"]
        table.add_row(
            Text(printable(str(row["word"]))),
            Text.assemble(f"{value:6.2f} ", (bar(value, largest), "cyan")),
            *(two_places(row[name]) for name in ("lexical", "structural", "entropy", "stack_depth")),
            "" if kept is None else share(number(kept)),
        )
    return table


def show(
    console: Console, result: SentenceSurprisal, base: BaseChoice, per: Per, *, end: bool, known: str, title: str | None
) -> None:
    """Print the table of one sentence; `known` says what log p(x) is."""
    from dtg.tables.columns import NATS

    if title is not None:
        console.print(Text(title, style="bold"))
    console.print(surprisal_table(result, base, per, end))
    nats = NATS[base.base]
    console.print(
        Text(
            f"{base.log} p(sentence) = {result.log_probability / nats:.2f} {base.unit}, {known}; "
            f"<END> is {result.end_surprisal / nats:.2f} of it\n"
        ),
        soft_wrap=True,
    )


def bar(value: float, largest: float) -> str:
    """A bar of at most BAR cells, in eighths of a cell.

    >>> bar(1.0, 2.0).rstrip()
    '██████'
    """
    if not largest > 0 or not value > 0:
        return ""
    whole, eighths = divmod(round(8 * BAR * min(1.0, value / largest)), 8)
    return ("█" * whole + EIGHTHS[eighths]).rstrip()


def printable(word: str) -> str:
    r"""A word that cannot steer a terminal: an escape character becomes \x1b."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in word)


def share(kept: float) -> str:
    """Per cent, rounded down: 100 % says that nothing was lost.

    >>> share(0.99999), share(1.0)
    ('99.9%', '100%')
    """
    return "100%" if kept >= 1 else f"{math.floor(1000 * kept) / 10:.1f}%"


def two_places(value: Value) -> str:
    return "" if value is None else f"{number(value):.2f}"


def number(value: Value) -> float:
    assert isinstance(value, float | int)
    return float(value)
