"""`dtg evaluate reading`: what models explain of reading times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dtg.cli.commands.evaluation.options import ResultsGroup, names_in, show_together
from dtg.cli.groups import SurprisalGroup, takes_groups
from dtg.cli.options import ColumnsOption, ModelsOption
from dtg.errors import ColumnError, InputError
from dtg.tables.columns import Base

if TYPE_CHECKING:
    from dtg.evaluation.results import Results
    from dtg.evaluation.tasks.reading.imported import ImportedSurprisals
    from dtg.evaluation.tasks.reading.task import ReadingTask


def column_option(what: str) -> Any:
    return typer.Option(help=f"The column that has {what}.", metavar="COLUMN")


@dataclass(frozen=True)
class TimesGroup:
    """Which columns hold what, and which times are fitted how."""

    word: Annotated[str | None, column_option("the words; like those below, for where it is not found by its name")] = (
        None
    )
    time: Annotated[str | None, column_option("the times, in ms")] = None
    story: Annotated[str | None, column_option("the story or item, which folds are made of")] = None
    sentence: Annotated[str | None, column_option("the sentence; several, such as item,condition, with commas")] = None
    position: Annotated[str | None, column_option("the number of the word in its sentence or text")] = None
    participant: Annotated[str | None, column_option("the reader, where each has rows of their own")] = None
    sentences: Annotated[
        Path | None,
        typer.Option(
            help="A table of the sentences, if DATA has no words; both have item, condition, ...", metavar="FILE"
        ),
    ] = None
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Rows with this value alone, such as correct=1 or lang=en; several with commas; repeatable.",
            metavar="COLUMN=VALUE",
        ),
    ] = None
    raw: Annotated[bool, typer.Option("--raw", help="Fit times in ms instead of their logarithms.")] = False
    without_ends: Annotated[bool, typer.Option("--without-ends", help="Leave out the last word of every sentence.")] = (
        False
    )
    shortest: Annotated[
        float | None, typer.Option(min=0, help="Leave out single readings below this. [default: 100]", metavar="MS")
    ] = None
    longest: Annotated[
        float | None, typer.Option(min=0, help="Leave out single readings above this. [default: 3000]", metavar="MS")
    ] = None
    frequencies: Annotated[
        Path | None, typer.Option(help="Word counts of your own: a table with columns word and count.", metavar="FILE")
    ] = None


@takes_groups
def evaluate_reading(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="A table with a row for each word, or for each word and participant (.csv, .tsv, .txt, .jsonl, .gz).",
        ),
    ],
    *,
    model: ModelsOption = None,
    surprisals: Annotated[
        list[Path] | None,
        typer.Option(
            help="A table of surprisals, of another tool or of dtg surprisal, as a model; repeatable.", metavar="FILE"
        ),
    ] = None,
    base: Annotated[
        Base | None, typer.Option(help="Logarithms of --surprisals, where the table does not say: 2 or e.")
    ] = None,
    times: TimesGroup,
    search: SurprisalGroup,
    columns: ColumnsOption = None,
    results: ResultsGroup,
) -> None:
    """Held-out log-likelihood of reading times by controls, surprisal and other columns; models side by side.

    dtg evaluate reading naturalstories.csv --model dtg-small --model txl-small --out results/reading

    dtg evaluate reading times.csv --sentences stimuli.csv --out results/mine

    dtg evaluate reading eyes.tsv --time total_time --only lang=en --surprisals gpt2.csv --out results/gpt2

    Columns are found by their names, and the results say which was read as what. With several models each has a folder in
    --out, and all are compared with the first. For times of single participants --out gets mixed_model.R, which fits a mixed
    model with lme4. docs/reading.md explains every number.
    """
    from dtg.evaluation.tasks.reading.predictors import without_values
    from dtg.evaluation.tasks.reading.task import ReadingTask

    options: dict[str, Any] = {**vars(times), **vars(search), "columns": names_in(columns) or ()}
    options["only"] = wanted_rows(times.only or [])
    try:
        task = ReadingTask.of(source, **options)
    except ColumnError as error:
        how = " ".join(f"--{role} {example}" for role, example in error.roles.items())
        how += " (or --sentences FILE for the words)" if "word" in error.roles else ""
        raise InputError(f"{error}\nFor example: {how}. dtg evaluate reading --help has all of them.") from None
    imported = [one for path in surprisals or [] for one in task.import_all(path, base)]
    missing = frozenset(place for one in imported for place in without_values(one.columns["surprisal"]))
    sources: list[Path | ImportedSurprisals | None] = [*(model or []), *imported]
    sources = sources or [None]  # the default model
    if len(sources) == 1:
        evaluate_one(task, sources[0], missing, results)
        return
    if results.name is not None or results.against is not None:
        raise InputError("--name and --against are for one model; with several, all are compared with the first.")
    out = results.out
    found = [
        evaluate_one(task, one, missing, replace(results, out=None if out is None else out / called), is_quiet=True)
        for one, called in zip(sources, folder_names(sources), strict=True)
    ]
    from dtg.evaluation.tasks.reading.together import side_by_side

    done = [one for one in found if one is not None]
    show_together(done, out, "words and numbers", side_by_side, "fit", ReadingTask.chart)


def wanted_rows(given: Sequence[str]) -> dict[str, list[str]]:
    """Columns and their values, of COLUMN=VALUE,VALUE."""
    found: dict[str, list[str]] = {}
    for one in given:
        name, is_there, values = one.partition("=")
        if not is_there or not name.strip() or not names_in(values):
            raise InputError(f"--only takes a column and a value, such as correct=1; {one!r} was given.")
        found.setdefault(name.strip(), []).extend(names_in(values) or [])
    return found


def evaluate_one(
    task: ReadingTask,
    source: Path | ImportedSurprisals | None,
    missing: frozenset[int],
    results: ResultsGroup,
    *,
    is_quiet: bool = False,
) -> Results | None:
    """One model, or one table."""
    if source is None or isinstance(source, Path):
        return results.run(task.again(missing), results.load(source), is_quiet=is_quiet)
    return results.run(task.again(missing, source), None, is_quiet=is_quiet)


def folder_names(sources: Sequence[Path | ImportedSurprisals | None]) -> list[str]:
    """Of the models' results, each different."""
    from dtg import pretrained
    from dtg.language_model import name_of

    names = [
        name_of(one or pretrained.MODEL) if one is None or isinstance(one, Path) else one.name.replace("/", "-")
        for one in sources
    ]
    if twice := [one for one in names if names.count(one) > 1]:
        raise InputError(
            f"two models are called {twice[0]}; evaluate them one by one, each with a --name and an --out."
        )
    return names
