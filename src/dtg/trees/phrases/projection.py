"""Dependencies as phrases, and back: each head with its dependents is one flat phrase over all that it dominates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from dtg.errors import NonProjectiveError, TreeError
from dtg.io.settings import check_choice
from dtg.trees.phrases.nodes import Node, children_of
from dtg.trees.tree import ROOT, DependencyTree, tree_error

PhraseLabels = Literal["none", "head", "upos", "relation"]
PHRASE_LABELS: tuple[PhraseLabels, ...] = ("none", "head", "upos", "relation")
NO_LABEL = "X"
UPOS = 3  # the column of a CoNLL-U file
MISSING = "_"


def phrases_of(tree: DependencyTree, labels: PhraseLabels) -> tuple[Node, ...]:
    """A node for each head with dependents, and always for the root word, in preorder."""
    check_choice("labels", labels, PHRASE_LABELS)
    if not tree.is_projective:
        raise NonProjectiveError(
            f"the tree of {' '.join(tree.words)!r} has crossing arcs, and phrases do not cross. "
            "Pass it through dtg.projectivize first."
        )
    count = len(tree)
    first, last, before = list(range(count + 1)), list(range(count + 1)), [0] * (count + 1)
    for word in bottom_up(tree.heads):
        head = tree.heads[word - 1]
        if head != ROOT:
            first[head], last[head] = min(first[head], first[word]), max(last[head], last[word])
            before[head] += word < head
    phrases = [
        Node(label_of(tree, labels, word, before[word]), first[word], last[word])
        for word in range(1, count + 1)
        if first[word] < last[word] or tree.heads[word - 1] == ROOT
    ]
    return tuple(sorted(phrases, key=lambda node: (node.first, -node.last)))  # no two are over the same words


def bottom_up(heads: Sequence[int]) -> list[int]:
    """The words, each after its dependents."""
    dependents: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    for word, head in enumerate(heads, start=1):
        dependents[head].append(word)
    order = list(dependents[ROOT])
    for word in order:  # grows as it is read
        order += dependents[word]
    return order[::-1]


def label_of(tree: DependencyTree, labels: PhraseLabels, head: int, before: int) -> str:
    """The label of the phrase around a head, from the number of dependents before it."""
    if labels == "none":
        return NO_LABEL
    if labels == "head":
        return str(before)
    if labels == "relation":
        label = tree.labels[head - 1] if tree.labels is not None else MISSING
        where = "DEPREL"
    else:
        label = tree.source.columns[head - 1][UPOS] if tree.source is not None else MISSING
        where = "UPOS"
    if label in ("", MISSING):
        raise tree_error(
            f"phrases should be labelled by {labels}, but word {head}, {tree.words[head - 1]!r}, has none. Fill the column "
            f"{where} of the file that the tree is read from, or choose other labels: none or head.",
            head,
        )
    return label


def heads_of(count: int, nodes: Sequence[Node]) -> tuple[int, ...]:
    """The heads of the dependency tree whose phrases these are, by labels that count the children before the head."""
    children = children_of(nodes)
    head_words = list[int]()
    for node, below in zip(nodes, children, strict=True):
        number = (
            int(node.label) if node.label.isascii() and node.label.isdigit() and len(node.label) < 9 else len(below)
        )
        if number >= len(below) or below[number] < 0:
            raise TreeError(
                f"the phrase over words {node.first} to {node.last} has label {node.label!r}; expected is the number of its "
                f'children before its head, a word, as in phrases made with labels="head". It has {len(below)} children.'
            )
        head_words.append(below[number])
    heads = [ROOT] * count
    for head, below in zip(head_words, children, strict=True):
        for child in below:
            word = child if child > 0 else head_words[-child]
            if word != head:
                heads[word - 1] = head
    return tuple(heads)
