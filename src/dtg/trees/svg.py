"""Draws trees as SVG text for notebooks and web pages: arcs or phrases above the words, as in papers.

Words are text in the reader's own fonts, so every script is shown. Nothing has to be installed for it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape

from dtg.io.fonts import STACK, text_width
from dtg.io.pictures import INK, STYLES
from dtg.trees.drawing import arc_columns
from dtg.trees.phrases.nodes import Node, children_of
from dtg.trees.picture import STEP, ends_of, leaf_heights, leaf_places, phrase_places

WORD_SIZE, LABEL_SIZE = 15, 10  # pixels
LETTER, GAP, LEVEL, MARGIN = 9.0, 14.0, 26.0, 8.0
INCH = 96.0  # pixels: places are computed in inches
LINE_ENDS = 11.0  # pixels between the middle of a label and the line below or above it


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
    marker = (
        '<defs><marker id="dtg-arrow" markerWidth="7" markerHeight="7" refX="5" refY="3" orient="auto">'
        f'<path d="M0,0 L6,3 L0,6 Z" fill="{INK}"/></marker></defs>'
    )
    return svg_element(right - GAP + MARGIN, top + WORD_SIZE + 14, [marker, *shapes])


def phrase_svg(
    words: Sequence[str], nodes: Sequence[tuple[str, int, int | None]], tags: Sequence[str] | None = None
) -> str:
    """Draw phrases, of a whole tree or of a part of one.

    Args:
        words: of the sentence, as far as there are words.
        nodes: (label, first word, last word) in preorder; None is the last word of a phrase that is still open, whose label
            ends in dots. Words and phrases that nothing is above stand side by side.
        tags: of each word.

    Returns:
        An `<svg>` element.
    """
    count = max(len(words), *(first for _, first, _ in nodes), 1)  # an open phrase may have no word yet
    leaves = [*words, *["…"] * (count - len(words))]
    # A phrase over everything, which is not drawn: so that a forest is laid out like a tree.
    phrases = [Node("", 1, count)]
    phrases += [
        Node(label + "…" * (last is None), first, count if last is None else last) for label, first, last in nodes
    ]
    children = children_of(phrases)
    edges, middles = leaf_places(leaves, phrases, tags)
    places = phrase_places(phrases, children, middles)
    heights = leaf_heights(count, children, places)

    def at(x: float, y: float) -> tuple[float, float]:
        return x * INCH + MARGIN, MARGIN + 10 - (y + STEP) * INCH

    shapes = list[str]()
    for place, phrase, below in list(zip(places, phrases, children, strict=True))[1:]:
        shapes.append(text(*lowered(at(*place)), phrase.label, WORD_SIZE - 2, STYLES[0].color))
        for child in below:
            end = places[-child] if child < 0 else (middles[child - 1], heights[child - 1])
            is_labelled = child > 0 or bool(phrases[-child].label)
            shapes.append(branch(at(*place), at(*end), bool(phrase.label), is_labelled))
    for number, (word, middle, height) in enumerate(zip(leaves, middles, heights, strict=True)):
        if tags is not None and number < len(tags):
            shapes.append(text(*lowered(at(middle, height)), tags[number], LABEL_SIZE + 1))
            shapes.append(branch(at(middle, height), at(middle, height - STEP)))
            height -= STEP
        shapes.append(text(*lowered(at(middle, height)), word, WORD_SIZE))
    bottom = at(0, min(heights) - (STEP if tags is not None else 0.0))[1]
    return svg_element(edges[-1] * INCH + 2 * MARGIN, bottom + 14, shapes)


def svg_element(width: float, height: float, shapes: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="{STACK}">'
        f'<rect width="100%" height="100%" fill="white"/>{"".join(shapes)}</svg>'
    )


def lowered(place: tuple[float, float]) -> tuple[float, float]:
    """The base line of a text whose middle is here."""
    return place[0], place[1] + 5


def branch(
    start: tuple[float, float], end: tuple[float, float], leave_above: bool = True, leave_below: bool = True
) -> str:
    """A line from a phrase down to a child, which leaves room for the labels at its ends."""
    (x, y), (to_x, to_y) = start, end
    above, below = (LINE_ENDS / (to_y - y) * is_left for is_left in (leave_above, leave_below))
    across, down = to_x - x, to_y - y
    return (
        f'<path d="M{x + above * across:.1f},{y + above * down:.1f} L{to_x - below * across:.1f},{to_y - below * down:.1f}" '
        f'fill="none" stroke="{INK}"/>'
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
