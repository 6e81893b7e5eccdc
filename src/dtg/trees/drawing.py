"""Draws a tree as text for terminals, with one line for each word.

The words are in a column, so that sentences of any length and any script fit; arcs are drawn to their left, short ones
inside long ones, with an arrow where an arc ends at its dependent. The root word's arrow comes from the margin.
"""

from collections.abc import Sequence

# A cell of the drawing is the set of sides on which a line leaves it.
UP, DOWN, LEFT, RIGHT, ARROW = 1, 2, 4, 8, 16

UNICODE = {
    0: " ",
    UP | DOWN: "│",
    LEFT | RIGHT: "─",
    DOWN | RIGHT: "┌",
    UP | RIGHT: "└",
    UP | DOWN | RIGHT: "├",
    DOWN | LEFT | RIGHT: "┬",
    UP | LEFT | RIGHT: "┴",
    UP | DOWN | LEFT | RIGHT: "┼",
    ARROW: "►",
}
ASCII = dict.fromkeys(UNICODE, "+") | {0: " ", UP | DOWN: "|", LEFT | RIGHT: "-", ARROW: ">"}


def draw_tree(
    words: Sequence[str], heads: Sequence[int], labels: Sequence[str] | None = None, *, ascii_only: bool = False
) -> str:
    """One line a word: the arcs, the word's number, the word, and the label of its arc."""
    columns = arc_columns(heads)
    width = 2 * (max(columns, default=0) + 1)  # the outermost column is the root word's arrow
    cells = [[0] * width for _ in words]
    for dependent, head in enumerate(heads, start=1):
        start = width - 2 * columns[dependent - 1] if head else 0
        for end in (head, dependent) if head else (dependent,):
            for x in range(start + 1, width):
                cells[end - 1][x] |= LEFT | RIGHT
        if head == 0:
            cells[dependent - 1][0] |= LEFT | RIGHT
            continue
        top, bottom = sorted((head, dependent))
        cells[top - 1][start] |= DOWN | RIGHT
        cells[bottom - 1][start] |= UP | RIGHT
        for between in range(top + 1, bottom):
            cells[between - 1][start] |= UP | DOWN
    for dependent, column in enumerate(columns, start=1):  # the arrow stands right where the word's own arc arrives
        cells[dependent - 1][width - 2 * column + 1 if column else 1] = ARROW
    glyphs = ASCII if ascii_only else UNICODE
    shown = labels if labels is not None else ["root" if head == 0 else "" for head in heads]
    widest = max(map(len, words))
    lines = []
    for number, (row, word, label) in enumerate(zip(cells, words, shown, strict=True), start=1):
        arcs = "".join(glyphs[sides] for sides in row)
        lines.append(f"{arcs} {number:>{len(str(len(words)))}} {word:<{widest}}  {label}".rstrip())
    return "\n".join(lines)


def arc_columns(heads: Sequence[int]) -> list[int]:
    """How far left each word's arc runs: 1 beside the words, more where it must go around shorter arcs; 0 for the root.

    Arcs that meet at a word share a column only if that word is the head of both: so an arrow belongs to one arc.
    """
    columns = [0] * len(heads)
    placed: list[tuple[int, int, int, int]] = []  # (top, bottom, head, column) of the arcs so far, shortest first
    by_length = sorted((abs(head - word), min(head, word), word) for word, head in enumerate(heads, start=1) if head)
    for length, top, word in by_length:
        bottom, head = top + length, heads[word - 1]
        columns[word - 1] = 1 + max(
            (
                column
                for first, last, other, column in placed
                if (first < bottom and top < last) or (head != other and (first == bottom or last == top))
            ),
            default=0,
        )
        placed.append((top, bottom, head, columns[word - 1]))
    return columns
