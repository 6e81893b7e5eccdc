"""`dtg evaluate blimp` and `dtg evaluate pairs`: how often a language model prefers the acceptable sentence of two."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dtg.cli.commands.evaluation.options import (
    AgainstOption,
    ByOption,
    DeviceOption,
    LimitOption,
    NameOption,
    ResultsOption,
    SampleOption,
    SeedOption,
    names_in,
    renamed,
    run_and_show,
)
from dtg.cli.options import (
    AccuracyOption,
    BeamOption,
    BoundaryOption,
    ModelOption,
    ProposalOption,
    TreesOption,
    WordBeamOption,
)
from dtg.errors import InputError


def evaluate_blimp(
    source: Annotated[Path, typer.Argument(metavar="DIR", help="BLiMP's folder of .jsonl files, or one such file.")],
    model: ModelOption = None,
    paradigms: Annotated[str | None, typer.Option(help="Only these, with commas between them.", metavar="A,B")] = None,
    limit: LimitOption = None,
    sample: SampleOption = None,
    first: Annotated[int | None, typer.Option(min=1, hidden=True)] = None,
    share: Annotated[float | None, typer.Option(hidden=True)] = None,
    by: ByOption = "beam",
    accuracy: AccuracyOption = None,
    beam: BeamOption = None,
    word_beam: WordBeamOption = None,
    parser: ProposalOption = None,
    trees: TreesOption = 300,
    seed: SeedOption = 0,
    out: ResultsOption = None,
    against: AgainstOption = None,
    name: NameOption = None,
    device: DeviceOption = "auto",
) -> None:
    """Compare log p of the two sentences of every pair: right is whoever prefers the acceptable one.

    dtg evaluate blimp blimp/data --model runs/dtg/best --limit 100 --beam 50 --word-beam 10 --out results/dtg

    dtg evaluate blimp blimp/data --model runs/dtg/best --by proposal --parser runs/parser/best --out results/dtg-trees

    docs/blimp.md says how pairs are counted. `torchrun` shares the work between processes.
    """
    renamed("--first", "--limit", first)
    renamed("--share", "--sample (a number, not a share)", share)
    check_proposal(by, parser)
    from dtg.evaluation.models import EvaluatedModel
    from dtg.evaluation.tasks.pairs.blimp import Blimp

    how = {
        "by": by,
        "beam": beam,
        "word_beam": word_beam,
        "accuracy": accuracy,
        "proposal": parser,
        "trees": trees,
        "device": device,
    }
    task = Blimp.of(
        source, paradigms=names_in(paradigms), limit=limit or first, sample=sample, share=share, seed=seed, **how
    )
    for note in task.notes:
        typer.echo(f"dtg: {note}", err=True)
    run_and_show(task, EvaluatedModel.of(model, device, name), out=out, against=against)


def evaluate_pairs(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A table of pairs: .csv, .tsv, .jsonl or .parquet.")],
    good: Annotated[str, typer.Option(help="The column with the acceptable sentence.", metavar="COLUMN")] = "good",
    bad: Annotated[str, typer.Option(help="The column with the other.", metavar="COLUMN")] = "bad",
    group: Annotated[
        str | None, typer.Option(help="The column to group pairs by; `group` if there is one.", metavar="COLUMN")
    ] = None,
    region: Annotated[
        str | None,
        typer.Option(
            help="Compare a critical region only: the column with its words, or their numbers (4, 4-6); two columns with a "
            "comma between them if they differ.",
            metavar="COLUMN[,COLUMN]",
        ),
    ] = None,
    model: ModelOption = None,
    limit: LimitOption = None,
    sample: SampleOption = None,
    by: ByOption = "beam",
    accuracy: AccuracyOption = None,
    beam: BeamOption = None,
    word_beam: WordBeamOption = None,
    boundary: BoundaryOption = "next",
    parser: ProposalOption = None,
    trees: TreesOption = 300,
    seed: SeedOption = 0,
    out: ResultsOption = None,
    against: AgainstOption = None,
    name: NameOption = None,
    device: DeviceOption = "auto",
) -> None:
    """Compare log p of the two sentences of every pair in a table of one's own.

    dtg evaluate pairs pairs.tsv --good grammatical --bad ungrammatical --group construction --out results/pairs

    dtg evaluate pairs pairs.csv --region verb --model txl-mini --against results/pairs

    Columns that are not named are kept in the table of pairs that --out writes. docs/blimp.md says how pairs are counted.
    """
    check_proposal(by, parser)
    if boundary == "own" and region is None:
        raise InputError(
            "--boundary own is about the words of a --region COLUMN; log p of a sentence is the same either way."
        )
    from dtg.evaluation.models import EvaluatedModel
    from dtg.evaluation.tasks.pairs.task import Pairs

    columns = names_in(region)
    regions = None if columns is None else columns[0] if len(columns) == 1 else columns
    search = {"accuracy": accuracy, "beam": beam, "word_beam": word_beam, "boundary": boundary}
    how = {"by": by, **search, "proposal": parser, "trees": trees, "device": device}
    task = Pairs.of(
        source, good=good, bad=bad, group=group, region=regions, limit=limit, sample=sample, seed=seed, **how
    )
    for note in task.notes:
        typer.echo(f"dtg: {note}", err=True)
    run_and_show(task, EvaluatedModel.of(model, device, name), out=out, against=against)


def check_proposal(by: str, parser: str | None) -> None:
    """Raise if trees are proposed that nobody uses."""
    if by == "beam" and parser is not None:
        raise InputError("--parser is for --by proposal; a beam search finds its trees by itself.")
