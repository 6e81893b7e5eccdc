"""A report's page as Markdown, with links to the pictures and tables beside it, and as one HTML file (report.html.j2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from dtg.evaluation.rendering import markdown_table
from dtg.evaluation.report.page import Cell, Figure, Page, ReportBlock, ReportTable, letters, marks

TEMPLATE = "report.html.j2"
SPECIAL = re.compile(r"[\\`*_<>]|(?<=\])\(|&(?=#?\w+;)")  # in Markdown
NOT_FOR_HTML = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<metadata>.*?</metadata>|\sxmlns(?::\w+)?=\"[^\"]*\"", re.DOTALL)
REFERENCE = re.compile(r'(\bid="|url\(#|xlink:href="#)')


def markdown(page: Page, pictures: Mapping[str, str]) -> str:
    """The whole page. Pictures that could not be drawn are left out, folded tables are linked."""
    parts = [f"# {escaped(page.title)}\n", *(block_text(block, pictures) for block in page.introduction)]
    for section in page.sections:
        parts.append(f"## {section.title}\n")
        parts += [block_text(block, pictures) for block in section.blocks]
    return "\n".join(part for part in parts if part)


def block_text(block: ReportBlock, pictures: Mapping[str, str]) -> str:
    """One block, with an empty line to come after it."""
    if isinstance(block, ReportTable):
        return table_text(block)
    if isinstance(block, Figure):
        return figure_text(block) if block.name in pictures else ""
    lines = [inline_markdown(item) for item in block.items]
    return "".join(f"- {line}\n" for line in lines) if len(lines) > 1 else f"{lines[0]}\n"


def table_text(table: ReportTable) -> str:
    link = f"([{table.name}.csv](tables/{table.name}.csv))"
    title = f"**{escaped(table.title)}** {link}\n"
    if table.is_folded:
        return title
    of = table.letters()
    header, *rows = ([cell_text(cell, of) for cell in row] for row in (table.header, *table.rows))
    return f"{title}\n{markdown_table(header, rows)}{notes_text(of)}"


def figure_text(figure: Figure) -> str:
    links = ", ".join(f"[{suffix}](figures/{figure.name}.{suffix})" for suffix in ("svg", "pdf"))
    picture = f"![{escaped(figure.description).replace(']', chr(92) + ']')}](figures/{figure.name}.svg)"
    return f"{picture}\n\n**{escaped(figure.title)}** ({links})\n{notes_text(letters(figure.notes))}"


def notes_text(of: Mapping[str, str]) -> str:
    return "".join(f"\n({letter}) {inline_markdown(note)}\n" for note, letter in of.items())


def cell_text(cell: Cell, of: Mapping[str, str]) -> str:
    return escaped(cell.text) + marks(cell.notes, of)


def inline_markdown(text: str) -> str:
    """A text whose backticks enclose code."""
    return "`".join(part if is_code else escaped(part) for part, is_code in code_parts(text))


def code_parts(text: str) -> Iterable[tuple[str, bool]]:
    """What is between backticks, in turn outside and inside of them."""
    parts: Sequence[str] = text.split("`")
    return ((part, place % 2 == 1) for place, part in enumerate(parts))


def escaped(text: str) -> str:
    """Any text, so that it is shown as it is."""
    one_line = re.sub(r"\s+", " ", text)
    return SPECIAL.sub(lambda found: "&amp;" if found[0] == "&" else f"\\{found[0]}", one_line)


def html(page: Page, pictures: Mapping[str, str]) -> str:
    """The whole page; `pictures` are SVG files by name."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.tests["table_block"] = lambda block: isinstance(block, ReportTable)
    environment.tests["figure_block"] = lambda block: isinstance(block, Figure)

    def picture(figure: Figure) -> Markup:
        return embedded(figure, pictures[figure.name])

    template = environment.get_template(TEMPLATE)
    shown = template.render(
        page=page, pictures=pictures, picture=picture, inline=inline_html, marks=marks, letters_of=letters
    )
    return re.sub(r"\n{2,}", "\n", shown)


def embedded(figure: Figure, svg: str) -> Markup:
    """A picture as part of the page. Names in it get its own in front, for no name may be there twice."""
    image = REFERENCE.sub(lambda found: f"{found[0]}{figure.name}-", NOT_FOR_HTML.sub("", svg)).strip()
    label = f'<svg role="img" aria-label="{escape(figure.description)}"'
    return Markup(image.replace("<svg", label, 1))  # drawn by ourselves


def inline_html(text: str) -> Markup:
    """A text whose backticks enclose code."""
    parts = (Markup("<code>{}</code>").format(part) if is_code else escape(part) for part, is_code in code_parts(text))
    return Markup("").join(parts)
