"""Parquet tables: a file of JSON lines and its columns in, a whole Parquet file out, a bounded number of rows at a time.

How the table was made is in the file's key-value metadata, under "dtg", as the JSON of its sidecar.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from dtg.errors import MissingExtraError
from dtg.io.files import replacing
from dtg.tables.columns import Column
from dtg.tables.sidecar import Sidecar

ROWS_AT_ONCE = 50_000  # a row group


def check_pyarrow() -> None:
    """Raise unless Parquet can be written."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingExtraError("pyarrow", "tables", "a Parquet table") from None


def write_parquet(rows: Path, path: Path, columns: Sequence[Column], sidecar: Sidecar) -> None:
    """Make `path` of the lines of `rows`."""
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    kinds = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64()}
    schema = pyarrow.schema(
        [(column.name, kinds[column.kind]) for column in columns], metadata={"dtg": sidecar.to_json()}
    )
    with (
        rows.open(encoding="utf-8", newline="\n") as lines,
        replacing(path) as temporary,
        ParquetWriter(temporary, schema) as writer,
    ):
        while some := [json.loads(line) for line in islice(lines, ROWS_AT_ONCE)]:
            writer.write_table(pyarrow.Table.from_pylist(some, schema=schema))
