"""`dtg evaluate garden-paths`: effects of garden paths, in bits and ms, by beam."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dtg.cli.commands.evaluation.options import ResultsGroup, check_surprisals, names_in
from dtg.cli.groups import takes_groups
from dtg.cli.options import AccuracyOption, BeamOption, BoundaryOption, ModelOption, WordBeamOption
from dtg.errors import InputError
from dtg.tables.columns import Base


@takes_groups
def evaluate_garden_paths(
    source: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A table with item, condition, sentence and region; or one of SAP's."),
    ],
    *,
    model: ModelOption = None,
    surprisals: Annotated[
        Path | None, typer.Option(help="A table of surprisals of another tool, in place of a --model.", metavar="FILE")
    ] = None,
    base: Annotated[
        Base | None, typer.Option(help="Logarithms of --surprisals, where the table does not say: 2 or e.")
    ] = None,
    accuracy: AccuracyOption = None,
    beam: BeamOption = None,
    beams: Annotated[
        str | None,
        typer.Option(
            help="Several beams, with commas between them; the widest is reported, all are drawn.", metavar="N,N"
        ),
    ] = None,
    word_beam: WordBeamOption = None,
    boundary: BoundaryOption = "next",
    conversion: Annotated[
        str | None,
        typer.Option(
            "--ms",
            help="ms for a bit of surprisal: a number, or the folder of dtg evaluate reading --out of the same model.",
            metavar="MS|FOLDER",
        ),
    ] = None,
    results: ResultsGroup,
) -> None:
    """How much more surprising the word that disambiguates is than in an unambiguous sentence, and the two words after it.

    dtg evaluate garden-paths sap_classic_gp.csv --beams 1,3,10,30,100 --out results/garden-paths

    dtg evaluate garden-paths items.csv --model txl-mini --ms results/reading/txl-mini --against results/garden-paths

    docs/reading.md describes the tables, and what the effects mean.
    """
    check_surprisals(model, surprisals, base)
    widths = names_in(beams)
    if widths is not None and not (widths and all(one.isdigit() and int(one) for one in widths)):
        raise InputError(
            f"--beams takes whole numbers with commas between them, such as 1,10,100; {beams!r} was given."
        )
    from dtg.evaluation.tasks.garden_paths.task import GardenPaths

    options: dict[str, Any] = {"accuracy": accuracy, "beam": beam, "word_beam": word_beam, "boundary": boundary}
    options |= {"beams": None if widths is None else list(map(int, widths)), "conversion": conversion}
    task = GardenPaths.of(source, surprisals=surprisals, base=base, **options)
    results.run(task, None if surprisals is not None else results.load(model))
