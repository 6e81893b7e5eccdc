"""Where results go, and what is to happen to a file that exists."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dtg import pretrained
from dtg.errors import InputError
from dtg.io.processes import ALONE, Processes, launched

if TYPE_CHECKING:
    from dtg.tables.files import Existing
    from dtg.tables.formats import Format

STDIN = Path("/dev/stdin")


@dataclass(frozen=True, slots=True)
class Destination:
    """Where results go: a file, the standard output as a table for machines, or (neither named) a table for people."""

    out: Path | None
    format: Format | None
    existing: Existing
    processes: Processes = ALONE  # that write it together; they have not met yet

    @property
    def is_for_people(self) -> bool:
        return self.out is None and self.format is None

    @classmethod
    def of(
        cls,
        out: Path | None,
        format: Format | None,
        *,
        resume: bool,
        overwrite: bool,
        inputs: Iterable[str | Path | None] = (),
    ) -> Destination:
        """The options, checked before anything slow happens. `inputs` are what is read, as it was named."""
        from dtg.tables.files import check_can_write
        from dtg.tables.formats import format_of

        existing, processes = existing_policy(out, resume=resume, overwrite=overwrite), shared(out)
        if out is None:
            if format == "parquet":
                raise InputError("a Parquet table needs a file of its own: pass --out FILE.parquet.")
            return cls(None, format, existing)
        format = format or format_of(out)
        if processes.is_main:  # what is there for the others may be what this one has begun
            check_can_write(out, format, existing, files_named(inputs))
        return cls(out, format, existing, processes)

    @classmethod
    def of_trees(
        cls, out: Path | None, *, resume: bool, overwrite: bool, inputs: Iterable[str | Path | None] = ()
    ) -> Destination:
        """The same for a CoNLL-U file."""
        from dtg.tables.files import check_can_write

        existing, processes = existing_policy(out, resume=resume, overwrite=overwrite), shared(out)
        if out is not None and out.suffix == ".gz":
            raise InputError(
                f"cannot write {out}: a compressed file cannot be resumed. Leave .gz off, and compress it later."
            )
        if out is not None and processes.is_main:
            check_can_write(out, "jsonl", existing, files_named(inputs))
        return cls(out, "jsonl", existing, processes)


def shared(out: Path | None) -> Processes:
    """The processes that are to share the work; raises where they could not."""
    processes = launched()
    if processes.count > 1 and out is None:
        raise InputError(f"{processes.count} processes share the work, and write one file: name it with --out FILE.")
    if processes.count > 1:
        quiet_connections()
    return processes


def quiet_connections() -> None:
    """Keep torch, if it is imported later, from printing its stack where a connection ends; dtg says what has happened."""
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "FATAL")


def files_named(inputs: Iterable[str | Path | None]) -> list[Path]:
    """The files and folders among what the command line names: a name can also be a text, - or that of something bundled."""
    named = [STDIN if str(name) == "-" else Path(name) for name in inputs if name is not None]
    bundled = [pretrained.find(path) for path in named if str(path) in pretrained.names()]
    return [*filter(exists, named), *bundled]


def exists(path: Path) -> bool:
    """Whether there is a file or folder of that name, which may be a whole sentence."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def existing_policy(out: Path | None, *, resume: bool, overwrite: bool) -> Existing:
    """What is to happen to a file that exists."""
    if resume and overwrite:
        raise InputError("--resume continues a file and --overwrite starts it over; give one of them.")
    existing: Existing = "resume" if resume else "overwrite" if overwrite else "error"
    if out is None and existing != "error":
        raise InputError(f"--{existing} is about a file; name it with --out FILE.")
    return existing
