"""Where a table's files are, and how a table that replaces another takes its place once it is whole.

Until then the old table stays as it is, and the new one grows beside it: OUT.new and OUT.new.meta.json. When it is finished,
its sidecar says so, then the table is renamed, then the sidecar. A run that was killed in between is completed by the next.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from dtg.tables.formats import Format
from dtg.tables.sidecar import read_sidecar, sidecar_path

NEW, PARTS = ".new", ".parts"


@dataclass(frozen=True, slots=True)
class TablePaths:
    """The files of a table: where it is to be, where its rows are written as they come, and what is beside it."""

    out: Path
    rows: Path
    sidecar: Path
    format: Format

    @classmethod
    def of(cls, out: Path, format: Format) -> TablePaths:
        """Of a table that is written in its place."""
        return cls(out, rows_path(out, format), sidecar_path(out), format)

    @classmethod
    def of_replacement(cls, out: Path, format: Format) -> TablePaths:
        """Of a table that will replace the one at `out`."""
        beside = out.with_name(f"{out.name}{NEW}")
        return cls(out, rows_path(beside, format), sidecar_path(beside), format)

    @property
    def parts(self) -> Path:
        """The folder in which rows wait for others to be written before them."""
        return self.rows.with_name(f"{self.rows.name}{PARTS}")

    @property
    def is_converted(self) -> bool:
        """Whether the rows are not the table itself, but become one."""
        return self.format == "parquet"

    @property
    def files(self) -> tuple[Path, ...]:
        """All of them, the table first if it is written in its place."""
        in_place = self.sidecar == sidecar_path(self.out)
        return tuple(dict.fromkeys((*((self.out,) if in_place else ()), self.rows, self.sidecar)))

    @property
    def are_taken(self) -> bool:
        """Whether any of the files is there."""
        return any(file.exists() for file in self.files)


def rows_path(path: Path, format: Format) -> Path:
    """Where rows are written as they come."""
    return path.with_name(f"{path.name}.rows.jsonl") if format == "parquet" else path


def move_into_place(out: Path, format: Format) -> None:
    """Let a finished replacement take the place of `out`, if there is one; a step that was taken before is not taken again."""
    place, new = TablePaths.of(out, format), TablePaths.of_replacement(out, format)
    if new.sidecar.exists() and read_sidecar(new.sidecar).finished:
        if not new.is_converted and new.rows.exists():
            new.rows.replace(out)
        if place.is_converted:
            place.rows.unlink(missing_ok=True)  # of an older table, which was not finished
        new.sidecar.replace(place.sidecar)
    if not new.sidecar.exists():
        new.rows.unlink(missing_ok=True)


def remove_table(paths: TablePaths) -> None:
    """Remove what there is of a table that was not finished; its sidecar last."""
    shutil.rmtree(paths.parts, ignore_errors=True)
    for file in paths.files:
        file.unlink(missing_ok=True)
