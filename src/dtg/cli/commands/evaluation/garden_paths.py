"""`dtg evaluate garden-paths`: effects of garden paths, in bits and ms, by beam."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from dtg.cli.commands.evaluation.options import ResultsGroup, check_surprisals, names_in, show_together
from dtg.cli.commands.evaluation.reading import folder_names
from dtg.cli.groups import takes_groups
from dtg.cli.options import AccuracyOption, BeamOption, BoundaryOption, ModelsOption, WordBeamOption
from dtg.errors import InputError
from dtg.tables.columns import Base


@takes_groups
def evaluate_garden_paths(
    source: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A table with item, condition, sentence and region; or one of SAP's."),
    ],
    *,
    model: ModelsOption = None,
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
            help="ms for a bit of surprisal: a number, or the folder of dtg evaluate reading --out of the same models.",
            metavar="MS|FOLDER",
        ),
    ] = None,
    results: ResultsGroup,
) -> None:
    """How much more surprising the word that disambiguates is than in an unambiguous sentence, and the two words after it.

    dtg evaluate garden-paths sap_classic_gp.csv --beams 1,3,10,30,100 --out results/garden-paths

    dtg evaluate garden-paths items.csv --model txl-small --ms results/reading/txl-small --against results/garden-paths

    With several models each has a folder in --out, and all are compared with the first. docs/reading.md describes the tables,
    and what the effects mean.
    """
    check_surprisals(model, surprisals, base)
    widths = names_in(beams)
    if widths is not None and not (widths and all(one.isdigit() and int(one) for one in widths)):
        raise InputError(
            f"--beams takes whole numbers with commas between them, such as 1,10,100; {beams!r} was given."
        )
    from dtg.evaluation.tasks.garden_paths.task import GardenPaths
    from dtg.evaluation.tasks.garden_paths.together import side_by_side

    options: dict[str, Any] = {"accuracy": accuracy, "beam": beam, "word_beam": word_beam, "boundary": boundary}
    options |= {"beams": None if widths is None else list(map(int, widths)), "conversion": conversion}
    if model is None or len(model) == 1:
        task = GardenPaths.of(source, surprisals=surprisals, base=base, **options)
        results.run(task, None if surprisals is not None else results.load(None if model is None else model[0]))
        return
    if results.name is not None or results.against is not None:
        raise InputError("--name and --against are for one model; with several, all are compared with the first.")
    found = []
    for one, called in zip(model, folder_names(model), strict=True):
        task = GardenPaths.of(source, **{**options, "conversion": of_model(conversion, called)})
        some = replace(results, out=None if results.out is None else results.out / called)
        found.append(some.run(task, some.load(one), is_quiet=True))
    done = [one for one in found if one is not None]
    show_together(done, results.out, "effects", side_by_side, "effects", GardenPaths.chart)


def of_model(conversion: str | None, name: str) -> str | None:
    """The folder of a model, where that of several models was given."""
    if conversion is not None and (Path(conversion) / name / "results.json").is_file():
        return str(Path(conversion) / name)
    return conversion
