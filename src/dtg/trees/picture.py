"""Draws a tree as in papers into an SVG, PNG or PDF file: arcs above the words, or phrases that branch towards them.

Arrows point from a head to its dependent, short arcs inside long ones; the root word's comes from above. A phrase is above
the middle of its children, one step higher. Needs matplotlib (the `draw` extra).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dtg.io.fonts import text_width
from dtg.io.pictures import INK, STYLES, picture
from dtg.trees.drawing import arc_columns
from dtg.trees.phrases.nodes import Child, Node, children_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WORD_SIZE, LABEL_SIZE = 11, 7.5  # points
CHARACTER, GAP = 0.105, 0.16  # inches: a letter of a word, and the gap between two words
LEVEL = 0.34  # inches: how much higher an arc runs than those inside it
SIDE = 0.06  # inches between two arcs at the same word


def draw_arcs(
    path: str | Path, words: Sequence[str], heads: Sequence[int], labels: Sequence[str] | None = None
) -> None:
    """Draw a tree; the name's suffix says in which format."""
    levels = arc_columns(heads)
    middles = middles_of(words, labels)
    places = ends_of(heads, middles)
    top = (max(levels, default=0) + 1) * LEVEL
    with picture(path, "picture of a tree") as figure:
        width = middles[-1] + widths_of(words, labels)[-1] / 2
        figure.set_size_inches(width + 0.1, top + 0.65)
        figure.set_layout_engine("none")  # everything is placed by hand
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set(xlim=(-0.05, width + 0.05), ylim=(-0.4, top + 0.25))
        axes.axis("off")
        for place, (word, head, level) in enumerate(zip(words, heads, levels, strict=True)):
            axes.text(middles[place], -0.08, word, ha="center", va="top", fontsize=WORD_SIZE, color=INK)
            label = labels[place] if labels is not None else "" if head else "root"
            if head:
                draw_arc(axes, *places[place + 1], level * LEVEL, label)
            else:
                draw_arrow(axes, [(middles[place], top), (middles[place], 0.02)], ["MOVETO", "LINETO"])
                axes.text(middles[place], top + 0.03, label, ha="center", va="bottom", fontsize=LABEL_SIZE, color=INK)


def widths_of(words: Sequence[str], labels: Sequence[str] | None) -> list[float]:
    """The width of each word: of its own letters, or of its label."""
    letters = [text_width(word) * CHARACTER for word in words]
    if labels is None:
        return letters
    return [max(size, 0.7 * len(label) * CHARACTER) for size, label in zip(letters, labels, strict=True)]


def middles_of(words: Sequence[str], labels: Sequence[str] | None) -> list[float]:
    """The middle of each word, from left to right."""
    found, end = [], 0.0
    for width in widths_of(words, labels):
        found.append(end + width / 2)
        end += width + GAP
    return found


def ends_of(heads: Sequence[int], middles: Sequence[float]) -> dict[int, tuple[float, float]]:
    """Where the arc of each word that has one begins and ends. At a word, longer arcs are nearer to its middle."""
    ends: dict[int, dict[int, float]] = {word: {} for word, head in enumerate(heads, start=1) if head}
    for here, middle in enumerate(middles, start=1):
        for side in (-1, 1):
            others = [
                (heads[word - 1] if word == here else word, word) for word in ends if here in (word, heads[word - 1])
            ]
            longest_first = sorted((-abs(other - here), word) for other, word in others if (other - here) * side > 0)
            for number, (_, word) in enumerate(longest_first):
                ends[word][here] = middle + side * SIDE * (number + 0.75)
    return {word: (found[heads[word - 1]], found[word]) for word, found in ends.items()}


def draw_arc(axes: Axes, start: float, end: float, height: float, label: str) -> None:
    """A flat arch with an arrow at its end, and its label on it."""
    bend = (1 if end > start else -1) * min(0.14, abs(end - start) / 2)
    points = [(start, 0.02), (start, height), (start + bend, height)]
    points += [(end - bend, height), (end, height), (end, 0.02)]
    draw_arrow(axes, points, ["MOVETO", "CURVE3", "CURVE3", "LINETO", "CURVE3", "CURVE3"])
    if label:
        axes.text(
            (start + end) / 2,
            height,
            label,
            ha="center",
            va="center",
            fontsize=LABEL_SIZE,
            color=STYLES[0].color,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},  # the line behind it stops
        )


