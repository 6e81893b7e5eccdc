"""Draws words with arcs above them as SVG text, without matplotlib: for notebooks, and for trees that are not complete."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

SIZE, GAP, LEVEL = 15, 16, 17  # pixels: letters, between words, how much higher an arc runs than those inside it
WIDE, NARROW = set("mwMW@—"), set("fijlrtI.,;:'!|()[]")
INK, SOFT = "#1d2126", "#6a717a"
STYLE = (
    f".dtg text{{font:{SIZE}px system-ui,'Noto Sans',sans-serif;text-anchor:middle;fill:{INK}}}.dtg .done{{fill:{SOFT}}}"
    f".dtg path{{fill:none;stroke:{SOFT};stroke-width:1.5}}.dtg .head{{fill:{SOFT};stroke:none}}"
    f".dtg line{{stroke:{INK};stroke-width:2}}.dtg .stacked{{font-weight:600}}"
)


def arcs_svg(words: Sequence[str], heads: Sequence[int | None], stack: Sequence[int] = ()) -> str:
    """An SVG element.

    Args:
        words: from left to right.
        heads: of each word, from 1; 0 is the root, None where it is not known.
        stack: the words to underline; the others are drawn lighter if there is a stack.
    """
    widths = [text_width(word) for word in words]
    middles, end = list[float](), 4.0
    for width in widths:
        middles.append(end + width / 2)
        end += width + GAP
    levels = arc_levels(heads)
    top = 16 + LEVEL * max(levels.values(), default=1) + (10 if 0 in heads else 0)
    parts = []
    for dependent, head in enumerate(heads, start=1):
        at = middles[dependent - 1]
        if head is None:
            continue
        if head == 0:
            path, said = f"M{at:.1f} 4V{top - 5}", f"{words[dependent - 1]} is the root word"
        else:
            start = middles[head - 1] + (5 if head < dependent else -5)
            rise = LEVEL * levels[dependent] * 4 / 3 + 2
            path = f"M{start:.1f} {top}C{start:.1f} {top - rise:.1f} {at:.1f} {top - rise:.1f} {at:.1f} {top - 5}"
            said = f"{words[head - 1]} → {words[dependent - 1]}"
        arrow = f"M{at - 4:.1f} {top - 7}L{at + 4:.1f} {top - 7}L{at:.1f} {top}Z"
        parts.append(f'<g><title>{escape(said)}</title><path d="{path}"/><path class="head" d="{arrow}"/></g>')
    for number, (word, middle, width) in enumerate(zip(words, middles, widths, strict=True), start=1):
        name = "" if not stack else ' class="stacked"' if number in stack else ' class="done"'
        parts.append(f'<text x="{middle:.1f}" y="{top + 19}"{name}>{escape(word)}</text>')
        if number in stack:
            left, right = middle - width / 2, middle + width / 2
            parts.append(f'<line x1="{left:.1f}" x2="{right:.1f}" y1="{top + 26}" y2="{top + 26}"/>')
    width, height = max(40.0, end - GAP + 4), top + 30
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="dtg" role="img" viewBox="0 0 {width:.0f} {height}" '
        f'width="{width:.0f}" height="{height}"><title>{escape(" ".join(words))}</title><style>{STYLE}</style>'
        f'<rect width="100%" height="100%" fill="#ffffff"/>{"".join(parts)}</svg>'
    )


def text_width(word: str) -> float:
    """About how wide a word is, in pixels; fonts differ."""
    return SIZE * sum(0.9 if letter in WIDE else 0.34 if letter in NARROW else 0.58 for letter in word)


def arc_levels(heads: Sequence[int | None]) -> dict[int, int]:
    """How high the arc of each word runs that has one, above all that are inside it; the root's is not counted."""
    spans = sorted(
        (abs(head - dependent), min(head, dependent), max(head, dependent), dependent)
        for dependent, head in enumerate(heads, start=1)
        if head
    )
    placed: list[tuple[int, int, int]] = []
    levels: dict[int, int] = {}
    for _, low, high, dependent in spans:
        level = 1 + max((other for first, last, other in placed if low <= first and last <= high), default=0)
        placed.append((low, high, level))
        levels[dependent] = level
    return levels
