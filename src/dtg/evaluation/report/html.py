"""A report's page as one HTML file, by the template report.html.j2; it refers to nothing outside of itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from dtg.evaluation.report.markdown import code_parts
from dtg.evaluation.report.page import Figure, Page, Table, letters, marks

TEMPLATE = "report.html.j2"
NOT_FOR_HTML = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<metadata>.*?</metadata>|\sxmlns(?::\w+)?=\"[^\"]*\"", re.DOTALL)
REFERENCE = re.compile(r'(\bid="|url\(#|xlink:href="#)')


def html(page: Page, pictures: Mapping[str, str]) -> str:
    """The whole page; `pictures` are SVG files by name."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.tests["table_block"] = lambda block: isinstance(block, Table)
    environment.tests["figure_block"] = lambda block: isinstance(block, Figure)

    def picture(figure: Figure) -> Markup:
        return embedded(figure, pictures[figure.name])

    template = environment.get_template(TEMPLATE)
    shown = template.render(
        page=page, pictures=pictures, picture=picture, inline=inline, marks=marks, letters_of=letters
    )
    return re.sub(r"\n{2,}", "\n", shown)


def embedded(figure: Figure, svg: str) -> Markup:
    """A picture as part of the page. Names in it get its own in front, for no name may be there twice."""
    image = REFERENCE.sub(lambda found: f"{found[0]}{figure.name}-", NOT_FOR_HTML.sub("", svg)).strip()
    label = f'<svg role="img" aria-label="{escape(figure.description)}"'
    return Markup(image.replace("<svg", label, 1))  # drawn by ourselves


def inline(text: str) -> Markup:
    """A text whose backticks enclose code."""
    parts = (Markup("<code>{}</code>").format(part) if is_code else escape(part) for part, is_code in code_parts(text))
    return Markup("").join(parts)
