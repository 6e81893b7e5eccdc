"""Writes the results of commands: tables and CoNLL-U, to a file that can be resumed or to the standard output."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Generic, Protocol, TypeVar

import typer

from dtg.cli.exits import interruptible, tell
from dtg.cli.output.destination import Destination
from dtg.errors import InputError, PeerError
from dtg.io.messages import pluralize
from dtg.io.processes import ALONE, Processes

if TYPE_CHECKING:
    from dtg.tables.columns import Column, Row
    from dtg.tables.files import StreamTable, TableFile
    from dtg.tables.formats import Encoder
    from dtg.tables.items import Item
    from dtg.tables.sidecar import Sidecar

Content = TypeVar("Content")
Result = TypeVar("Result")
RESUME = "The same command with --resume resumes it."
RESUME_INSTEAD = "With --resume instead of --overwrite the same command resumes it; until then, the old file stays."


class Tally(Protocol):
    """Counts what is said at the end: each process counts its share of the work, and the first adds them up."""

    def counts(self) -> Any:
        """What was counted, as JSON can hold it."""

    def add_counts(self, counts: Any) -> None:
        """Add what another process has counted."""


@dataclass(frozen=True, slots=True)
class Work(Generic[Content, Result]):
    """Sentences, and how they become the rows of a table."""

    items: Iterable[Item[Content]]
    size: int | None  # of the input, in the unit of the items' positions
    compute: Callable[[Iterator[Item[Content]]], Iterable[Result]]
    rows: Callable[[Item[Content], Result], Sequence[Row]]
    columns: Sequence[Column]
    group: int  # sentences computed together
    tallies: Sequence[Tally] = ()

    def results(self) -> Iterator[tuple[Item[Content], Result]]:
        """Each item with its result, as soon as it is known."""
        from dtg.tables.filling import groups, paired

        return (pair for some in groups(self.items, self.group) for pair in paired(some, self.compute))


def write_table(work: Work[Content, Result], to: Destination, sidecar: Callable[[], Sidecar]) -> None:
    """Write the table, show progress, and say what was written."""
    from dtg.io.rendezvous import joined
    from dtg.tables.files import StreamTable, TableFile
    from dtg.tables.formats import Encoder

    assert to.format is not None
    if to.out is None:
        fill_table(StreamTable(standard_output(), to.format, work.columns), work, None)
        return
    with joined() as processes:
        if not processes.is_main:
            help_table(work, to.out, Encoder(to.format, work.columns), sidecar(), how_to_resume(to), processes)
            return
        table = TableFile.open(to.out, to.format, work.columns, sidecar(), to.existing)
        was_finished = table.is_finished
        fill_table(table, work, to.out, how_to_resume(to), processes)
    rows, sentences = pluralize(table.progress.rows, "row"), pluralize(table.progress.sentences, "sentence")
    now = "was finished before, with" if was_finished else "has"
    typer.echo(
        f"dtg: {to.out} {now} {rows} for {sentences}; {to.out.name}.meta.json says how they were made.", err=True
    )


def write_trees(
    work: Work[Content, Result], to: Destination, sidecar: Callable[[], Sidecar], again: str = RESUME
) -> None:
    """Write rows that are trees as CoNLL-U, show progress, and say what was written."""
    from dtg.io.rendezvous import joined
    from dtg.tables.tree_files import TreeStream

    if to.out is None:
        fill_table(TreeStream(standard_output()), work, None, shown=False)
        return
    with joined() as processes:
        write_trees_together(work, to, sidecar, processes, again)


def write_trees_together(
    work: Work[Content, Result], to: Destination, sidecar: Callable[[], Sidecar], processes: Processes, again: str
) -> None:
    """The same, among processes that have met."""
    from dtg.tables.tree_files import TreeEncoder, TreeFile

    assert to.out is not None
    if not processes.is_main:
        help_table(work, to.out, TreeEncoder(), sidecar(), how_to_resume(to, again), processes)
        return
    table = TreeFile.open(to.out, "jsonl", (), sidecar(), to.existing)
    fill_table(table, work, to.out, how_to_resume(to, again), processes)
    trees, sentences = pluralize(table.progress.rows, "tree"), pluralize(table.progress.sentences, "sentence")
    typer.echo(f"dtg: {to.out} has {trees} of {sentences}; {to.out.name}.meta.json says how they were made.", err=True)


def how_to_resume(to: Destination, again: str = RESUME) -> str:
    """What to do if this is interrupted."""
    return RESUME_INSTEAD if to.existing == "overwrite" else again


def standard_output() -> BinaryIO:
    """Where tables for machines are printed."""
    if sys.stdout is None:
        raise InputError("the standard output is closed; write to a file with --out FILE.")
    return sys.stdout.buffer


def fill_table(
    table: StreamTable | TableFile,
    work: Work[Content, Result],
    out: Path | None,
    again: str = RESUME,
    processes: Processes = ALONE,
    *,
    shown: bool = True,
) -> None:
    """Fill the table and show progress; interrupted, say how to resume `out`, if it is a file."""
    from dtg.cli.progress import TableProgress
    from dtg.tables.filling import fill

    with (
        resumable(out, again, processes),
        closing(table),
        TableProgress(work.size, shown=shown) as progress,
        interruptible(),
    ):
        fill(table, work.items, work.compute, work.rows, group=work.group, watcher=progress, processes=processes)
        add_up(work, out, processes)


def help_table(
    work: Work[Content, Result], out: Path, encoder: Encoder, sidecar: Sidecar, again: str, processes: Processes
) -> None:
    """Compute a share of the table that the first process fills."""
    from dtg.tables.sharing.helping import help_fill

    with resumable(out, again, processes), interruptible():
        help_fill(out, encoder, sidecar, work.items, work.compute, work.rows, group=work.group, processes=processes)
        add_up(work, out, processes)


def add_up(work: Work[Content, Result], out: Path | None, processes: Processes) -> None:
    """Let the first process know what all have counted."""
    for number, tally in enumerate(work.tallies):
        name = f"{'' if out is None else out.name}/tally {number}"
        for counts in processes.gather(name, tally.counts())[1:]:
            tally.add_counts(counts)


@contextmanager
def resumable(out: Path | None, again: str, processes: Processes) -> Iterator[None]:
    """Where work is interrupted, the disk is full, or another process has failed, say how to resume `out`, if it is a file."""
    try:
        yield
    except (KeyboardInterrupt, OSError, PeerError) as error:
        if isinstance(error, OSError) and error.filename is None and error.errno != errno.EPIPE:
            error.filename = "the standard output" if out is None else str(out)
        if out is not None and processes.is_first_to_fail():
            if not processes.is_main:
                sys.stderr = sys.__stderr__
            tell(f"{out} is not finished. {again}")
        raise
