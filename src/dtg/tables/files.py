"""Tables in files and on streams that grow sentence by sentence, and survive interruption.

Rows are flushed after every sentence. After each group of sentences the rows are forced to disk, and the file beside the
table (sidecar.py) records its length and hash. A `TableFile` that was interrupted, by Ctrl-C or kill -9, is opened again at
that length, which drops a torn line or an unfinished sentence; filling.py computes the rest. A process locks the table that it
writes. One that replaces another grows beside it (replacement.py), and takes its place when it is whole.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

from dtg.errors import DamagedFileError, FileError, InputError, ResumeError
from dtg.io.atomic import check_is_not_input, check_parent, remove_leftovers
from dtg.io.hashing import file_hash
from dtg.io.locks import Lock, check_unlocked, lock_file
from dtg.io.messages import DtgWarning
from dtg.tables.columns import Column, Row
from dtg.tables.formats import Encoder, Format, check_pyarrow, write_parquet
from dtg.tables.replacement import TablePaths, move_into_place, remove_table
from dtg.tables.sidecar import ResumePoint, Sidecar, read_sidecar

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

Existing = Literal["error", "resume", "overwrite"]
BLOCK = 1 << 20  # bytes


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
        self.write_encoded(self.encoder.encode(rows), len(rows))

    def write_encoded(self, content: bytes, rows: int) -> None:
        """Write some rows that are encoded already."""
        self.file.write(content)
        self.file.flush()

    def group_done(self, sentences: int, input_sha256: str) -> None:
        """Nothing to record."""

    def finish(self) -> None:
        """Nothing to close: the stream belongs to the caller."""

    def close(self) -> None:
        """Nothing to close."""


class TableFile:
    """A table in a file, with its sidecar. Made by `open`, filled by `fill`, and closed.

    Parquet has its index at the end and cannot be appended to, so its rows go to OUT.rows.jsonl, which is resumed like any
    other table, converted to OUT when it is complete, and then removed.
    """

    def __init__(
        self, paths: TablePaths, format: Format, columns: Sequence[Column], sidecar: Sidecar, lock: Lock
    ) -> None:
        self.paths, self.columns, self.sidecar, self.lock = paths, columns, sidecar, lock
        self.encoder, self.row_count = Encoder(format, columns), sidecar.progress.rows
        self.file: BinaryIO | None = None
        if self.is_finished:
            check_finished(paths, sidecar)
            return
        self.file, self.digest = open_at(paths, sidecar.progress)
        if not sidecar.progress.bytes:
            self._write(self.encoder.header())

    @classmethod
    def open(
        cls, path: Path, format: Format, columns: Sequence[Column], sidecar: Sidecar, existing: Existing = "error"
    ) -> TableFile:
        """A table ready to be filled: a new one, or that of an interrupted run with the same settings."""
        check_can_write(path, format, existing)
        lock = lock_file(path)
        try:
            place, replacement = TablePaths.of(path, format), TablePaths.of_replacement(path, format)
            for file in {*place.files, *replacement.files}:
                remove_leftovers(file, is_locked=True)
            move_into_place(path, format)  # what a run that was killed at its very end had still to do
            check_can_write(path, format, existing, is_ours=True)  # again: now nobody else can change it
            if existing == "overwrite":
                remove_table(replacement)
                paths = replacement if place.are_taken else place
            else:
                paths = resumed(place, replacement, sidecar)
            if paths.sidecar.exists():
                before = read_sidecar(paths.sidecar)
                before.check_same_settings(sidecar, path)
                sidecar = replace(sidecar, progress=before.progress, finished=before.finished, sha256=before.sha256)
                if sidecar.finished and paths.is_converted:
                    paths.rows.unlink(missing_ok=True)  # left by a run that was killed between its last two steps
            else:
                shutil.rmtree(paths.parts, ignore_errors=True)  # of a table whose sidecar somebody has removed
                sidecar.save(paths.sidecar)  # before the table: a table without it could not be resumed
            return cls(paths, format, columns, sidecar, lock)
        except BaseException:
            lock.release()
            raise

    @property
    def progress(self) -> ResumePoint:
        return self.sidecar.progress

    @property
    def is_finished(self) -> bool:
        return self.sidecar.finished

    def write(self, rows: Sequence[Row]) -> None:
        """Write the rows of one sentence, and flush them."""
        self.write_encoded(self.encoder.encode(rows), len(rows))

    def write_encoded(self, content: bytes, rows: int) -> None:
        """Write some rows that are encoded already."""
        self._write(content)
        self.row_count += rows

    def _write(self, content: bytes) -> None:
        assert self.file is not None
        self.file.write(content)
        self.file.flush()
        self.digest.update(content)

    def group_done(self, sentences: int, input_sha256: str) -> None:
        """Record that everything written so far is complete: a resumed run starts here."""
        assert self.file is not None
        os.fsync(self.file.fileno())
        progress = ResumePoint(sentences, self.row_count, self.file.tell(), input_sha256, self.digest.hexdigest())
        self.sidecar = replace(self.sidecar, progress=progress)
        self.sidecar.save(self.paths.sidecar)

    def finish(self) -> None:
        """Mark the table as complete, and put it in its place."""
        assert self.file is not None
        self.file.close()
        self.sidecar = replace(self.sidecar, finished=True)
        paths = self.paths
        if paths.is_converted:
            write_parquet(paths.rows, paths.out, self.columns, self.sidecar.to_json())
            self.sidecar = replace(self.sidecar, sha256=file_hash(paths.out))
        else:
            self.sidecar = replace(self.sidecar, sha256=self.digest.hexdigest())
        self.sidecar.save(paths.sidecar)
        move_into_place(paths.out, paths.format)
        if paths.is_converted:
            paths.rows.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file and unlock it; what was written stays, and can be resumed."""
        try:
            if self.file is not None:
                self.file.close()
        finally:
            self.lock.release()


