"""Rows of a table as bytes: CSV, TSV or JSON lines, in UTF-8, one line for each row.

CSV is what R's read.csv and pandas take as it is: a header, a comma, quotes (doubled inside) only where they are needed,
nothing where a value is missing. TSV is the same with tabs. Numbers are written so that they come back exactly.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from dtg.errors import InputError
from dtg.io.files import check_choice
from dtg.tables.columns import Column, Row, Value

Format = Literal["csv", "tsv", "jsonl", "parquet"]
FORMATS: tuple[Format, ...] = ("csv", "tsv", "jsonl", "parquet")
DELIMITERS: dict[Format, str] = {"csv": ",", "tsv": "\t"}
NEEDS_QUOTES = re.compile(r'[",\t\r\n]')


def format_of(path: Path) -> Format:
    """The format that a file's name asks for."""
    for known in FORMATS:
        if path.suffix.lower() == f".{known}":
            return known
    raise InputError(
        f"the name of {path} does not say in which format to write it. "
        f"Let it end in .{', .'.join(FORMATS)}, or pass --format."
    )


class Encoder:
    """Turns a table's rows into lines; Parquet files are made of JSON lines (see parquet.py)."""

    def __init__(self, format: Format, columns: Sequence[Column]) -> None:
        check_choice("format", format, FORMATS)
        self.delimiter = DELIMITERS.get(format)
        self.names = [column.name for column in columns]

    def header(self) -> bytes:
        """What comes before the first row."""
        return b"" if self.delimiter is None else self._separated(self.names)

    def encode(self, rows: Sequence[Row]) -> bytes:
        """The lines of some rows."""
        if self.delimiter is not None:
            return b"".join(map(self._separated, rows))
        objects = (dict(zip(self.names, row, strict=True)) for row in rows)
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in objects).encode()

    def _separated(self, row: Sequence[Value]) -> bytes:
        assert self.delimiter is not None
        return (self.delimiter.join(map(field, row)) + "\n").encode()


def field(value: Value) -> str:
    """One value between delimiters."""
    if isinstance(value, str):
        # csv.writer of Python 3.11 leaves a carriage return unquoted, which its own reader then takes for a new row.
        return '"' + value.replace('"', '""') + '"' if NEEDS_QUOTES.search(value) else value
    return "" if value is None else repr(value)
