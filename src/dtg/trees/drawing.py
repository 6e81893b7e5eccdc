"""Draws a tree as text for terminals, with one line for each word.

The words are in a column, so that sentences of any length and any script fit. Arcs are drawn to their left, short ones
inside long ones, with an arrow where an arc ends at its dependent; the root word's arrow comes from the margin. Phrases are
drawn to their left too, the outermost at the margin, and branch downwards.
"""

from collections.abc import Sequence

from dtg.trees.phrases.nodes import Node, children_of

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


def draw_phrases(
    words: Sequence[str],
    nodes: Sequence[tuple[str, int, int | None]],
    tags: Sequence[str] | None = None,
    *,
    ascii_only: bool = False,
) -> str:
    """One line a word: the phrases that begin with it, its number, the word, and its tag.

    A phrase whose last word is None is still open, which its label says by dots at its end.
    """
    glyphs, dots = (ASCII, "...") if ascii_only else (UNICODE, "…")
    count, rows = len(words), max(len(words), *(first for _, first, _ in nodes))  # an open phrase may have no word yet
    phrases = [
        Node(label + dots * (last is None), first, rows if last is None else last) for label, first, last in nodes
    ]
    children = children_of(phrases)
    columns = [0] * len(phrases)  # where the label begins
    for place, below in enumerate(children):
        for child in below:
            if child < 0:
                columns[-child] = columns[place] + len(phrases[place].label) + 3
    width = max(column + len(phrase.label) + 3 for column, phrase in zip(columns, phrases, strict=True))
    cells = [[glyphs[0]] * width for _ in range(rows)]
    for phrase, column, below in zip(phrases, columns, children, strict=True):
        fork = column + len(phrase.label) + 1
        cells[phrase.first - 1][column : fork + 1] = [*phrase.label, glyphs[LEFT | RIGHT], glyphs[LEFT | RIGHT]]
        begins = [child if child > 0 else phrases[-child].first for child in below]
        for between in range(begins[0], begins[-1]):
            cells[between - 1][fork] = glyphs[UP | DOWN]
        if len(below) > 1:
            cells[begins[0] - 1][fork] = glyphs[DOWN | LEFT | RIGHT]
            cells[begins[-1] - 1][fork] = glyphs[UP | RIGHT]
        for begin in begins[1:-1]:
            cells[begin - 1][fork] = glyphs[UP | DOWN | RIGHT]
        for child, begin in zip(below, begins, strict=True):
            end = width if child > 0 else fork + 2
            cells[begin - 1][fork + 1 : end] = [glyphs[LEFT | RIGHT]] * (end - fork - 1)
    widest = max(map(len, words), default=0)
    shown = tags if tags is not None else [""] * count
    lines = []
    for number, (row, word, tag) in enumerate(zip(cells, words, shown, strict=False), start=1):
        lines.append(f"{''.join(row)} {number:>{len(str(count))}} {word:<{widest}}  {tag}".rstrip())
    return "\n".join(lines + ["".join(row).rstrip(glyphs[LEFT | RIGHT] + " ") for row in cells[count:]])
