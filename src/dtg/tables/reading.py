"""Tables read row by row: a CSV, TSV, JSON lines or Parquet file in, rows by column name, with their place, out."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dtg.errors import InputError
from dtg.tables.formats import DELIMITERS, FORMATS
from dtg.tables.parquet import check_pyarrow

TableRow = tuple[str, dict[str, Any]]  # where it is ("line 3"), and its values
MISSING = frozenset({"", "NA", "nan", "NaN", "None"})


def read_rows(path: Path) -> Iterator[TableRow]:
    """The rows of a table; its name says which format it has."""
    if not path.is_file():
        raise InputError(f"cannot read {path}: there is no such file.")
    format = next((known for known in FORMATS if path.suffix.lower() == f".{known}"), None)
    if format is None:
        raise InputError(f"cannot read {path}: a table is expected, a file that ends in .{', .'.join(FORMATS)}.")
    if format == "parquet":
        yield from parquet_rows(path)
        return
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            if format == "jsonl":
                for number, line in enumerate(file, start=1):
                    yield f"line {number}", object_of(line, path, number)
            else:
                reader = csv.reader(file, delimiter=DELIMITERS[format], strict=True)
                names = next(reader, [])
                for values in reader:
                    yield f"line {reader.line_num}", fields_of(names, values, path, reader.line_num)
    except UnicodeDecodeError:
        raise InputError(f"cannot read {path}: it is not UTF-8. Convert the file to UTF-8.") from None
    except csv.Error as error:
        raise InputError(f"cannot read {path}, line {reader.line_num}: {error}.") from None


def fields_of(names: Sequence[str], values: Sequence[str], path: Path, line: int) -> dict[str, Any]:
    if len(values) != len(names):
        raise InputError(f"cannot read {path}, line {line}: there are {len(values)} fields under {len(names)} names.")
    return dict(zip(names, values, strict=True))


def object_of(line: str, path: Path, number: int) -> dict[str, Any]:
    try:
        content = json.loads(line)
    except ValueError as error:
        raise InputError(f"cannot read {path}, line {number}: it is not JSON ({error}).") from None
    if not isinstance(content, dict):
        raise InputError(f"cannot read {path}, line {number}: a JSON object is expected.")
    return content


def parquet_rows(path: Path) -> Iterator[TableRow]:
    check_pyarrow()
    import pyarrow
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            rows = (row for batch in file.iter_batches() for row in batch.to_pylist())
            yield from ((f"row {number}", row) for number, row in enumerate(rows, start=1))
    except pyarrow.ArrowInvalid as error:
        raise InputError(f"cannot read {path}: it is not a Parquet file ({error}).") from None


def number_in(row: dict[str, Any], name: str, kind: type[int] | type[float], where: str) -> int | float | None:
    """A number of a row, or None where it is missing."""
    value = row[name]
    if value is None or value != value or value in MISSING:  # NaN is what does not equal itself
        return None
    try:
        number = kind(value)
        if isinstance(value, bool) or (not isinstance(value, str) and number != value):
            raise ValueError
    except (OverflowError, TypeError, ValueError):
        expected = "a whole number" if kind is int else "a number"
        raise InputError(f"{where}: {name} must be {expected}; it is {value!r}.") from None
    return number
