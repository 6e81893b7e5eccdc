"""What commands that evaluate share: options, and how an evaluation is run and shown."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dtg.cli.exits import interruptible
from dtg.cli.options import DeviceOption
from dtg.errors import InputError

if TYPE_CHECKING:
    from dtg.evaluation.contract import Task
    from dtg.evaluation.models import EvaluatedModel
    from dtg.evaluation.rendering import Block
    from dtg.evaluation.results import Results
    from dtg.evaluation.together import ChartOf

ByOption = Annotated[
    str,
    typer.Option(help="How log p is found: beam, or proposal (trees drawn from --parser).", metavar="beam|proposal"),
]
NO_PICTURES = "dtg: pictures need matplotlib: pip install matplotlib, then the same command again."


@dataclass(frozen=True)
class SelectionGroup:
    """Which items are evaluated."""

    limit: Annotated[int | None, typer.Option(min=1, help="The first N items only, of each group.", metavar="N")] = None
    sample: Annotated[
        int | None, typer.Option(min=1, help="N items at random, of each group; the same for every model.", metavar="N")
    ] = None
    seed: Annotated[int, typer.Option(min=0, help="Which items --sample draws, and which trees the proposal.")] = 0


@dataclass(frozen=True)
class ResultsGroup:
    """Where results go, what they are compared with, and what is evaluated where."""

    out: Annotated[
        Path | None,
        typer.Option(
            help="Keep everything in this folder; an interrupted run resumes there. Without it a summary is printed.",
            metavar="FOLDER",
        ),
    ] = None
    against: Annotated[
        Path | None, typer.Option(help="Compare with the results in another folder, item by item.", metavar="FOLDER")
    ] = None
    name: Annotated[
        str | None, typer.Option(help="Name of the model in tables and pictures; that of its folder by default.")
    ] = None
    device: DeviceOption = "auto"

    def load(self, model: Path | None) -> EvaluatedModel:
        """The model that is evaluated; without a name, the default one."""
        from dtg.evaluation.models import EvaluatedModel

        return EvaluatedModel.of(model, self.device, self.name)

    def run(
        self, task: Task, model: EvaluatedModel | None, *, as_json: bool = False, is_quiet: bool = False
    ) -> Results | None:
        """Evaluate, print the summary (or JSON), and say where everything is; None in any process but the main one."""
        from dtg.cli.commands.evaluation.progress import EvaluationProgress
        from dtg.evaluation.run import run

        progress = EvaluationProgress(task.sentences_per_row)
        with interruptible():
            try:
                found = run(task, model, out=self.out, against=self.against, name=self.name, progress=progress)
            except KeyboardInterrupt:
                progress.bar.stop()
                if self.out is not None and progress.processes.is_main:
                    typer.echo(f"dtg: {self.out} is not finished. The same command resumes it.", err=True)
                raise
        if found is None:
            return None
        tell(found.notes)
        if as_json:
            typer.echo(json.dumps(found.as_dict(), ensure_ascii=False))
        if as_json or is_quiet:
            return found
        typer.echo(found.summary(), nl=False)
        if self.out is not None:
            table = self.out / found.task.table
            typer.echo(f"\nEvery {found.task.row_name} is in {table}, and all of this in {self.out / 'results.md'}.")
            if not found.is_drawn:
                typer.echo(NO_PICTURES, err=True)
        return found


def tell(notes: tuple[str, ...]) -> None:
    """Say what was changed or left out."""
    for note in notes:
        typer.echo(f"dtg: {note}", err=True)


def names_in(option: str | None) -> list[str] | None:
    """The names of an option that takes several, with commas between them; None for none given."""
    return None if option is None else [name.strip() for name in option.split(",") if name.strip()]


def check_surprisals(model: Any, surprisals: Any, base: str | None) -> None:
    """Raise unless surprisals come from one place, and only those of a table are said to have a base."""
    if model is not None and surprisals is not None:
        raise InputError("surprisals come from a --model or from a table, --surprisals FILE; give one of them.")
    if base is not None and surprisals is None:
        raise InputError("--base says what the numbers of --surprisals FILE are; name that too.")


def show_together(
    found: Sequence[Results],
    out: Path | None,
    what: str,
    side_by_side: Callable[[Sequence[Results]], list[Block]],
    picture: str,
    chart_of: ChartOf,
) -> None:
    """Several models in one page, each compared with the first; with a folder, written and drawn there, too."""
    from dtg.evaluation.rendering import as_markdown, as_text
    from dtg.evaluation.results import write_text
    from dtg.evaluation.together import draw_together

    if not found:
        return
    blocks = side_by_side(found)
    typer.echo(as_text(blocks), nl=False)
    if out is None:
        return
    write_text(out / "comparison.md", as_markdown(blocks))
    is_drawn = draw_together(found, chart_of, out / picture)
    typer.echo(f"\nEach model's {what} are in a folder in {out}; this is in {out / 'comparison.md'}.")
    if not is_drawn or not all(one.is_drawn for one in found):
        typer.echo(NO_PICTURES, err=True)
