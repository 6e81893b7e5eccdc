"""Writes the results of commands: tables and CoNLL-U, to a file that can be resumed or to the standard output."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Generic, Protocol, TypeVar

import typer

from dtg import pretrained
from dtg.cli.exits import interruptible, tell
from dtg.errors import InputError, PeerError
from dtg.io.messages import pluralize
from dtg.io.processes import ALONE, Processes, launched
from dtg.scoring.kept import KeptTally

if TYPE_CHECKING:
    from dtg.language_model import LanguageModel
    from dtg.scoring.surprisal import SentenceSurprisal
    from dtg.search.options import Accuracy, BeamOptions, Boundary
    from dtg.tables.columns import Column, Row
    from dtg.tables.files import Existing, StreamTable, TableFile
    from dtg.tables.formats import Encoder, Format
    from dtg.tables.items import Item, Sentences
    from dtg.tables.sidecar import Sidecar
    from dtg.text.sentence import Sentence

Content = TypeVar("Content")
Result = TypeVar("Result")
RESUME = "The same command with --resume resumes it."
RESUME_INSTEAD = "With --resume instead of --overwrite the same command resumes it; until then, the old file stays."
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


class Tally(Protocol):
    """Counts what is said at the end: each process counts its share of the work, and the first adds them up."""

    def counts(self) -> Any:
        """What was counted, as JSON can hold it."""

    def add_counts(self, counts: Any) -> None:
        """Add what another process has counted."""


def warn_of_kept(tally: KeptTally, to: Destination) -> None:
    """Say at how many words the search kept little, if there were any; not to machines that read the standard output."""
    if tally.count and (to.out is not None or to.is_for_people):
        for remark in tally.remarks():
            typer.echo(f"dtg: {remark} (the column kept). --accuracy high keeps more.", err=True)


@dataclass(frozen=True, slots=True)
class Search:
    """How sentences are read and searched."""

    beam: int | None
    word_beam: int | None
    tokenized: bool
    boundary: Boundary = "next"
    columns: tuple[str, ...] = ()
    accuracy: Accuracy | None = None
    kept: KeptTally = field(default_factory=KeptTally)

    @property
    def options(self) -> BeamOptions:
        from dtg.search.options import BeamOptions

        return BeamOptions.of(
            beam=self.beam,
            word_beam=self.word_beam,
            accuracy=self.accuracy,
            boundary=self.boundary,
            columns=self.columns,
        )

    @property
    def settings(self) -> dict[str, Any]:
        """What decides the numbers, defaults filled in."""
        options = self.options
        found = {**options.settings(), "tokenized": self.tokenized}
        more = {"boundary": self.boundary} if self.boundary != "next" else {}  # as before there was a choice
        return {**found, **more, **({"columns": list(options.columns)} if options.columns else {})}

    def column_names(self, model: LanguageModel) -> tuple[str, ...]:
        """The columns asked for, as a model has them."""
        from dtg.search.measures.names import changed_names, column_names

        if not self.columns:
            return ()
        columns = column_names(self.options.columns, model.family.views, model.decoder_model.groups[-1])
        return changed_names(columns)

    def group_size(self, sentences: Sentences) -> int:
        """How many sentences are computed together, and computed again after an interruption."""
        return 1 if sentences.typed else self.options.sentences_together

    def surprisals(self, model: LanguageModel, items: Iterable[Item[str | Sentence]]) -> Iterator[SentenceSurprisal]:
        """The surprisals of each sentence, in order, while they are being read. Raw text is split by the model's rules."""
        from dtg.tables.items import sentence_of

        def read() -> Iterator[Sentence]:
            for item in items:
                sentence = sentence_of(item.content, tokenized=self.tokenized, language=model.language)
                if model.tokenizer is not None:  # a word that is far too long is named with its place in the input
                    model.tokenizer.encode_sentence(sentence.words, f"sentence {item.sentence_id} of the input, ")
                yield sentence

        searched = model.surprisal_stream(
            read(),
            beam=self.beam,
            word_beam=self.word_beam,
            accuracy=self.accuracy,
            boundary=self.boundary,
            columns=self.columns,
        )
        for found in searched:
            self.kept.add(found.kept)
            yield found


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
