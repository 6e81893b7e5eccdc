"""What the Markdown of all evaluations is made of."""

from __future__ import annotations

from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table: the first column to the left, the others to the right."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def page(title: str, header: Sequence[str], rows: Sequence[Sequence[str]], remarks: Sequence[str]) -> str:
    """A page with one table, and what is to be known about it."""
    listed = "".join(f"- {remark}\n" for remark in remarks)
    return f"# {title}\n\n{table(header, rows)}\n{listed}"


def p_value(p: float) -> str:
    return f"{p:.2g}" if p >= 1e-300 else "< 1e-300"
