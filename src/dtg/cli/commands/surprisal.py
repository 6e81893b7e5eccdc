"""`dtg surprisal`: the surprisal of each word of a text, a file, or a column of a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from dtg.cli.commands.evaluation.options import names_in
from dtg.cli.options import (
    AccuracyOption,
    BaseOption,
    BeamOption,
    BoundaryOption,
    ColumnsOption,
    DeviceOption,
    FormatOption,
    LimitOption,
    ModelsOption,
    OutOption,
    OverwriteOption,
    ParagraphsOption,
    ResumeOption,
    TokenizedOption,
    WordBeamOption,
    note_renamed,
)
from dtg.cli.output.destination import Destination
from dtg.cli.output.tables import write_table
from dtg.cli.searching import Search, warn_of_kept

Per = Literal["word", "whitespace"]
ADVICE = "If it is running text, pass --paragraphs; searching sentences this long is slow."


def surprisal(
    source: Annotated[
        str,
        typer.Argument(
            metavar="TEXT|FILE|-", help="A sentence; a file with one on each line, or a table; - reads stdin."
        ),
    ],
    model: ModelsOption = None,
    column: Annotated[
        str | None,
        typer.Option(
            help="FILE is a table (.csv, .tsv, .jsonl, .parquet), and this column has the sentences; the others are "
            "repeated beside each word.",
            metavar="NAME",
        ),
    ] = None,
    paragraphs: ParagraphsOption = False,
    accuracy: AccuracyOption = None,
    beam: BeamOption = None,
    word_beam: WordBeamOption = None,
    boundary: BoundaryOption = "next",
    columns: ColumnsOption = None,
    out: OutOption = None,
    format: FormatOption = None,
    base: BaseOption = "2",
    per: Annotated[
        Per, typer.Option(help="A row for each word, or for each whitespace-separated word (sums over its words).")
    ] = "word",
    end: Annotated[bool, typer.Option("--end", help="A row for <END>, the end of each sentence, too.")] = False,
    tokenized: TokenizedOption = False,
    literal: Annotated[
        bool, typer.Option("--literal", help="The argument is a sentence, even if it looks like the name of a file.")
    ] = False,
    text: Annotated[bool, typer.Option("--text", hidden=True)] = False,
    draw: Annotated[
        list[Path] | None,
        typer.Option(
            help="Draw the surprisals as bars, lexical and structural part, a panel for each sentence: .svg, .png or .pdf.",
            metavar="FILE",
        ),
    ] = None,
    limit: LimitOption = None,
    resume: ResumeOption = False,
    overwrite: OverwriteOption = False,
    device: DeviceOption = "auto",
) -> None:
    """Surprisal of each word: -log p(word | words before it), in bits, and what goes with it.

    dtg surprisal "The dog barks." --model run/best --draw dog.svg

    dtg surprisal items.txt --model run/best --model txl-small --out items.csv

    dtg surprisal stimuli.csv --column sentence --out words.csv

    docs/surprisal.md describes the columns, and how to read them into R. `torchrun` shares the work (docs/clusters.md).
    """
    if text:
        note_renamed("--text", "--literal")
    from dtg.cli.loading import load_models
    from dtg.cli.sentences import LengthWarning, stimuli, tell_empty
    from dtg.cli.surprisal_table import SurprisalTable

    sentences = stimuli(source, literal=literal or text, column=column, paragraphs=paragraphs, tokenized=tokenized)
    search = Search(beam, word_beam, tokenized, boundary, tuple(names_in(columns) or ()), accuracy)
    search.options  # noqa: B018 - checked before anything slow happens
    inputs: list[str | Path] = [*(model or []), *([] if literal or text else [source])]
    to = Destination.of(out, format, resume=resume, overwrite=overwrite, inputs=inputs)
    check_draw(draw or [], to)
    table = SurprisalTable(
        load_models(model, device),
        sentences,
        search,
        base,
        per,
        end,
        LengthWarning(sentences.unit, "" if paragraphs else ADVICE),
        {"column": column, "paragraphs": paragraphs or None, "limit": limit},
    )
    if to.is_for_people:
        table.show(draw or [])
    else:
        write_table(table.work(), to, lambda: table.sidecar(to))
    table.length_warning.end()
    warn_of_kept(search.kept, to)
    tell_empty(sentences)


def check_draw(paths: Sequence[Path], to: Destination) -> None:
    """Raise, before anything is computed, if these pictures cannot be drawn."""
    from dtg.errors import InputError
    from dtg.io.pictures import check_picture_path

    if paths and not to.is_for_people:
        raise InputError("--draw goes with tables on the screen: leave out --out and --format.")
    for path in paths:
        check_picture_path(path)
