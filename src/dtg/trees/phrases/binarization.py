"""Binary trees: unlabelled for Pushdown, or with labels from which the phrases can be restored.

Both are right-factored: of more than two children, the first stays, and the others become a node of their own. In labels,
`+` joins a chain of nodes over the same words (`S+VP`), and `@` begins the label of a node that binarisation added (`@NP`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dtg.errors import TreeError
from dtg.trees.drawing import draw_phrases
from dtg.trees.phrases.nodes import Node, check_nesting, children_of
from dtg.trees.svg import phrase_svg
from dtg.trees.tree import tree_error

JOIN, ADDED, ESCAPE = "+", "@", "\\"
UNLABELLED = "X"


@dataclass(frozen=True, slots=True)
class BinaryTree:
    """Words and binary brackets over them, without labels.

    `spans` has the first and last word, counted from 1, of every constituent of two words or more, in preorder.

    >>> BinaryTree(("Dogs", "bark", "."), ((1, 3), (2, 3))).key
    ((1, 3), (2, 3))
    """

    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        if isinstance(self.words, str):
            raise TreeError(f"words are expected as a sequence of strings, not as one string: {self.words!r}.")
        object.__setattr__(self, "words", tuple(self.words))
        object.__setattr__(self, "spans", tuple((first, last) for first, last in self.spans))
        check_binary(self.words, self.spans)

    def __len__(self) -> int:
        return len(self.words)

    def __str__(self) -> str:
        return self.draw()

    @property
    def key(self) -> tuple[tuple[int, int], ...]:
        """What tells trees of one sentence apart: the spans."""
        return self.spans

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The spans as nodes, all labelled X; one over the word, if there is only one."""
        return tuple(Node(UNLABELLED, first, last) for first, last in self.spans or ((1, 1),))

    def draw(self, *, ascii_only: bool = False) -> str:
        """The tree for a terminal: one word a line, the constituents to the left of it."""
        return draw_phrases(self.words, [("", node.first, node.last) for node in self.nodes], ascii_only=ascii_only)

    def picture(self, path: str | Path) -> None:
        """The tree as an .svg, .png or .pdf file. Needs matplotlib (the `draw` extra)."""
        from dtg.trees.picture import draw_phrase_picture

        draw_phrase_picture(path, self.words, [("", node.first, node.last) for node in self.nodes])

    def svg(self) -> str:
        """The tree as the text of an SVG picture; notebooks show it."""
        return phrase_svg(self.words, [("", node.first, node.last) for node in self.nodes])

    def _repr_svg_(self) -> str:
        return self.svg()


def check_binary(words: Sequence[str], spans: Sequence[tuple[int, int]]) -> None:
    """Raise a `TreeError` unless these are the brackets of a binary tree."""
    count = len(words)
    check_words(words)
    if len(spans) != count - 1:
        raise TreeError(
            f"{count} words have {count - 1} binary constituents of two words or more; {len(spans)} were given."
        )
    for place, (first, last) in enumerate(spans, start=1):
        if type(first) is not int or type(last) is not int or not 1 <= first < last <= count:
            raise TreeError(f"span {place} is ({first!r}, {last!r}); 1 <= first < last <= {count} is expected.")
    if len(set(spans)) != len(spans):
        raise TreeError("two constituents are over the same words; in a binary tree each has words of its own.")
    if spans:
        check_nesting(count, spans)  # that many different ones without crossings are always binary


def check_words(words: Sequence[str]) -> None:
    """Raise a `TreeError` unless there are words."""
    if not words:
        raise TreeError("the sentence is empty; a tree needs at least one word.")
    for number, word in enumerate(words, start=1):
        if not isinstance(word, str) or not word:
            raise tree_error(f"word {number} is {word!r}; a non-empty string is expected.", number)


def binary_spans(nodes: Sequence[Node]) -> tuple[tuple[int, int], ...]:
    """The right-factored binary brackets of phrases, in preorder; chains of nodes over the same words become one."""
    return tuple((node.first, node.last) for node in binarized(nodes) if node.first < node.last)


def binarized(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Right-factored nodes with labels that `debinarized` undoes: joined for chains, marked for nodes that are new."""
    made, labels = list[Node](), list[str]()
    for node, children in zip(nodes, children_of(nodes), strict=True):
        labels.append(escaped(node.label))
        if len(children) == 1 and children[0] < 0:
            continue  # the only child follows, and is joined with this one
        label = JOIN.join(labels)
        labels.clear()
        made.append(Node(label, node.first, node.last))
        starts = (child if child > 0 else nodes[-child].first for child in children[1:-1])
        made += [Node(ADDED + label, start, node.last) for start in starts]
    return tuple(sorted(made, key=lambda node: (node.first, -node.last)))  # no two are over the same words


def debinarized(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """The phrases that `binarized` was given."""
    return tuple(
        Node(label, node.first, node.last)
        for node in nodes
        if not node.label.startswith(ADDED)
        for label in separated(node.label)
    )


def escaped(label: str) -> str:
    """A label in which a join, and a mark at its beginning, are its own."""
    label = label.replace(ESCAPE, ESCAPE * 2).replace(JOIN, ESCAPE + JOIN)
    return ESCAPE + label if label.startswith(ADDED) else label


def separated(joined: str) -> list[str]:
    """The labels that were escaped and joined."""
    parts = [""]
    for found in re.findall(r"\\.|.", joined, re.DOTALL):
        if found == JOIN:
            parts.append("")
        else:
            parts[-1] += found[-1]
    return parts
