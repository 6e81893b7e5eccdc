"""What commands that write tables share: the model, where a table goes, how it is made and what is said about it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import typer

from dtg import __version__, pretrained
from dtg.cli.interrupts import interruptible
from dtg.cli.table_options import BaseChoice, FormatChoice
from dtg.errors import InputError
from dtg.io.messages import pluralize

if TYPE_CHECKING:
    from dtg.language_model import LanguageModel
    from dtg.scoring.surprisal import SentenceSurprisal
    from dtg.search.options import BeamOptions
    from dtg.tables.columns import Column, Row
    from dtg.tables.files import Existing, StreamTable, TableFile
    from dtg.tables.formats import Format
    from dtg.tables.items import Item, Lines, OneText
    from dtg.tables.sidecar import Sidecar

Content = TypeVar("Content")
Result = TypeVar("Result")
RESUME = "The same command with --resume goes on."


@dataclass(frozen=True, slots=True)
class Destination:
    """Where results go: a file, the standard output as a table for machines, or (neither named) a table for people."""

    out: Path | None
    format: Format | None
    existing: Existing

    @property
    def is_for_people(self) -> bool:
        return self.out is None and self.format is None

    @classmethod
    def of(cls, out: Path | None, choice: FormatChoice | None, *, resume: bool, overwrite: bool) -> Destination:
        """The options, checked before anything slow happens."""
        from dtg.tables.files import check_can_write
        from dtg.tables.formats import format_of

        existing = existing_of(out, "table", "a table in a file", resume=resume, overwrite=overwrite)
        if out is None:
            if choice is FormatChoice.parquet:
                raise InputError("a Parquet table needs a file of its own: pass --out FILE.parquet.")
            return cls(None, None if choice is None else choice.chosen, existing)
        format = format_of(out) if choice is None else choice.chosen
        check_can_write(out, format, existing)
        return cls(out, format, existing)


def existing_of(out: Path | None, what: str, where: str, *, resume: bool, overwrite: bool) -> Existing:
    """What is to happen to a file that is there."""
    if resume and overwrite:
        raise InputError(f"--resume goes on with a {what} and --overwrite begins it anew; give one of them.")
    existing: Existing = "resume" if resume else "overwrite" if overwrite else "error"
    if out is None and existing != "error":
        raise InputError(f"--{existing} is about {where}; name it with --out FILE.")
    return existing


@dataclass(frozen=True, slots=True)
class Search:
    """How sentences are read and searched."""

    beam: int
    word_beam: int | None
    tokenized: bool

    @property
    def options(self) -> BeamOptions:
        from dtg.search.options import BeamOptions

        return BeamOptions(beam=self.beam, word_beam=self.word_beam)

    @property
    def settings(self) -> dict[str, Any]:
        """What decides the numbers, defaults filled in."""
        return {"beam": self.beam, "word_beam": self.options.words_kept, "tokenized": self.tokenized}

    def together(self, given: Lines | OneText) -> int:
        """How many sentences are computed at a time, and computed again after an interruption."""
        return 1 if given.typed else self.options.sentences_together

    def surprisals(self, model: LanguageModel, items: Iterable[Item[str]]) -> Iterator[SentenceSurprisal]:
        """The model's answer to each sentence, in order, while they are being read."""
        from dtg.tables.items import sentence_of

        sentences = (sentence_of(item.content, tokenized=self.tokenized) for item in items)
        return model.surprisal_stream(sentences, beam=self.beam, word_beam=self.word_beam)


@dataclass(frozen=True, slots=True)
class Run:
    """A model, the unit that is wanted, and where results go."""

    model: LanguageModel
    folder: Path
    device: str
    base: BaseChoice
    to: Destination

    @classmethod
    def of(cls, folder: Path | None, device: str, base: BaseChoice, to: Destination) -> Run:
        """Load the model that --model names."""
        folder = model_folder(folder)
        return cls(load_model(folder, device), folder, device, base, to)

    @property
    def known(self) -> str:
        """What the model's log p(x) is: a sum over the trees that a search has found, unless it has no trees."""
        return "lower bound" if self.model.has_trees else "exact"

    def sidecar(self, command: str, options: Mapping[str, Any], source: str, columns: Sequence[Column]) -> Sidecar:
        """What is to be known about a table besides its rows."""
        from dtg.model.saving import model_hash
        from dtg.tables.sidecar import Sidecar

        settings = {
            "command": command,
            "dtg": __version__,
            "unit": self.base.unit,
            **options,
            "format": self.to.format,
            "family": self.model.config.family,
            "model_sha256": model_hash(self.folder),
            "device": self.device,
        }
        return Sidecar.begin(settings, {"model": str(self.folder), "input": source}, columns)


@dataclass(frozen=True, slots=True)
class Work(Generic[Content, Result]):
    """Sentences, and how they become the rows of a table."""

    items: Iterable[Item[Content]]
    size: int | None  # of the input, in bytes
    compute: Callable[[Iterator[Item[Content]]], Iterable[Result]]
    rows: Callable[[Item[Content], Result], Sequence[Row]]
    columns: Sequence[Column]
    group: int  # sentences computed together


def write_table(work: Work[Content, Result], to: Destination, sidecar: Callable[[], Sidecar]) -> None:
    """Make the table, show its growth, and say what became of it."""
    from dtg.tables.files import StreamTable, TableFile

    assert to.format is not None
    table: StreamTable | TableFile
    if to.out is None:
        table = StreamTable(sys.stdout.buffer, to.format, work.columns)
    else:
        table = TableFile.open(to.out, to.format, work.columns, sidecar(), to.existing)
    was_finished = table.is_finished
    grow(table, work, to.out)
    if to.out is None:
        return
    rows, sentences = pluralize(table.progress.rows, "row"), pluralize(table.progress.sentences, "sentence")
    now = "was finished before, with" if was_finished else "has"
    typer.echo(
        f"dtg: {to.out} {now} {rows} for {sentences}; {to.out.name}.meta.json says how they were made.", err=True
    )


def grow(
    table: StreamTable | TableFile,
    work: Work[Content, Result],
    out: Path | None,
    *,
    shown: bool = True,
    to_go_on: str = RESUME,
) -> None:
    """Fill the table and show its growth. Interrupted, say how to go on with `out`, if it is a file."""
    from dtg.cli.table_progress import TableProgress
    from dtg.tables.filling import fill

    with closing(table), TableProgress(work.size, shown=shown) as progress, interruptible():
        try:
            fill(table, work.items, work.compute, work.rows, group=work.group, watcher=progress)
        except KeyboardInterrupt:
            if out is not None:
                typer.echo(f"dtg: {out} is not finished. {to_go_on}", err=True)
            raise


def model_folder(name: Path | None) -> Path:
    """The folder that --model names; without it, that of the bundled model."""
    return pretrained.find(name or pretrained.MODEL)


def load_model(folder: Path, device: str) -> LanguageModel:
    """The model of a folder, on the device named on the command line."""
    import dtg

    check_device(device)
    return dtg.load(folder, device)


def check_device(device: str) -> None:
    """Raise unless this machine has the device."""
    import torch

    try:
        kind = torch.device(device).type
    except RuntimeError:
        raise InputError(f"--device {device!r} is not a device; cpu, cuda, cuda:1 and mps are.") from None
    if (kind == "cuda" and not torch.cuda.is_available()) or (kind == "mps" and not torch.backends.mps.is_available()):
        raise InputError(f"--device {device} is not available on this machine. Pass --device cpu.")
