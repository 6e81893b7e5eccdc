"""`dtg evaluate blimp` and `dtg evaluate pairs`: how often a language model prefers the acceptable sentence of two."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from dtg.cli.commands.evaluation.options import ByOption, ResultsGroup, SelectionGroup, names_in, tell
from dtg.cli.groups import ProposalGroup, SearchGroup, SurprisalGroup, takes_groups
from dtg.cli.options import ModelOption, note_renamed
from dtg.errors import InputError


@takes_groups
def evaluate_blimp(
    source: Annotated[Path, typer.Argument(metavar="DIR", help="BLiMP's folder of .jsonl files, or one such file.")],
    *,
    model: ModelOption = None,
    paradigms: Annotated[str | None, typer.Option(help="Only these, with commas between them.", metavar="A,B")] = None,
    selection: SelectionGroup,
    first: Annotated[int | None, typer.Option(min=1, hidden=True)] = None,
    share: Annotated[float | None, typer.Option(hidden=True)] = None,
    by: ByOption = "beam",
    search: SearchGroup,
    proposal: ProposalGroup,
    results: ResultsGroup,
) -> None:
    """Compare log p of the two sentences of every pair: right is whoever prefers the acceptable one.

    dtg evaluate blimp blimp/data --model runs/dtg/best --limit 100 --beam 50 --word-beam 10 --out results/dtg

    dtg evaluate blimp blimp/data --model runs/dtg/best --by proposal --parser runs/parser/best --out results/dtg-trees

    docs/blimp.md says how pairs are counted. `torchrun` shares the work between processes.
    """
    if first is not None:
        note_renamed("--first", "--limit")
        selection = replace(selection, limit=first)
    if share is not None:
        note_renamed("--share", "--sample (a number, not a share)")
    from dtg.evaluation.tasks.pairs.blimp import Blimp

    how = how_of(by, search, proposal, results)
    task = Blimp.of(source, paradigms=names_in(paradigms), share=share, **vars(selection), **how)
    tell(task.notes)
    results.run(task, results.load(model))


@takes_groups
def evaluate_pairs(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A table of pairs: .csv, .tsv, .jsonl or .parquet.")],
    *,
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
    selection: SelectionGroup,
    by: ByOption = "beam",
    search: SurprisalGroup,
    proposal: ProposalGroup,
    results: ResultsGroup,
) -> None:
    """Compare log p of the two sentences of every pair in a table of one's own.

    dtg evaluate pairs pairs.tsv --good grammatical --bad ungrammatical --group construction --out results/pairs

    dtg evaluate pairs pairs.csv --region verb --model txl-small --against results/pairs

    Columns that are not named are kept in the table of pairs that --out writes. docs/blimp.md says how pairs are counted.
    """
    if search.boundary == "own" and region is None:
        raise InputError(
            "--boundary own is about the words of a --region COLUMN; log p of a sentence is the same either way."
        )
    from dtg.evaluation.tasks.pairs.task import MinimalPairs

    columns = names_in(region)
    regions = None if columns is None else columns[0] if len(columns) == 1 else columns
    how = how_of(by, search, proposal, results)
    task = MinimalPairs.of(source, good=good, bad=bad, group=group, region=regions, **vars(selection), **how)
    tell(task.notes)
    results.run(task, results.load(model))


def how_of(by: str, search: SearchGroup, proposal: ProposalGroup, results: ResultsGroup) -> dict[str, Any]:
    """How log p is found; raises if trees are proposed that nobody uses."""
    if by == "beam" and proposal.parser is not None:
        raise InputError("--parser is for --by proposal; a beam search finds its trees by itself.")
    return {"by": by, **vars(search), **proposal.options, "device": results.device}