def check_can_write(
    path: Path, format: Format, existing: Existing, inputs: Iterable[Path] = (), *, is_ours: bool = False
) -> None:
    """Raise unless a table can be written under this name; quick, so that it can be asked before a model is loaded.

    Args:
        path: the table.
        format: what it is written in.
        existing: what is to happen to a table that is there.
        inputs: files and folders that are read for it, which it must not replace.
        is_ours: this process has locked it.
    """
    if format == "parquet":
        check_pyarrow()
    check_parent(path)
    if path.is_dir():
        raise FileError(f"cannot write {path}: it is a folder.")
    if path.exists() and not path.is_file():
        raise FileError(f"cannot write {path}: it is a device or a pipe, which cannot be resumed. Write to a file.")
    place, replacement = TablePaths.of(path, format), TablePaths.of_replacement(path, format)
    check_is_not_input((*place.files, *replacement.files), inputs)
    if not is_ours:
        check_unlocked(path)
    there = [file for file in (*place.files, *replacement.files) if file.exists()]
    if there and existing == "error":
        raise FileError(
            f"{there[0]} exists. Pass --resume to continue it, --overwrite to start over, or write to another file."
        )
    if there and existing == "resume" and not (place.sidecar.exists() or replacement.sidecar.exists()):
        raise ResumeError(
            f"cannot resume {path}: {place.sidecar.name} is not there to say how it was made. "
            "Pass --overwrite to start over."
        )


def resumed(place: TablePaths, replacement: TablePaths, sidecar: Sidecar) -> TablePaths:
    """Which is resumed: a table that was to replace another when it was interrupted; or the other, if only that fits."""
    if not replacement.sidecar.exists():
        return place
    fits = [
        paths
        for paths in (replacement, place)
        if paths.sidecar.exists() and read_sidecar(paths.sidecar).has_same_settings(sidecar)
    ]
    return (fits or [replacement])[0]


def check_finished(paths: TablePaths, sidecar: Sidecar) -> None:
    """Raise if a finished table is not as it was written."""
    if not paths.out.is_file():
        raise DamagedFileError(
            f"{paths.out} was finished before, and is not there any more. Pass --overwrite to make it again."
        )
    if not sidecar.sha256:
        warn_unchecked(paths.out)
    elif file_hash(paths.out) != sidecar.sha256:
        raise DamagedFileError(
            f"{paths.out} was changed after it was finished: it does not have the hash that {paths.sidecar.name} gives. "
            "Pass --overwrite to make it again, or write to another file."
        )


def open_at(paths: TablePaths, progress: ResumePoint) -> tuple[BinaryIO, Hash]:
    """A file open for writing after what is recorded of it; what follows is dropped. And the hash of what is there."""
    path, length = paths.rows, progress.bytes
    present = path.stat().st_size if path.exists() else 0
    if present < length:
        raise DamagedFileError(
            f"cannot resume: {path} has {present:,} bytes where {length:,} had been written; it was changed or cut off. "
            "Pass --overwrite to start over."
        )
    digest = hashlib.sha256()
    file = path.open("ab+")
    try:
        file.seek(0)
        left = length
        while left and (block := file.read(min(left, BLOCK))):
            digest.update(block)
            left -= len(block)
        if length and not progress.sha256:
            warn_unchecked(path)
        elif length and digest.hexdigest() != progress.sha256:
            raise DamagedFileError(
                f"cannot resume: {path} was changed since it was written; it does not have the hash that "
                f"{paths.sidecar.name} gives. Pass --overwrite to start over."
            )
        file.truncate(length)
        file.seek(0, os.SEEK_END)
    except BaseException:
        file.close()
        raise
    return file, digest


def warn_unchecked(path: Path) -> None:
    warnings.warn(
        f"{path} was written by a version of dtg that kept no hash of it: whether it was changed since cannot be checked.",
        DtgWarning,
        stacklevel=4,
    )
