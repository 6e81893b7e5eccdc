"""CoNLL-U files that are written sentence by sentence and can be resumed: tables (dtg.tables.files) whose rows are trees.

A row is one tree, as text. What has been written is recorded beside the file, in OUT.meta.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from dtg.io.locks import Lock
from dtg.tables.columns import Column, Row
from dtg.tables.files import StreamTable, TableFile
from dtg.tables.formats import Encoder, Format
from dtg.tables.replacement import TablePaths
from dtg.tables.sidecar import Sidecar


class TreeEncoder(Encoder):
    """Rows as they are: each is the text of a tree with its closing blank line."""

    def __init__(self) -> None:
        super().__init__("jsonl", ())  # a format without a header

    def encode(self, rows: Sequence[Row]) -> bytes:
        return "".join(str(text) for (text,) in rows).encode()


class TreeStream(StreamTable):
    """Trees on a stream."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file, "jsonl", ())
        self.encoder = TreeEncoder()


class TreeFile(TableFile):
    """Trees in a file, with its sidecar. Made by `open`."""

    def __init__(
        self, paths: TablePaths, format: Format, columns: Sequence[Column], sidecar: Sidecar, lock: Lock
    ) -> None:
        super().__init__(paths, format, columns, sidecar, lock)
        self.encoder = TreeEncoder()
