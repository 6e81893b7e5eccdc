"""Options that several commands share, and how treebanks are reported on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from dtg.trees import DependencyTree, SkippedSentence, TreebankReport
from dtg.trees.conllu import Roots
from dtg.trees.treebank import NonProjective

SHOWN = 20  # left-out sentences listed in the terminal


class NonProjectiveChoice(StrEnum):
    lift = "lift"
    skip = "skip"
    error = "error"

    @property
    def policy(self) -> NonProjective:
        return self.value


class RootsChoice(StrEnum):
    error = "error"
    first = "first"
    skip = "skip"

    @property
    def policy(self) -> Roots:
        return self.value


NonProjectiveOption = Annotated[
    NonProjectiveChoice,
    typer.Option(help="Trees with crossing arcs: lift arcs until none cross, skip the tree, or stop with an error."),
]
RootsOption = Annotated[
    RootsChoice,
    typer.Option(help="Sentences with several roots: stop, attach later roots to the first, or skip the sentence."),
]
SkipInvalidOption = Annotated[
    bool, typer.Option("--skip-invalid", help="Leave out sentences that cannot be read; they are counted and listed.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def with_progress(trees: Iterable[DependencyTree], report: TreebankReport, what: str) -> Iterator[DependencyTree]:
    """Show on the terminal's error stream how many sentences have been read; nothing where there is no terminal."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(what, total=None)
        for number, tree in enumerate(trees, start=1):
            if number % 500 == 0:
                progress.update(task, description=f"{what}: {number:,} sentences, {report.words:,} words")
            yield tree


def tell(report: TreebankReport) -> None:
    """Say on the error stream what was changed or left out while reading."""
    for line in report.lines()[1:]:
        typer.echo(f"dtg: {line}.", err=True)
    list_skipped(report.skipped, "dtg info --json lists all")


def list_skipped(skipped: Sequence[SkippedSentence], where_all_are: str) -> None:
    """Name the first sentences that were left out, and say where the others can be found."""
    for sentence in skipped[:SHOWN]:
        typer.echo(f"     {sentence}", err=True)
    if len(skipped) > SHOWN:
        typer.echo(f"     ... and {len(skipped) - SHOWN:,} more ({where_all_are}).", err=True)
