"""`dtg report`: every model's results side by side, as a page with the paper's tables and figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dtg.errors import InputError
from dtg.io.messages import pluralize


def report(
    results: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Folders with results of dtg evaluate, searched as deep as they go; the first model is compared with.",
            metavar="RESULTS...",
        ),
    ] = None,
    run: Annotated[
        list[str] | None, typer.Option(help="The training run of a model, for its learning curve.", metavar="NAME=RUN")
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder to write the report to.", metavar="FOLDER")] = Path("report"),
) -> None:
    """Write a page with every model's results: one HTML file, the same as Markdown, figures and tables.

    dtg report results/dtg results/txl-tokens --run dtg=runs/dtg --run txl-tokens=runs/txl-tokens --out report

    Models are called what dtg evaluate --name called them. Numbers that do not compare are marked. What is missing is a dash,
    with the command that makes it.
    """
    runs = named_runs(run or [])
    if not results and not runs:
        raise InputError(
            "there is nothing to report. Name folders with results of dtg evaluate, or runs with --run NAME=RUN."
        )
    from dtg.evaluation.report import find, gather, page_of, write_report
    from dtg.evaluation.report.writing import HTML, MARKDOWN

    gathered = gather(find(results or []), runs)
    page = page_of(gathered)
    drawn = write_report(out, page)
    for note in gathered.notes:
        typer.echo(f"dtg: {note}", err=True)
    if not drawn:
        typer.echo("dtg: pictures need matplotlib: pip install matplotlib, then the same command again.", err=True)
    typer.echo(
        f"{out / HTML} and {out / MARKDOWN}: {pluralize(len(gathered.models), 'model')}, "
        f"{pluralize(sum(len(model.results) for model in gathered.models), 'evaluation')}."
    )


def named_runs(options: list[str]) -> dict[str, Path]:
    """What --run NAME=RUN says."""
    runs: dict[str, Path] = {}
    for option in options:
        name, sign, folder = split_at_sign(option)
        if not sign or not name or not folder:
            raise InputError(
                f"--run {option} does not say whose run it is. Write --run NAME=RUN, with the model's name in the results."
            )
        if name in runs:
            raise InputError(f"--run names two runs for {name}: {runs[name]} and {folder}. A model has one.")
        runs[name] = Path(folder)
    return runs


def split_at_sign(option: str) -> tuple[str, str, str]:
    """NAME=RUN at the first = after which there is a folder of that name: names may have the sign, too."""
    places = [place for place, character in enumerate(option) if character == "="]
    for place in places:
        if Path(option[place + 1 :]).is_dir() and option[place + 1 :]:
            return option[:place], "=", option[place + 1 :]
    return option.partition("=")
