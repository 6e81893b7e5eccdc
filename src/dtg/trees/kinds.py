"""Kinds of tree: what the rest of dtg needs of a tree, whatever it is made of, and the kinds that there are.

Scores, sums, search results and files are about a `Tree`; only transition systems, drawings and readers know more. Trees of
one sentence are told apart by their `key`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from dtg.trees.conllu import format_conllu, read_conllu, write_conllu
from dtg.trees.drawing import draw_phrases
from dtg.trees.phrases.binarization import BinaryTree
from dtg.trees.phrases.brackets import format_for_file, read_brackets, write_brackets
from dtg.trees.phrases.constituency import ConstituencyTree
from dtg.trees.svg import dependency_svg, phrase_svg
from dtg.trees.tree import DependencyTree


@runtime_checkable
class Tree(Protocol):
    """A sentence with a structure over it; immutable, and checked when it is made."""

    @property
    def words(self) -> tuple[str, ...]: ...

    @property
    def key(self) -> Hashable:
        """What tells trees of one sentence apart."""

    def __len__(self) -> int:
        """The number of words."""

    def draw(self, *, ascii_only: bool = False) -> str:
        """The tree for a terminal."""

    def picture(self, path: str | Path) -> None:
        """The tree as an .svg, .png or .pdf file."""


class PartialTree(Protocol):
    """What a hypothesis has built so far."""

    @property
    def words(self) -> tuple[str, ...]: ...

    @property
    def probability(self) -> float:
        """Among the hypotheses in the beam."""

    @property
    def log_probability(self) -> float:
        """Of the words and all actions so far, in nats."""

    def svg(self) -> str:
        """The tree so far as the text of an SVG picture."""


@dataclass(frozen=True, slots=True)
class PartialDependencyTree:
    """Words with the heads known so far. A head is 0 for `<ROOT>`, None where it is not known yet."""

    words: tuple[str, ...]
    heads: tuple[int | None, ...]
    stack: tuple[int, ...]  # words on the stack, bottom to top; 0 is <ROOT>
    probability: float  # among the hypotheses in the beam
    log_probability: float  # of the words and all actions so far, in nats

    def svg(self) -> str:
        """The arcs so far as the text of an SVG picture, words on the stack in bold; notebooks show it."""
        return dependency_svg(self.words, self.heads, marked=self.stack)

    def _repr_svg_(self) -> str:
        return self.svg()


@dataclass(frozen=True, slots=True)
class PartialConstituencyTree:
    """Words with the phrases so far, in preorder, as (label, first word, last word); None is the last word of an open one."""

    words: tuple[str, ...]
    nodes: tuple[tuple[str, int, int | None], ...]
    probability: float  # among the hypotheses in the beam
    log_probability: float  # of the words and all actions so far, in nats

    @property
    def open(self) -> tuple[str, ...]:
        """The labels of the open phrases, outermost first."""
        return tuple(label for label, _, last in self.nodes if last is None)

    def draw(self, *, ascii_only: bool = False) -> str:
        """The tree so far for a terminal; labels of open phrases end in dots."""
        return draw_phrases(self.words, self.nodes, ascii_only=ascii_only) if self.nodes else ""

    def svg(self) -> str:
        """The tree so far as the text of an SVG picture; labels of open phrases end in dots; notebooks show it."""
        return phrase_svg(self.words, self.nodes)

    def _repr_svg_(self) -> str:
        return self.svg()


@dataclass(frozen=True, slots=True)
class PartialBinaryTree:
    """Words with the binary constituents so far, in preorder, as (first word, last word)."""

    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    probability: float  # among the hypotheses in the beam
    log_probability: float  # of the words and all actions so far, in nats

    def draw(self, *, ascii_only: bool = False) -> str:
        """The constituents so far for a terminal, one word a line."""
        around = [("", 1, len(self.words)), *(("", first, last) for first, last in self.spans)]
        lines = draw_phrases(self.words, around, ascii_only=ascii_only).splitlines()
        return "\n".join(line[3:] for line in lines)  # without the one around everything, which is not there yet

    def svg(self) -> str:
        """The constituents so far as the text of an SVG picture; notebooks show it."""
        return phrase_svg(self.words, [("", first, last) for first, last in self.spans])

    def _repr_svg_(self) -> str:
        return self.svg()


@dataclass(frozen=True, slots=True)
class TreeKind:
    """One kind of tree: how its trees are read and written. Transition systems enumerate them."""

    name: str
    type: type[Any]
    read: Callable[[str | Path], Iterator[Any]]
    write: Callable[[Iterable[Any], str | Path], int]


def read_binary(path: str | Path) -> Iterator[BinaryTree]:
    """Binarise the trees of a file in brackets."""
    return (tree.binarize() for tree in read_brackets(path))


def write_binary(trees: Iterable[BinaryTree], path: str | Path) -> int:
    """Write binary trees in brackets, all labelled X, and return how many."""
    return write_brackets(map(ConstituencyTree.from_binary, trees), path)


def format_tree(tree: Any) -> str:
    """A tree as a file of its kind holds it: CoNLL-U, or a line of brackets."""
    if isinstance(tree, DependencyTree):
        return format_conllu(tree)
    return format_for_file(ConstituencyTree.from_binary(tree) if isinstance(tree, BinaryTree) else tree) + "\n"


DEPENDENCY = TreeKind("dependency", DependencyTree, read_conllu, write_conllu)
CONSTITUENCY = TreeKind("constituency", ConstituencyTree, read_brackets, write_brackets)
BINARY = TreeKind("binary", BinaryTree, read_binary, write_binary)
