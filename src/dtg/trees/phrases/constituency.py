"""`ConstituencyTree`: a sentence and the phrases over it, validated and immutable.

Words are numbered from 1. Nodes are in preorder, so that several over the same words (a unary chain) have an order: the
outer one comes first.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, overload

from dtg.errors import InputError, TreeError
from dtg.trees.drawing import draw_phrases
from dtg.trees.phrases.binarization import BinaryTree, binarized, binary_spans, check_words, debinarized
from dtg.trees.phrases.nodes import Node, as_node, check_nodes, longest_chain, nesting_depth
from dtg.trees.phrases.projection import PhraseLabels, heads_of, phrases_of
from dtg.trees.svg import phrase_svg
from dtg.trees.tree import DependencyTree, tree_error

__all__ = ["BracketSource", "ConstituencyTree", "Node", "escape_word"]

ESCAPES = {"(": "-LRB-", ")": "-RRB-"}
SPACE = " \t\r\n\f\v"


@dataclass(frozen=True, slots=True)
class BracketSource:
    """Where a tree was read from."""

    path: str
    sentence: int  # counted from 1
    line: int  # of its first bracket, counted from 1
    comments: tuple[str, ...] = ()  # of the dependency tree that the phrases were made of


@dataclass(frozen=True, slots=True)
class ConstituencyTree:
    """Words, labelled phrases over them in preorder, and optionally the part-of-speech tag of each word.

    Nodes may be given as (label, first, last) triples. Two trees are equal when words, nodes and tags are: where they were
    read from does not count.

    >>> tree = ConstituencyTree(("The", "dog", "barks"), [("S", 1, 3), ("NP", 1, 2), ("VP", 3, 3)])
    >>> tree.brackets()
    '(S (NP The dog) (VP barks))'
    >>> tree.depth, tree.labels, tree.unary_chains
    (2, ('NP', 'S', 'VP'), 1)
    """

    words: tuple[str, ...]
    nodes: tuple[Node, ...]
    tags: tuple[str, ...] | None = None
    source: BracketSource | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("words", "tags"):
            value = getattr(self, name)
            if isinstance(value, str):
                raise TreeError(f"{name} are expected as a sequence of strings, not as one string: {value!r}.")
            if value is not None and not isinstance(value, tuple):
                object.__setattr__(self, name, tuple(value))
        nodes = tuple(as_node(value, place) for place, value in enumerate(self.nodes, start=1))
        object.__setattr__(self, "nodes", nodes)
        check_words(self.words)
        check_nodes(len(self.words), self.nodes)
        if self.tags is not None:
            check_tags(self.tags, len(self.words))

    def __len__(self) -> int:
        return len(self.words)

    def __str__(self) -> str:
        return self.draw()

    @property
    def key(self) -> tuple[tuple[str, int, int], ...]:
        """What tells trees of one sentence apart: the nodes, whatever the tags."""
        return tuple((node.label, node.first, node.last) for node in self.nodes)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that occur, each once, in alphabetical order."""
        return tuple(sorted({node.label for node in self.nodes}))

    @property
    def depth(self) -> int:
        """The most phrases that a word is in."""
        return nesting_depth(self.nodes)

    @property
    def unary_chains(self) -> int:
        """The most nodes over the same words: 1 in a tree without unary chains."""
        return longest_chain(self.nodes)

    @classmethod
    def from_dependencies(cls, tree: DependencyTree, labels: PhraseLabels = "none") -> ConstituencyTree:
        """Dependencies as phrases: each head with dependents, and always the root, becomes one flat phrase.

        Args:
            tree: a projective tree.
            labels: "none" labels every phrase X; "head" with the number of children before the head, from which
                `to_dependencies` restores the tree; "upos" and "relation" with the head's part of speech and relation.
        """
        return cls(tree.words, phrases_of(tree, labels))

    def to_dependencies(self) -> DependencyTree:
        """The dependencies of a tree made by `from_dependencies` with labels="head"."""
        return DependencyTree(self.words, heads_of(len(self), self.nodes))

    @classmethod
    def from_binary(cls, tree: BinaryTree) -> ConstituencyTree:
        """A binary tree with the label X for every phrase."""
        return cls(tree.words, tree.nodes)

    @overload
    def binarize(self, *, labels: Literal[False] = False) -> BinaryTree: ...

    @overload
    def binarize(self, *, labels: Literal[True]) -> ConstituencyTree: ...

    def binarize(self, *, labels: bool = False) -> BinaryTree | ConstituencyTree:
        """The right-factored binary tree.

        Args:
            labels: without, the result is a `BinaryTree`; with, it has labels from which `debinarize` restores this tree:
                `S+VP` for a chain of nodes over the same words, `@NP` for a node that was added inside an NP.
        """
        if labels:
            return replace(self, nodes=binarized(self.nodes))
        return BinaryTree(self.words, binary_spans(self.nodes))

    def debinarize(self) -> ConstituencyTree:
        """The tree from which `binarize(labels=True)` made this one."""
        return replace(self, nodes=debinarized(self.nodes))

    def brackets(self) -> str:
        """The tree in a line, as in the Penn Treebank; words that have no tags are written bare."""
        return format_nodes(self.nodes, written_words(self.words, self.tags))

    def draw(self, *, ascii_only: bool = False) -> str:
        """The tree for a terminal: one word a line, the phrases to the left of it."""
        return draw_phrases(self.words, self.key, self.tags, ascii_only=ascii_only)

    def picture(self, path: str | Path) -> None:
        """The tree as an .svg, .png or .pdf file, with phrases above the words. Needs matplotlib (the `draw` extra)."""
        from dtg.trees.picture import draw_phrase_picture

        draw_phrase_picture(path, self.words, self.key, self.tags)

    def svg(self) -> str:
        """The tree as the text of an SVG picture, phrases above the words; notebooks show it."""
        return phrase_svg(self.words, self.key, self.tags)

    def _repr_svg_(self) -> str:
        return self.svg()


