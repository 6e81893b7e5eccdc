"""`dtg evaluate sg`: whether a language model is surprised where SyntaxGym's suites say it should be."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from dtg.cli.commands.evaluation.options import (
    AgainstOption,
    DeviceOption,
    LimitOption,
    NameOption,
    ResultsOption,
    SampleOption,
    SeedOption,
    names_in,
    run_and_show,
)
from dtg.cli.options import AccuracyOption, BeamOption, BoundaryOption, ModelOption, WordBeamOption
from dtg.errors import InputError
from dtg.io.messages import pluralize
from dtg.tables.columns import Base


def evaluate_sg(
    source: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of SyntaxGym's .json suites, or one suite.")],
    model: ModelOption = None,
    suites: Annotated[str | None, typer.Option(help="Only these, with commas between them.", metavar="A,B")] = None,
    limit: LimitOption = None,
    sample: SampleOption = None,
    seed: SeedOption = 0,
    accuracy: AccuracyOption = None,
    beam: BeamOption = None,
    word_beam: WordBeamOption = None,
    boundary: BoundaryOption = "next",
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
    out: ResultsOption = None,
    against: AgainstOption = None,
    name: NameOption = None,
    device: DeviceOption = "auto",
) -> None:
    """Surprisals of every region, which predictions hold, and the averages in use.

    dtg evaluate sg syntaxgym/ --model runs/dtg/best --out results/dtg

    dtg evaluate sg syntaxgym/ --surprisals other-tool.csv --name gpt2 --against results/dtg

    docs/syntaxgym.md says how items are counted. `torchrun` shares the work between processes.
    """
    if sentences is not None and (model is not None or surprisals is not None):
        raise InputError("--sentences FILE writes the sentences and stops; leave --model and --surprisals out.")
    if model is not None and surprisals is not None:
        raise InputError("surprisals come from a --model or from a table, --surprisals FILE; give one of them.")
    if base is not None and surprisals is None:
        raise InputError("--base says what the numbers of --surprisals FILE are; name that too.")
    chosen = names_in(suites)
    if sentences is not None:
        write_sentences(sentences, source, chosen)
        return
    from dtg.evaluation.models import EvaluatedModel
    from dtg.evaluation.tasks.syntaxgym.task import SyntaxGym

    unit = base
    options: dict[str, Any] = {
        "rule": rule,
        "limit": limit,
        "sample": sample,
        "seed": seed,
        "beam": beam,
        "word_beam": word_beam,
        "accuracy": accuracy,
        "boundary": boundary,
    }
    task = SyntaxGym.of(source, suites=chosen, surprisals=surprisals, base=unit, **options)
    evaluated = None if surprisals is not None else EvaluatedModel.of(model, device, name)
    run_and_show(task, evaluated, out=out, against=against, name=name)


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
