"""Tables as CSV, TSV, JSON lines or Parquet files: rows encoded as bytes, and read back by column name.

CSV is what R's read.csv and pandas take as it is: a header, a comma, quotes (doubled inside) only where they are needed,
nothing where a value is missing. TSV is the same with tabs. Everything is in UTF-8, with one line for each row, and numbers
are written so that they are read back exactly. Parquet has its index at the end, so a file of it is made of JSON lines, a
bounded number of rows at a time. What a table's sidecar holds is in its key-value metadata, under "dtg".
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from dtg.errors import DamagedFileError, FileError, InputError, MissingExtraError
from dtg.io.atomic import replacing
from dtg.io.json_files import parse_json
from dtg.io.settings import check_choice
from dtg.io.text_files import check_is_file
from dtg.tables.columns import Column, Row, Value
from dtg.tables.delimited import Dialect

Format = Literal["csv", "tsv", "jsonl", "parquet"]
FORMATS: tuple[Format, ...] = ("csv", "tsv", "jsonl", "parquet")
DELIMITERS: dict[Format, str] = {"csv": ",", "tsv": "\t"}
NEEDS_QUOTES = re.compile(r'[",\t\r\n]')
OTHER_TEXT = (".txt", ".dat")  # tables of no particular format: what separates their values is found out
# What programs write for a number that is missing: R, pandas, eye trackers (a full stop), spreadsheets.
MISSING = frozenset({"", ".", "-", "NA", "na", "N/A", "n/a", "#N/A", "<NA>", "nan", "NaN", "None", "null", "NULL"})
ROWS_AT_ONCE = 50_000  # a row group of Parquet

TableRow = tuple[str, dict[str, Any]]  # where it is ("line 3"), and its values


def format_of(path: Path) -> Format:
    """The format that a file's name ends in."""
    for known in FORMATS:
        if path.suffix.lower() == f".{known}":
            return known
    raise InputError(
        f"the name of {path} does not say in which format to write it. "
        f"Let it end in .{', .'.join(FORMATS)}, or pass --format."
    )


class Encoder:
    """Turns a table's rows into lines; for Parquet, into JSON lines."""

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


def read_rows(path: Path, *, guess_encoding: bool = False) -> Iterator[TableRow]:
    """Read the rows of a table one by one; its name says which format it has, and whether it is gzipped.

    Args:
        path: the table; a .csv may have semicolons or tabs for commas, and a .txt or .dat any of these, or spaces.
        guess_encoding: what is not UTF-8 is taken for Windows-1252; otherwise it raises.
    """
    check_is_file(path)
    suffix = suffix_of(path)
    known = next((one for one in FORMATS if suffix == f".{one}"), None)
    is_gzipped = path.suffix.lower() == ".gz"
    if (known is None and suffix not in OTHER_TEXT) or (known == "parquet" and is_gzipped):
        raise FileError(
            f"cannot read {path}: a table is expected, a file that ends in .{', .'.join(FORMATS)}.{advice(suffix)}"
        )
    if known == "parquet":
        yield from parquet_rows(path)
        return
    try:
        if known == "jsonl":
            with gzip.open(path, "rt", encoding="utf-8-sig") if is_gzipped else path.open(encoding="utf-8-sig") as file:
                for number, line in enumerate(file, start=1):
                    if line.strip():
                        yield f"line {number}", object_of(line, path, number)
        else:
            dialect = Dialect.of(path, DELIMITERS.get(known) if known else None, guess_encoding=guess_encoding)
            for number, names, values in dialect.rows(path):
                yield f"line {number}", dict(zip(names, values, strict=True))
    except UnicodeDecodeError:
        raise DamagedFileError(
            f"cannot read {path}: it is not UTF-8. Convert the file to UTF-8 (in Excel: Save As, CSV UTF-8; in R: "
            'write.csv with fileEncoding = "UTF-8").'
        ) from None
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise DamagedFileError(f"cannot read {path}: it is not a whole gzip file. Get the file again.") from None


def suffix_of(path: Path) -> str:
    """What a file's name ends in, before .gz."""
    return (Path(path.stem).suffix if path.suffix.lower() == ".gz" else path.suffix).lower()


def advice(suffix: str) -> str:
    """How a file of another program becomes a table."""
    if suffix in (".xlsx", ".xls", ".ods"):
        return " Save the sheet as CSV: in Excel, Save As, CSV UTF-8."
    if suffix in (".rda", ".rds", ".rdata"):
        return ' In R, write.csv(data, "times.csv", row.names = FALSE) makes one of a data frame.'
    return ""


def object_of(line: str, path: Path, number: int) -> dict[str, Any]:
    try:
        content = parse_json(line)
    except ValueError as error:
        raise DamagedFileError(f"cannot read {path}, line {number}: it is not JSON ({error}).") from None
    if not isinstance(content, dict):
        raise DamagedFileError(f"cannot read {path}, line {number}: a JSON object is expected.")
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
        raise DamagedFileError(f"cannot read {path}: it is not a Parquet file ({error}).") from None


def number_in(row: dict[str, Any], name: str, kind: type[int] | type[float], where: str) -> int | float | None:
    """A number of a row, or None where it is missing."""
    value = row[name].strip() if isinstance(row[name], str) else row[name]
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


def check_pyarrow() -> None:
    """Raise unless Parquet can be written."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingExtraError("pyarrow", "tables", "a Parquet table") from None


def write_parquet(rows: Path, path: Path, columns: Sequence[Column], metadata: str) -> None:
    """Make a Parquet file of a file of JSON lines."""
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    kinds = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64(), bool: pyarrow.bool_()}
    schema = pyarrow.schema([(column.name, kinds[column.kind]) for column in columns], metadata={"dtg": metadata})
    with (
        rows.open(encoding="utf-8", newline="\n") as lines,
        replacing(path) as temporary,
        ParquetWriter(temporary, schema) as writer,
    ):
        while some := [json.loads(line) for line in islice(lines, ROWS_AT_ONCE)]:
            writer.write_table(pyarrow.Table.from_pylist(some, schema=schema))
