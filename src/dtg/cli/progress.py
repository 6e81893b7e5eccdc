"""Progress on the error stream: on a terminal a bar that is gone when the work is done; for tables, elsewhere, lines."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Self, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

from dtg.tables.filling import TableWatcher
from dtg.tables.items import Item
from dtg.trees import SkippedSentence, TreebankReport

AnyTree = TypeVar("AnyTree")
DAY, HOUR, MINUTE = 86_400, 3_600, 60
SECONDS_BETWEEN_LINES = 120.0
SHOWN = 20  # left-out sentences listed in the terminal


class ProgressBar:
    """A bar that is shown from `with` to its end; subclasses update it."""

    def __init__(self, total: int | None, *, shown: bool = True) -> None:
        console = Console(stderr=True)
        columns = (SpinnerColumn(), BarColumn(), TextColumn("{task.description}"))
        self.on_terminal = console.is_terminal
        self.bar = Progress(*columns, console=console, transient=True, disable=not (shown and self.on_terminal))
        self.task = self.bar.add_task("", total=total)

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.stop()


class TableProgress(ProgressBar, TableWatcher):
    """Sentences, speed and, where the input's size is known, the time left."""

    def __init__(self, size: int | None, *, shown: bool = True) -> None:
        super().__init__(size, shown=shown)
        self.size = size
        self.began, self.began_at, self.sentences = time.monotonic(), 0, 0
        self.tells_lines, self.told = shown and not self.on_terminal, self.began

    def skipped(self, item: Item[object]) -> None:
        self.began, self.began_at = time.monotonic(), item.position

    def wrote(self, item: Item[object]) -> None:
        self.wrote_group(item, 1)

    def wrote_group(self, last: Item[object], sentences: int) -> None:
        self.sentences += sentences
        seconds = max(1e-9, time.monotonic() - self.began)
        shown = f"sentence {last.sentence_id:,}  {self.sentences / seconds:.1f} sentences/s"
        if self.size is not None and last.position > self.began_at:
            left = seconds * (self.size - last.position) / (last.position - self.began_at)
            shown += f"  {clock(left)} left"
        self.bar.update(self.task, description=shown, completed=last.position)
        if self.tells_lines and time.monotonic() - self.told >= SECONDS_BETWEEN_LINES:
            typer.echo(f"dtg: {shown}", err=True)
            self.told = time.monotonic()


def with_progress(trees: Iterable[AnyTree], report: TreebankReport, what: str) -> Iterator[AnyTree]:
    """Show how many sentences of a treebank have been read."""
    with ProgressBar(None) as progress:
        progress.bar.update(progress.task, description=what)
        for number, tree in enumerate(trees, start=1):
            if number % 500 == 0:
                shown = f"{what}: {number:,} sentences, {report.words:,} words"
                progress.bar.update(progress.task, description=shown)
            yield tree


def show_changes(report: TreebankReport) -> None:
    """Say on the error stream what was changed or left out while reading treebanks."""
    for line in report.lines()[1:]:
        typer.echo(f"dtg: {line}.", err=True)
    list_skipped(report.skipped, "dtg info --json lists all")


def list_skipped(skipped: Sequence[SkippedSentence], where_all_are: str) -> None:
    """Name the first sentences that were left out, and say where the others can be found."""
    for sentence in skipped[:SHOWN]:
        typer.echo(f"     {sentence}", err=True)
    if len(skipped) > SHOWN:
        typer.echo(f"     ... and {len(skipped) - SHOWN:,} more ({where_all_are}).", err=True)


def clock(seconds: float) -> str:
    """A duration for people.

    >>> clock(75), clock(3700)
    ('1:15', '1 h 01 min')
    """
    whole = round(min(seconds, 100 * DAY))
    if whole >= DAY:
        return f"{whole // DAY} d {whole % DAY // HOUR} h"
    if whole >= HOUR:
        return f"{whole // HOUR} h {whole % HOUR // MINUTE:02} min"
    return f"{whole // MINUTE}:{whole % MINUTE:02}"
