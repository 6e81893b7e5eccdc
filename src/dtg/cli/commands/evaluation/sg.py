"""`dtg evaluate sg`: whether a language model is surprised where SyntaxGym's suites say it should be."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from dtg.cli.commands.evaluation.options import ResultsGroup, SelectionGroup, check_surprisals, names_in
from dtg.cli.groups import SurprisalGroup, takes_groups
from dtg.cli.options import ModelOption
from dtg.errors import InputError
from dtg.io.messages import pluralize
from dtg.tables.columns import Base


@takes_groups
def evaluate_sg(
    source: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of SyntaxGym's .json suites, or one suite.")],
    *,
    model: ModelOption = None,
    suites: Annotated[str | None, typer.Option(help="Only these, with commas between them.", metavar="A,B")] = None,
    selection: SelectionGroup,
    search: SurprisalGroup,
    rule: Annotated[
        Literal["first", "all"],
        typer.Option(help="When an item is right, in the picture and the comparison; tables have both."),
    ] = "first",
    surprisals: Annotated[
        Path | None, typer.Option(help="Score this table of surprisals instead of a --model.", metavar="FILE")
    ] = None,
    base: Annotated[
        Base | None, typer.Option(help="Logarithms of --surprisals, where no FILE.meta.json says it: 2 or e.")
    ] = None,
    sentences: Annotated[
        Path | None, typer.Option(help="Write the sentences (.csv, .tsv, .jsonl, .txt) and stop.", metavar="FILE")
    ] = None,
    results: ResultsGroup,
) -> None:
    """Surprisals of every region, which predictions hold, and the averages in use.

    dtg evaluate sg syntaxgym/ --model runs/dtg/best --out results/dtg

    dtg evaluate sg syntaxgym/ --surprisals other-tool.csv --name gpt2 --against results/dtg

    docs/syntaxgym.md says how items are counted. `torchrun` shares the work between processes.
    """
    if sentences is not None and (model is not None or surprisals is not None):
        raise InputError("--sentences FILE writes the sentences and stops; leave --model and --surprisals out.")
    check_surprisals(model, surprisals, base)
    chosen = names_in(suites)
    if sentences is not None:
        write_sentences(sentences, source, chosen)
        return
    from dtg.evaluation.tasks.syntaxgym.task import SyntaxGym

    how = {**vars(selection), **vars(search)}
    task = SyntaxGym.of(source, suites=chosen, rule=rule, surprisals=surprisals, base=base, **how)
    results.run(task, None if surprisals is not None else results.load(model))


def write_sentences(path: Path, source: Path, names: Sequence[str] | None) -> None:
    """All sentences in a table, or in a .txt file with one on each line, as `dtg surprisal` reads it."""
    from dtg.evaluation.results import write_rows, write_text
    from dtg.evaluation.tasks.syntaxgym.suites import suite_sentences
    from dtg.evaluation.tasks.syntaxgym.tables import SENTENCE_COLUMNS, sentence_row
    from dtg.evaluation.tasks.syntaxgym.task import chosen_suites

    if path.exists():
        raise InputError(f"{path} exists. Name another file, or remove it.")
    sentences = list(suite_sentences(chosen_suites(source, names)))
    if path.suffix == ".txt":
        write_text(path, "".join(f"{sentence.text}\n" for sentence in sentences))
    else:
        write_rows(path, SENTENCE_COLUMNS, map(sentence_row, sentences))
    typer.echo(f"dtg: {path} has {pluralize(len(sentences), 'sentence')}.", err=True)
