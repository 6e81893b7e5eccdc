"""A page as one HTML file: sections and pictures in, text out that refers to nothing outside of itself and needs no script."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

from dtg.evaluation.report.markdown import code_parts
from dtg.evaluation.report.page import MISSING, Block, Cell, Figure, Page, Section, Table, letters, marks
from dtg.evaluation.report.style import STYLE

NOT_FOR_HTML = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<metadata>.*?</metadata>|\sxmlns(?::\w+)?=\"[^\"]*\"", re.DOTALL)
REFERENCE = re.compile(r'(\bid="|url\(#|xlink:href="#)')


def html(page: Page, pictures: Mapping[str, str]) -> str:
    """The whole page; `pictures` are SVG files by name."""
    links = "".join(f'<li><a href="#{escape(one.identifier)}">{escape(one.title)}</a></li>' for one in page.sections)
    introduction = "".join(block_html(block, pictures) for block in page.introduction)
    sections = "".join(section_html(section, pictures) for section in page.sections)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(page.title)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{escape(page.title)}</h1>\n{introduction}"
        f'<nav aria-label="Sections"><ul>{links}</ul></nav>\n</header>\n<main>\n{sections}</main>\n</body>\n</html>\n'
    )


def section_html(section: Section, pictures: Mapping[str, str]) -> str:
    name = escape(section.identifier)
    blocks = "".join(block_html(block, pictures) for block in section.blocks)
    return f'<section aria-labelledby="{name}">\n<h2 id="{name}">{escape(section.title)}</h2>\n{blocks}</section>\n'


def block_html(block: Block, pictures: Mapping[str, str]) -> str:
    if isinstance(block, Table):
        shown = table_html(block)
        return f"<details><summary>{escape(block.title)}</summary>\n{shown}</details>\n" if block.is_folded else shown
    if isinstance(block, Figure):
        return figure_html(block, pictures[block.name]) if block.name in pictures else ""
    if len(block.items) == 1:
        return f"<p>{inline(block.items[0])}</p>\n"
    return "<ul>\n" + "".join(f"<li>{inline(item)}</li>\n" for item in block.items) + "</ul>\n"


def table_html(table: Table) -> str:
    """A table in a frame of its own that scrolls, by keys too; its rows and columns have headers."""
    of = table.letters()
    is_text = [
        any(cell.number is None and cell.text != MISSING for cell in column) for column in zip(*table.rows, strict=True)
    ]
    kinds = ["" if has_text else ' class="number"' for has_text in is_text]
    head = "".join(
        f'<th scope="col"{kind}>{cell_html(cell, of)}</th>' for cell, kind in zip(table.header, kinds, strict=True)
    )
    body = "".join(
        f'<tr><th scope="row">{cell_html(first, of)}</th>'
        + "".join(f"<td{kind}>{cell_html(cell, of)}</td>" for cell, kind in zip(others, kinds[1:], strict=True))
        + "</tr>\n"
        for first, *others in table.rows
    )
    caption = "" if table.is_folded else f"<caption>{escape(table.title)}</caption>\n"
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(table.title)}">\n<table>\n'
        f"{caption}<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n</div>\n" + notes_html(of)
    )


def figure_html(figure: Figure, svg: str) -> str:
    """A picture as part of the page. Names in it get its own in front, for no name may be there twice."""
    image = REFERENCE.sub(lambda found: f"{found[0]}{figure.name}-", NOT_FOR_HTML.sub("", svg)).strip()
    label = f'<svg role="img" aria-label="{escape(figure.description)}"'
    return (
        f'<figure>\n<div class="scroll picture" tabindex="0" role="region" aria-label="{escape(figure.title)}">\n'
        f"{image.replace('<svg', label, 1)}\n</div>\n<figcaption>{escape(figure.title)}</figcaption>\n"
        f"{notes_html(letters(figure.notes))}</figure>\n"
    )


def notes_html(of: Mapping[str, str]) -> str:
    if not of:
        return ""
    return '<div class="notes">' + "".join(f"<p>({of[note]}) {inline(note)}</p>\n" for note in of) + "</div>\n"


def cell_html(cell: Cell, of: Mapping[str, str]) -> str:
    letter = marks(cell.notes, of)
    return escape(cell.text) + (f'<span class="mark">{letter}</span>' if letter else "")


def inline(text: str) -> str:
    """A text whose backticks enclose code."""
    return "".join(f"<code>{escape(part)}</code>" if is_code else escape(part) for part, is_code in code_parts(text))
