"""A folder with a report: the page as HTML and Markdown, its pictures, and its tables.

FOLDER/report.html     the page, in one file
FOLDER/report.md       the same as Markdown
FOLDER/figures/*.svg, *.pdf
FOLDER/tables/*.csv    numbers as they are in the results, unrounded
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from dtg.errors import InputError, MissingExtraError
from dtg.evaluation.report.benchmarks import (
    blimp_section,
    pairs_section,
    perplexity_section,
    reranking_section,
    syntaxgym_section,
)
from dtg.evaluation.report.formats import html, markdown
from dtg.evaluation.report.gathering import Gathered, ReportedModel
from dtg.evaluation.report.human import garden_paths_section, reading_section
from dtg.evaluation.report.overview import Headlines, overview, parser_section, representation_section
from dtg.evaluation.report.page import MISSING, Cell, Figure, Page, ReportTable, Text
from dtg.evaluation.report.paired import paired_section
from dtg.evaluation.report.seeds import seeds_section
from dtg.evaluation.report.training import conventions_section, training_section
from dtg.evaluation.results import write_rows, write_text
from dtg.tables.columns import Column, Value

# What results of the wrong types or with missing keys lead to.
WRONG_CONTENT = (KeyError, TypeError, ValueError, IndexError, AttributeError, AssertionError, ArithmeticError)
HTML, MARKDOWN = "report.html", "report.md"
LEGEND = "–: there is no such number. (a), (b): see the note below the table or picture."
NO_PICTURES = "Pictures are left out: they need matplotlib, `pip install matplotlib`."


def page_of(gathered: Gathered) -> Page:
    """Everything that is told; results that hold something else than dtg writes are named."""
    try:
        return make_page(gathered)
    except WRONG_CONTENT as error:
        for model in gathered.models:
            for kind, found in model.results.items():
                try:
                    make_page(Gathered((ReportedModel(model.name, {kind: found}),), (), ()))
                except WRONG_CONTENT:
                    raise InputError(
                        f"the results in {found.place} are damaged, or not those of this dtg ({describe(error)}). Evaluate "
                        f"{kind} again."
                    ) from error
        raise InputError(f"the results are damaged, or do not fit together ({describe(error)}).") from error


def describe(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error)[:200]}"


def make_page(gathered: Gathered) -> Page:
    """The page, if all results are as they should be."""
    models = gathered.models
    headlines = Headlines.of(models)
    names = ", ".join(model.name for model in models) or "parsers only"
    sections = (
        overview(models, headlines),
        syntaxgym_section(models),
        blimp_section(models),
        pairs_section(models),
        reading_section(models),
        garden_paths_section(models),
        paired_section(models),
        seeds_section(models),
        reranking_section(models),
        parser_section(models, gathered.parsers, headlines),
        representation_section(models, headlines),
        perplexity_section(models),
        training_section(models),
        conventions_section(gathered),
    )
    return Page(f"Language models: {names}", (Text((LEGEND,)),), tuple(section for section in sections if section))


def write_report(folder: Path, page: Page) -> bool:
    """Write all files; false if matplotlib is not there to draw the pictures."""
    check_folder(folder)
    for name in ("figures", "tables"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    blocks = [block for section in page.sections for block in section.blocks]
    for block in blocks:
        if isinstance(block, ReportTable):
            write_table(folder / "tables" / f"{block.name}.csv", block)
    figures = [block for block in blocks if isinstance(block, Figure)]
    pictures: dict[str, str] = {}
    try:
        for figure in figures:
            for suffix in ("pdf", "svg"):
                figure.draw(folder / "figures" / f"{figure.name}.{suffix}")
            pictures[figure.name] = (folder / "figures" / f"{figure.name}.svg").read_text(encoding="utf-8")
    except MissingExtraError:
        page = Page(page.title, (*page.introduction, Text((NO_PICTURES,))), page.sections)
    remove_others(folder / "tables", [block.name for block in blocks if isinstance(block, ReportTable)])
    remove_others(folder / "figures", list(pictures))
    write_text(folder / MARKDOWN, markdown(page, pictures))
    write_text(folder / HTML, html(page, pictures))
    return len(pictures) == len(figures)


def remove_others(folder: Path, names: Sequence[str]) -> None:
    """Remove what an earlier report has left here and this one does not have."""
    for path in folder.iterdir():
        if path.stem not in names and path.suffix in (".csv", ".pdf", ".svg"):
            path.unlink()


def check_folder(folder: Path) -> None:
    """Raise if there is something else in the way."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"cannot write a report to {folder}: it is a file. Name a folder.")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / HTML).is_file():
        raise InputError(f"{folder} is not empty, and has no report in it. Name another folder, or empty it.")


def write_table(path: Path, table: ReportTable) -> None:
    """The table's numbers, unrounded; intervals have columns of their own, and notes the last one."""
    has_interval = [any(row[place].interval for row in table.rows) for place in range(len(table.header))]
    columns: list[Column] = []
    for cell, is_wide in zip(table.header, has_interval, strict=True):
        columns += [Column(cell.text, float, "")]
        columns += [Column(f"{cell.text}, {end}", float, "") for end in ("low", "high")] if is_wide else []
    rows = []
    for row in table.rows:
        values: list[Value] = []
        for cell, is_wide in zip(row, has_interval, strict=True):
            values.append(exact(cell))
            values += (cell.interval or (None, None)) if is_wide else ()
        rows.append((*values, " ".join(distinct(note for cell in row for note in cell.notes))))
    write_rows(path, [*columns, Column("notes", str, "")], rows)


def exact(cell: Cell) -> Value:
    return cell.number if cell.number is not None else None if cell.text == MISSING else cell.text


def distinct(notes: Iterable[str]) -> Sequence[str]:
    return list(dict.fromkeys(notes))
