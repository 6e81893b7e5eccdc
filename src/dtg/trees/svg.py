"""Draws dependency trees as SVG text for notebooks and web pages: arcs above the words, as in papers.

Words are text in the reader's own fonts, so every script is shown. Nothing has to be installed for it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape

from dtg.io.fonts import STACK, text_width
from dtg.io.pictures import INK, STYLES
from dtg.trees.drawing import arc_columns
from dtg.trees.picture import ends_of

WORD_SIZE, LABEL_SIZE = 15, 10  # pixels
LETTER, GAP, LEVEL, MARGIN = 9.0, 14.0, 26.0, 8.0
INCH = 96.0  # pixels: `ends_of` computes in inches


def dependency_svg(
    words: Sequence[str],
    heads: Sequence[int | None],
    labels: Sequence[str] | None = None,
    marked: Collection[int] = (),
) -> str:
    """Draw a tree, or a part of one.

    Args:
        words: of the sentence.
        heads: of each word, from 1; 0 is `<ROOT>`, None a head that is not known (yet).
        labels: of each word's arc.
        marked: the numbers of words that are drawn in bold.

    Returns:
        An `<svg>` element.
    """
    widths = [max(text_width(word) * LETTER, text_width(label) * 0.7 * LETTER) for word, label in named(words, labels)]
    middles, right = list[float](), MARGIN
    for width in widths:
        middles.append(right + width / 2)
        right += width + GAP
    # An arc that is not known has no column, like that of the root word.
    known = [head or 0 for head in heads]
    levels = arc_columns(known)
    places = {
        word: (start * INCH, end * INCH) for word, (start, end) in ends_of(known, [x / INCH for x in middles]).items()
    }
    top = LEVEL * (max(levels, default=0) + 1) + MARGIN
    shapes = list[str]()
    for number, (head, level, middle) in enumerate(zip(heads, levels, middles, strict=True), start=1):
        label = labels[number - 1] if labels is not None else "root" if head == 0 else ""
        if head == 0:
            shapes += [line(f"M{middle:.1f},{MARGIN + 6:.1f} V{top:.1f}"), text(middle, MARGIN + 3, label, LABEL_SIZE)]
        elif head is not None:
            start, end = places[number]
            height, bend = top - level * LEVEL, min(12.0, abs(end - start) / 2) * (1 if end > start else -1)
            path = (
                f"M{start:.1f},{top:.1f} V{height + 8:.1f} Q{start:.1f},{height:.1f} {start + bend:.1f},{height:.1f} "
            )
            path += f"H{end - bend:.1f} Q{end:.1f},{height:.1f} {end:.1f},{height + 8:.1f} V{top:.1f}"
            shapes += [line(path), text((start + end) / 2, height - 3, label, LABEL_SIZE, STYLES[0].color)]
        weight = ' font-weight="bold"' if number in marked else ""
        shapes.append(text(middle, top + WORD_SIZE + 6, words[number - 1], WORD_SIZE, more=weight))
    width, height = right - GAP + MARGIN, top + WORD_SIZE + 14
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="{STACK}"><defs><marker id="dtg-arrow" markerWidth="7" '
        f'markerHeight="7" refX="5" refY="3" orient="auto"><path d="M0,0 L6,3 L0,6 Z" fill="{INK}"/></marker></defs>'
        f'<rect width="100%" height="100%" fill="white"/>{"".join(shapes)}</svg>'
    )


def named(words: Sequence[str], labels: Sequence[str] | None) -> list[tuple[str, str]]:
    """Words with their labels."""
    return list(zip(words, labels if labels is not None else [""] * len(words), strict=True))


def line(path: str) -> str:
    return f'<path d="{path}" fill="none" stroke="{INK}" marker-end="url(#dtg-arrow)"/>'


def text(x: float, y: float, content: str, size: int, color: str = INK, more: str = "") -> str:
    if not content:
        return ""
    shown = escape(
        "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in content)
    )
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" font-size="{size}" fill="{color}"{more}>{shown}</text>'
