"""Fonts for the text of pictures: where DejaVu Sans, which comes with matplotlib, lacks characters, others that are installed.

Pictures of text that DejaVu Sans has are not touched. matplotlib is optional, and imported only when something is drawn.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Set
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FONT = "DejaVu Sans"
# Asked first, in this order; then any other that is installed.
PREFERRED = (
    "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans CJK TC", "Noto Sans CJK KR", "Noto Sans JP", "Noto Sans SC",
    "Source Han Sans", "IPAexGothic", "IPAGothic", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "Hiragino Sans",
    "PingFang SC", "Yu Gothic", "Microsoft YaHei", "Arial Unicode MS", "Noto Sans",
)  # fmt: skip
# What an SVG file asks its reader for.
STACK = (
    "'Noto Sans', 'DejaVu Sans', 'Noto Sans CJK JP', 'Noto Sans CJK SC', 'Hiragino Sans', 'Microsoft YaHei', sans-serif"
)
REGULAR = (400, "normal", "regular")  # weights
PLACEHOLDERS = "Last Resort"  # a font of boxes that claims to have everything


def text_width(text: str) -> float:
    """In letters; those of East Asian scripts are wider."""
    return sum(1.8 if east_asian_width(character) in "WF" else 1.0 for character in text)


def missing_characters(figure: Figure) -> frozenset[str]:
    """The characters of a figure's texts that DejaVu Sans lacks."""
    from matplotlib.font_manager import findfont
    from matplotlib.text import Text

    for axes in figure.axes:  # which have no text before they are asked
        axes.get_xticklabels()
        axes.get_yticklabels()
    characters = {character for text in figure.findobj(Text) for character in text.get_text()}
    known = characters_of(findfont(FONT))
    return frozenset(character for character in characters if not character.isspace() and character not in known)


def characters_of(file: str | Path) -> frozenset[str]:
    """All that a font has; nothing, if it cannot be read."""
    from matplotlib.font_manager import get_font

    try:
        return frozenset(map(chr, get_font(file).get_charmap()))
    except (OSError, RuntimeError):
        return frozenset()


def installed_fonts(missing: Set[str]) -> tuple[list[str], Set[str]]:
    """The names of installed fonts that together have the characters, and the characters that none has."""
    from matplotlib.font_manager import fontManager

    files = {
        entry.name: entry.fname
        for entry in fontManager.ttflist
        if entry.style == "normal" and entry.weight in REGULAR and not entry.name.startswith(PLACEHOLDERS)
    }
    chosen = list[str]()
    for name in [*(name for name in PREFERRED if name in files), *sorted(files.keys() - set(PREFERRED))]:
        if missing and (found := missing & characters_of(files[name])):
            chosen.append(name)
            missing = missing - found
    return chosen, missing


def use_fonts(figure: Figure, names: list[str]) -> None:
    """Let every text of a figure take from these fonts what DejaVu Sans lacks."""
    from matplotlib.text import Text

    families = [FONT, *names]
    for axes in figure.axes:
        axes.tick_params(labelfontfamily=families)
    for text in figure.findobj(Text):
        text.set_fontfamily(families)


def warn_of_boxes(characters: Set[str], path: Path) -> None:
    """Say, once for a picture, what will not be readable in it."""
    shown = " ".join(sorted(characters)[:10]) + (" ..." if len(characters) > 10 else "")
    warnings.warn(
        f"no installed font has the characters {shown} of {path}; they are drawn as boxes. Install a font that has them, such "
        "as Noto Sans CJK, or draw an .svg file, which leaves the font to its reader.",
        stacklevel=2,
    )


@contextmanager
def without_glyph_warnings() -> Iterator[None]:
    """matplotlib warns of every glyph; `warn_of_boxes` has said it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph \d+", category=UserWarning)
        yield


def ask_for_fonts(svg: Path) -> None:
    """Let the text of an SVG file be shown in whatever font its reader has."""
    svg.write_text(svg.read_text(encoding="utf-8").replace(f"'{FONT}'", STACK), encoding="utf-8")
