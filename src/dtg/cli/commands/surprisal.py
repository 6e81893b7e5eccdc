"""`dtg surprisal`: a number for each word of a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from dtg.cli.table_options import (
    BaseChoice,
    BaseOption,
    BeamOption,
    DeviceOption,
    FormatOption,
    ModelOption,
    OutOption,
    OverwriteOption,
    ResumeOption,
    TokenizedOption,
    WordBeamOption,
)
from dtg.cli.tables import Destination, Run, Search, Work, write_table

if TYPE_CHECKING:
    from dtg.scoring.columns import Per
    from dtg.scoring.surprisal import SentenceSurprisal
    from dtg.tables.columns import Row
    from dtg.tables.items import Item


class PerChoice(StrEnum):
    word = "word"
    whitespace = "whitespace"

    @property
    def per(self) -> Per:
        return self.value


def surprisal(
    source: Annotated[
        str, typer.Argument(metavar="TEXT | FILE | -", help="A sentence; a file with one on each line; - reads stdin.")
    ],
    model: ModelOption = None,
    beam: BeamOption = 300,
    word_beam: WordBeamOption = None,
    out: OutOption = None,
    format: FormatOption = None,
    base: BaseOption = BaseChoice.bits,
    per: Annotated[
        PerChoice, typer.Option(help="A row for each word, or for what stands between spaces (sums over its words).")
    ] = PerChoice.word,
    end: Annotated[bool, typer.Option("--end", help="A row for <END>, the end of each sentence, too.")] = False,
    tokenized: TokenizedOption = False,
    text: Annotated[
        bool, typer.Option("--text", help="The argument is a sentence, even if a file has that name.")
    ] = False,
    draw: Annotated[
        list[Path] | None, typer.Option(help="Draw the sentence's surprisals: .svg, .png or .pdf.", metavar="FILE")
    ] = None,
    resume: ResumeOption = False,
    overwrite: OverwriteOption = False,
    device: DeviceOption = "cpu",
) -> None:
    """How surprising each word is: -log p(word | words before it), in bits, and what goes with it.

    dtg surprisal "The dog barks." --model run/best --draw dog.svg

    dtg surprisal items.txt --model run/best --out items.csv

    docs/surprisal.md describes the columns, and how to read them into R.
    """
    from dtg.cli.sentences import tell_empty, text_or_file
    from dtg.cli.surprisal_table import show
    from dtg.scoring.columns import SURPRISAL_COLUMNS, surprisal_rows
    from dtg.tables.filling import groups, paired
    from dtg.tables.items import OneText

    items = text_or_file(source, is_text=text)
    to = Destination.of(out, format, resume=resume, overwrite=overwrite)
    check_draw(draw or [], one_sentence=isinstance(items, OneText) and to.is_for_people)
    run, search = Run.of(model, device, base, to), Search(beam, word_beam, tokenized)

    def compute(items: Iterator[Item[str]]) -> Iterator[SentenceSurprisal]:
        return search.surprisals(run.model, items)

    def rows(item: Item[str], result: SentenceSurprisal) -> list[Row]:
        return surprisal_rows(result, item.sentence_id, base=base.base, per=per.per, end=end)

    if to.is_for_people:
        known, console = "exact" if run.known == "exact" else f"{run.known} by beam {beam}", Console(highlight=False)
        for item, result in (pair for some in groups(items, search.together(items)) for pair in paired(some, compute)):
            title = None if isinstance(items, OneText) else f"sentence {item.sentence_id}"
            show(console, result, base, per.per, end=end, known=known, title=title)
            draw_rows(draw or [], rows(item, result), run.model.config.family, base)
    else:
        options = {**search.settings, "per": per.value, "end": end}
        work = Work(items, items.size, compute, rows, SURPRISAL_COLUMNS, search.together(items))
        write_table(work, to, lambda: run.sidecar("surprisal", options, items.name, SURPRISAL_COLUMNS))
    tell_empty(items)


def check_draw(paths: Sequence[Path], *, one_sentence: bool) -> None:
    """Raise, before anything is computed, if these pictures cannot be drawn."""
    from dtg.errors import InputError
    from dtg.io.pictures import check_picture_path

    if paths and not one_sentence:
        raise InputError("--draw is for one sentence: give it as the argument, without --out and --format.")
    for path in paths:
        check_picture_path(path)


def draw_rows(paths: Sequence[Path], rows: Sequence[Row], family: str, base: BaseChoice) -> None:
    """A bar for each row of the table."""
    from dtg.scoring.columns import SURPRISAL_COLUMNS
    from dtg.scoring.picture import draw_surprisals

    names = [column.name for column in SURPRISAL_COLUMNS]
    words = [str(row[names.index("word")]) for row in rows]
    surprisals = [float(row[names.index("surprisal")] or 0) for row in rows]
    for path in paths:
        draw_surprisals(path, words, {family: surprisals}, base.unit)
        typer.echo(f"dtg: drew {path}.", err=True)