def draw_arrow(axes: Axes, points: Sequence[tuple[float, float]], codes: Sequence[str]) -> None:
    """A line through some points with an arrow at its end."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path as Line

    line = Line(points, [getattr(Line, code) for code in codes])
    looks: dict[str, Any] = {"linewidth": 0.9, "color": INK, "mutation_scale": 7, "shrinkA": 0, "shrinkB": 0}
    axes.add_patch(FancyArrowPatch(path=line, arrowstyle="-|>", **looks))


STEP = 0.46  # inches: how much lower a child is than its phrase
LINE_ENDS = 0.1  # inches between the middle of a label and the line below or above it


def draw_phrase_picture(
    path: str | Path,
    words: Sequence[str],
    nodes: Sequence[tuple[str, int, int]],
    tags: Sequence[str] | None = None,
) -> None:
    """Draw phrases; the name's suffix says in which format."""
    phrases = [Node(label, first, last) for label, first, last in nodes]
    children = children_of(phrases)
    edges, middles = leaf_places(words, phrases, tags)
    places = phrase_places(phrases, children, middles)
    leaves = leaf_heights(len(words), children, places)
    bottom = min(leaves) - (STEP if tags is not None else 0.0)
    with picture(path, "picture of a tree") as figure:
        figure.set_size_inches(edges[-1] + 0.2, 0.4 - bottom)
        figure.set_layout_engine("none")  # everything is placed by hand
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set(xlim=(-0.1, edges[-1] + 0.1), ylim=(bottom - 0.2, 0.2))
        axes.axis("off")
        for (x, y), phrase, below in zip(places, phrases, children, strict=True):
            write(axes, x, y, phrase.label, STYLES[0].color)
            for child in below:
                end = places[-child] if child < 0 else (middles[child - 1], leaves[child - 1])
                join(axes, (x, y), end, bool(phrase.label), child > 0 or bool(phrases[-child].label))
        for number, (word, x, y) in enumerate(zip(words, middles, leaves, strict=True)):
            if tags is not None:
                write(axes, x, y, tags[number], INK, LABEL_SIZE + 1)
                join(axes, (x, y), (x, y - STEP))
            write(axes, x, y - (STEP if tags is not None else 0.0), word, INK)


def leaf_places(
    words: Sequence[str], phrases: Sequence[Node], tags: Sequence[str] | None
) -> tuple[list[float], list[float]]:
    """The right edge and the middle of each word's column, wide enough for all that is above it."""
    widths = [max(size, CHARACTER) for size in widths_of(words, tags)]
    for phrase in reversed(phrases):  # inner ones first: those around them have more room afterwards
        span = slice(phrase.first - 1, phrase.last)
        needed = len(phrase.label) * CHARACTER - sum(widths[span]) - GAP * (phrase.last - phrase.first)
        if needed > 0:
            widths[span] = [width + needed / (phrase.last - phrase.first + 1) for width in widths[span]]
    middles, edges, end = list[float](), list[float](), 0.0
    for width in widths:
        middles.append(end + width / 2)
        edges.append(end + width)
        end += width + GAP
    return edges, middles


def phrase_places(
    phrases: Sequence[Node], children: Sequence[Sequence[Child]], middles: Sequence[float]
) -> list[tuple[float, float]]:
    """Where each phrase's label is: above the middle between its first and last child, as high as it is nested."""
    across, heights = [0.0] * len(phrases), [0.0] * len(phrases)
    for place, below in enumerate(children):  # in preorder, parents come first
        for child in below:
            if child < 0:
                heights[-child] = heights[place] - STEP
    for place in reversed(range(len(phrases))):
        ends = [
            middles[child - 1] if child > 0 else across[-child] for child in (children[place][0], children[place][-1])
        ]
        across[place] = sum(ends) / 2
    return list(zip(across, heights, strict=True))


def leaf_heights(count: int, children: Sequence[Sequence[Child]], places: Sequence[tuple[float, float]]) -> list[float]:
    """The height of each word, or of its tag: a step below its phrase."""
    heights = [0.0] * count
    for (_, height), below in zip(places, children, strict=True):
        for child in below:
            if child > 0:
                heights[child - 1] = height - STEP
    return heights


def write(axes: Axes, x: float, y: float, text: str, color: str, size: float = WORD_SIZE) -> None:
    axes.text(x, y, text, ha="center", va="center", fontsize=size, color=color)


def join(
    axes: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    leave_above: bool = True,
    leave_below: bool = True,
) -> None:
    """A line from a phrase down to a child, which leaves room for the labels at its ends."""
    (x, y), (to_x, to_y) = start, end
    top = LINE_ENDS / STEP if leave_above else 0.0
    bottom = LINE_ENDS / STEP if leave_below else 0.0
    down = to_y - y
    axes.plot([x, to_x], [y + top * down, to_y - bottom * down], color=INK, linewidth=0.8, solid_capstyle="round")
