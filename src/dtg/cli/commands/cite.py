"""`dtg cite`: what a paper should say of a model's surprisals, and BibTeX."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dtg.cli.groups import SurprisalGroup, takes_groups
from dtg.tables.formats import FORMATS


@takes_groups
def cite(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL|TABLE", help="A model, its folder or its name; or a table that dtg surprisal wrote."
        ),
    ],
    search: SurprisalGroup,
) -> None:
    """A checklist for a paper's methods section, and BibTeX of what was used.

    dtg cite dtg-small --beam 100 --boundary own

    dtg cite words.csv

    Of a table, beam, boundary and what the search kept are read from it and the file beside it.
    """
    from dtg.evaluation.citations import cite_model, cite_table

    is_table = source.suffix.lstrip(".") in FORMATS and source.is_file()
    found = cite_table(source) if is_table else cite_model(source, **vars(search))
    typer.echo(found.text(), nl=False)