def check_tags(tags: tuple[str, ...], count: int) -> None:
    """Raise a `TreeError` unless each word has a tag."""
    if len(tags) != count:
        raise TreeError(f"there are {count} words but {len(tags)} tags; each word needs one, or pass none at all.")
    for number, tag in enumerate(tags, start=1):
        if not isinstance(tag, str) or not tag:
            raise tree_error(f"the tag of word {number} is {tag!r}; a non-empty string is expected.", number)


def format_nodes(nodes: tuple[Node, ...], words: list[str]) -> str:
    """Brackets in a line around words that are ready to be written."""
    parts = list[str]()
    opening = iter(nodes)
    node = next(opening, None)
    ends = list[int]()
    for number, word in enumerate(words, start=1):
        while node is not None and node.first == number:
            check_writable("label", node.label)
            parts.append(f"({node.label}")
            ends.append(node.last)
            node = next(opening, None)
        closing = 0
        while ends and ends[-1] == number:
            closing += 1
            ends.pop()
        parts.append(word + ")" * closing)
    return " ".join(parts)


def written_words(words: tuple[str, ...], tags: tuple[str, ...] | None) -> list[str]:
    """Words as they stand between brackets, with their tags if they have any."""
    escaped = [escape_word(word) for word in words]
    if tags is None:
        return escaped
    for tag in tags:
        check_writable("tag", tag)
    return [f"({tag} {word})" for tag, word in zip(tags, escaped, strict=True)]


def escape_word(word: str) -> str:
    """A word with its round brackets written as -LRB- and -RRB-."""
    for bracket, name in ESCAPES.items():
        word = word.replace(bracket, name)
    check_writable("word", word)
    return word


def check_writable(what: str, text: str) -> None:
    """Raise unless this can stand between brackets."""
    if any(character in text for character in SPACE + "()"):
        raise InputError(f"the {what} {text!r} has a space or bracket in it and cannot be written in brackets.")
