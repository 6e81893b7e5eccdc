"""What commands that evaluate share: options, and how an evaluation is run and shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dtg.cli.exits import interruptible

if TYPE_CHECKING:
    from dtg.evaluation.contract import Task
    from dtg.evaluation.models import EvaluatedModel
    from dtg.evaluation.results import Results

NameOption = Annotated[
    str | None, typer.Option(help="Name of the model in tables and pictures; that of its folder by default.")
]
ResultsOption = Annotated[
    Path | None,
    typer.Option(
        help="Keep everything in this folder; an interrupted run resumes there. Without it a summary is printed.",
        metavar="FOLDER",
    ),
]
AgainstOption = Annotated[
    Path | None, typer.Option(help="Compare with the results in another folder, item by item.", metavar="FOLDER")
]
LimitOption = Annotated[int | None, typer.Option(min=1, help="The first N items only, of each group.", metavar="N")]
SampleOption = Annotated[
    int | None, typer.Option(min=1, help="N items at random, of each group; the same for every model.", metavar="N")
]
SeedOption = Annotated[int, typer.Option(min=0, help="Which items --sample draws, and which trees the proposal.")]
DeviceOption = Annotated[
    str, typer.Option(help="Where to compute: auto (a GPU if there is one), cpu, cuda, cuda:1, mps.", metavar="DEVICE")
]
ByOption = Annotated[
    str,
    typer.Option(help="How log p is found: beam, or proposal (trees drawn from --parser).", metavar="beam|proposal"),
]


def names_in(option: str | None) -> list[str] | None:
    """The names of an option that takes several, with commas between them; None for none given."""
    return None if option is None else [name.strip() for name in option.split(",") if name.strip()]


def renamed(old: str, new: str, value: Any) -> None:
    """Say that an option which was given has another name now."""
    if value is not None:
        typer.echo(f"dtg: {old} is called {new} now; it still works.", err=True)


def run_and_show(
    task: Task,
    model: EvaluatedModel | None,
    *,
    out: Path | None,
    against: Path | None = None,
    name: str | None = None,
    as_json: bool = False,
    is_quiet: bool = False,
) -> Results | None:
    """Evaluate, print the summary (or JSON), and say where everything is; None in any process but the main one."""
    from dtg.cli.commands.evaluation.progress import EvaluationProgress
    from dtg.evaluation.run import run

    progress = EvaluationProgress(task.sentences_per_row)
    with interruptible():
        try:
            found = run(task, model, out=out, against=against, name=name, progress=progress)
        except KeyboardInterrupt:
            progress.bar.stop()
            if out is not None and progress.processes.is_main:
                typer.echo(f"dtg: {out} is not finished. The same command resumes it.", err=True)
            raise
    if found is None:
        return None
    for note in found.notes:
        typer.echo(f"dtg: {note}", err=True)
    if as_json:
        typer.echo(json.dumps(found.as_dict(), ensure_ascii=False))
    if as_json or is_quiet:
        return found
    typer.echo(found.summary(), nl=False)
    if out is not None:
        table = out / found.task.table
        typer.echo(f"\nEvery {found.task.row_name} is in {table}, and all of this in {out / 'results.md'}.")
        if not found.is_drawn:
            typer.echo("dtg: pictures need matplotlib: pip install matplotlib, then the same command again.", err=True)
    return found
