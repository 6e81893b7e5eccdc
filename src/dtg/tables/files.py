"""Tables in files and on streams that grow sentence by sentence, and survive interruption.

Rows are flushed after every sentence. After each group of sentences the rows are forced to disk, and the file beside the
table (sidecar.py) records its length. A `TableFile` that was interrupted, by Ctrl-C or kill -9, is opened again at that
length, which drops a torn line or an unfinished sentence; filling.py computes the rest.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Literal

from dtg.errors import DamagedFileError, FileError, InputError, ResumeError
from dtg.io.atomic import check_parent
from dtg.tables.columns import Column, Row
from dtg.tables.formats import Encoder, Format, check_pyarrow, write_parquet
from dtg.tables.sidecar import ResumePoint, Sidecar, read_sidecar, sidecar_path

Existing = Literal["error", "resume", "overwrite"]


class StreamTable:
    """A table on a stream, such as the standard output; it cannot be resumed."""

    def __init__(self, file: BinaryIO, format: Format, columns: Sequence[Column]) -> None:
        if format == "parquet":
            raise InputError("a Parquet table needs a file of its own: pass --out FILE.parquet.")
        self.file, self.encoder = file, Encoder(format, columns)
        self.progress, self.is_finished = ResumePoint(), False
        self.file.write(self.encoder.header())
        self.file.flush()

    def write(self, rows: Sequence[Row]) -> None:
        """Write the rows of one sentence, and flush them."""
        self.file.write(self.encoder.encode(rows))
        self.file.flush()

    def group_done(self, sentences: int, input_sha256: str) -> None:
        """Nothing to record."""

    def finish(self) -> None:
        """Nothing to close: the stream belongs to the caller."""

    def close(self) -> None:
        """Nothing to close."""


class TableFile:
    """A table in a file, with its sidecar. Made by `open`, filled by `fill`.

    Parquet has its index at the end and cannot be appended to, so its rows go to OUT.rows.jsonl, which is resumed like any
    other table, converted to OUT when it is complete, and then removed.
    """

    def __init__(self, path: Path, format: Format, columns: Sequence[Column], sidecar: Sidecar) -> None:
        self.path, self.columns, self.sidecar = path, columns, sidecar
        self.sidecar_path, self.rows_path = sidecar_path(path), rows_path(path, format)
        self.encoder, self.row_count = Encoder(format, columns), sidecar.progress.rows
        self.file: BinaryIO | None = None
        if not self.is_finished:
            self.file = open_at(self.rows_path, sidecar.progress.bytes)
            self.file.write(b"" if sidecar.progress.bytes else self.encoder.header())
            self.file.flush()

    @classmethod
    def open(
        cls, path: Path, format: Format, columns: Sequence[Column], sidecar: Sidecar, existing: Existing = "error"
    ) -> TableFile:
        """A table ready to be filled: a new one, or that of an interrupted run with the same settings."""
        check_can_write(path, format, existing)
        beside, rows = sidecar_path(path), rows_path(path, format)
        if existing == "overwrite":
            for old in {path, rows, beside}:
                old.unlink(missing_ok=True)
        if beside.exists():
            before = read_sidecar(beside)
            before.check_same_settings(sidecar, path)
            sidecar = replace(sidecar, progress=before.progress, finished=before.finished)
            if sidecar.finished and rows != path:
                rows.unlink(missing_ok=True)  # left by a run that was killed between its last two steps
        else:
            sidecar.save(beside)  # before the table: a table without it could not be resumed
        return cls(path, format, columns, sidecar)

    @property
    def progress(self) -> ResumePoint:
        return self.sidecar.progress

    @property
    def is_finished(self) -> bool:
        return self.sidecar.finished

    def write(self, rows: Sequence[Row]) -> None:
        """Write the rows of one sentence, and flush them."""
        assert self.file is not None
        self.file.write(self.encoder.encode(rows))
        self.file.flush()
        self.row_count += len(rows)

    def group_done(self, sentences: int, input_sha256: str) -> None:
        """Record that everything written so far is complete: a resumed run starts here."""
        assert self.file is not None
        os.fsync(self.file.fileno())
        progress = ResumePoint(sentences, self.row_count, self.file.tell(), input_sha256)
        self.sidecar = replace(self.sidecar, progress=progress)
        self.sidecar.save(self.sidecar_path)

    def finish(self) -> None:
        """Mark the table as complete."""
        self.close()
        self.sidecar = replace(self.sidecar, finished=True)
        if self.rows_path != self.path:
            write_parquet(self.rows_path, self.path, self.columns, self.sidecar.to_json())
        self.sidecar.save(self.sidecar_path)
        if self.rows_path != self.path:
            self.rows_path.unlink()

    def close(self) -> None:
        """Close the file; what was written stays, and can be resumed."""
        if self.file is not None:
            self.file.close()


def check_can_write(path: Path, format: Format, existing: Existing) -> None:
    """Raise unless a table can be written under this name; quick, so that it can be asked before a model is loaded."""
    if format == "parquet":
        check_pyarrow()
    check_parent(path)
    if path.is_dir():
        raise FileError(f"cannot write {path}: it is a folder.")
    if path.exists() and not path.is_file():
        raise FileError(f"cannot write {path}: it is a device or a pipe, which cannot be resumed. Write to a file.")
    beside, rows = sidecar_path(path), rows_path(path, format)
    there = [file for file in (path, rows, beside) if file.exists()]
    if there and existing == "error":
        raise FileError(
            f"{there[0]} exists. Pass --resume to continue it, --overwrite to start over, or write to another file."
        )
    if there and existing == "resume" and not beside.exists():
        raise ResumeError(
            f"cannot resume {path}: {beside.name} is not there to say how it was made. Pass --overwrite to start over."
        )


def rows_path(path: Path, format: Format) -> Path:
    """Where rows are written as they come."""
    return path.with_name(f"{path.name}.rows.jsonl") if format == "parquet" else path


def open_at(path: Path, length: int) -> BinaryIO:
    """A file open for writing after its first `length` bytes; what follows those is dropped."""
    present = path.stat().st_size if path.exists() else 0
    if present < length:
        raise DamagedFileError(
            f"cannot resume: {path} has {present:,} bytes where {length:,} had been written; it was changed or cut off. "
            "Pass --overwrite to start over."
        )
    file = path.open("ab")
    file.truncate(length)
    return file
