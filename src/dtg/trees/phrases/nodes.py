"""Nodes of phrase-structure trees: labelled spans in preorder, how they are checked, and what is directly below each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dtg.errors import TreeError

Child = int
"""What is directly below a node: a word's number, from 1, or minus the place of a node. The root, at 0, is no child."""


@dataclass(frozen=True, slots=True)
class Node:
    """A phrase: its label, and the numbers of its first and last word, counted from 1."""

    label: str
    first: int
    last: int


def as_node(value: object, place: int) -> Node:
    """A node, from one or from a (label, first, last) triple."""
    if isinstance(value, Node):
        return value
    if not isinstance(value, tuple | list) or len(value) != 3:
        raise TreeError(f"node {place} is {value!r}; a Node or a (label, first, last) triple is expected.")
    return Node(*value)


def check_nodes(count: int, nodes: Sequence[Node]) -> None:
    """Raise a `TreeError` unless these are the nodes of a tree over this many words, in preorder."""
    if not nodes:
        raise TreeError("there are no nodes; at least one is expected, over all words.")
    for place, node in enumerate(nodes, start=1):
        if not isinstance(node.label, str) or not node.label:
            raise TreeError(f"node {place} has label {node.label!r}; a non-empty string is expected.")
        if type(node.first) is not int or type(node.last) is not int:
            raise TreeError(f"{shown(node, place)} needs whole numbers as its first and last word.")
        if not 1 <= node.first <= node.last <= count:
            raise TreeError(
                f"{shown(node, place)} is not a span of the sentence: 1 <= first <= last <= {count} is expected."
            )
    check_nesting(count, [(node.first, node.last) for node in nodes])


def check_nesting(count: int, spans: Sequence[tuple[int, int]]) -> None:
    """Raise a `TreeError` unless these spans within 1 to `count` are nested and in preorder, the first over everything."""
    if spans[0] != (1, count):
        raise TreeError(
            f"the first node is over words {spans[0][0]} to {spans[0][1]}; it should be over all, 1 to {count}."
        )
    around = [0]  # places of the nodes that the one before is in, and of that one
    for place in range(1, len(spans)):
        (first, last), before = spans[place], spans[place - 1]
        if (first, -last) < (before[0], -before[1]):
            raise TreeError(
                f"node {place + 1}, over words {first} to {last}, comes after one over {before[0]} to {before[1]}; preorder is "
                "expected: by first word, and of those that begin with the same word the longer ones first."
            )
        while spans[around[-1]][1] < first:
            around.pop()
        outer = spans[around[-1]]
        if last > outer[1]:
            raise TreeError(
                f"the node over words {first} to {last} crosses the one over {outer[0]} to {outer[1]}; phrases are inside "
                "each other or apart."
            )
        around.append(place)


def shown(node: Node, place: int) -> str:
    return f"node {place}, ({node.label!r}, {node.first!r}, {node.last!r}),"


def children_of(nodes: Sequence[Node]) -> list[list[Child]]:
    """What is directly below each node, from left to right."""
    children: list[list[Child]] = [[] for _ in nodes]
    around, place = list[int](), 0
    for word in range(1, nodes[0].last + 1):
        while place < len(nodes) and nodes[place].first == word:
            if around:
                children[around[-1]].append(-place)
            around.append(place)
            place += 1
        children[around[-1]].append(word)
        while around and nodes[around[-1]].last == word:
            around.pop()
    return children


def longest_chain(nodes: Iterable[Node]) -> int:
    """The most nodes over the same words."""
    longest = length = 0
    span = (0, 0)
    for node in nodes:
        length = length + 1 if (node.first, node.last) == span else 1
        span, longest = (node.first, node.last), max(longest, length)
    return longest


def nesting_depth(nodes: Iterable[Node]) -> int:
    """The most nodes that a word is in."""
    ends, deepest = list[int](), 0
    for node in nodes:
        while ends and ends[-1] < node.first:
            ends.pop()
        ends.append(node.last)
        deepest = max(deepest, len(ends))
    return deepest
