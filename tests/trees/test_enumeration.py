"""Every projective tree, binary tree and phrase-structure tree, against definitions and closed formulas."""

from __future__ import annotations

from itertools import product

import pytest

from dtg.errors import InputError
from dtg.trees import BinaryTree, ConstituencyTree, DependencyTree, Node
from dtg.trees.enumeration import (
    LONGEST,
    count_binary,
    count_constituency,
    count_projective,
    enumerate_binary,
    enumerate_constituency,
    enumerate_projective,
)
from tests.twins import every_projective_tree

COUNTS = [1, 2, 7, 30, 143, 728, 3876, 21318]


@pytest.mark.parametrize("words", range(1, 7))
def test_equal_to_the_definition(words: int) -> None:
    found = enumerate_projective(words)
    assert len(set(found)) == len(found)
    assert set(found) == set(every_projective_tree(words))


def test_as_many_as_the_design_says() -> None:
    assert [count_projective(words) for words in range(1, LONGEST + 1)] == COUNTS
    assert [len(set(enumerate_projective(words))) for words in range(1, LONGEST + 1)] == COUNTS


def test_the_longest_are_trees() -> None:
    """Beyond what the twin enumerates: a sample of them is built, and construction checks it."""
    words = tuple("abcdefgh")
    for heads in enumerate_projective(LONGEST)[::37]:
        assert DependencyTree(words, heads).is_projective


def test_the_order_is_fixed() -> None:
    assert enumerate_projective(3) == [(0, 1, 1), (0, 1, 2), (0, 3, 1), (2, 0, 2), (3, 3, 0), (3, 1, 0), (2, 3, 0)]


def test_there_is_a_limit() -> None:
    message = "9 words have 120,175 projective trees; they are enumerated for up to 8 words"
    with pytest.raises(InputError, match=message):
        enumerate_projective(9)
    for words in (0, -1):
        with pytest.raises(InputError, match="at least one word"):
            enumerate_projective(words)


def test_binary_trees() -> None:
    for words in range(1, 9):
        found = list(enumerate_binary(words))
        assert len(set(found)) == len(found) == count_binary(words)
        for spans in found:
            assert BinaryTree(tuple("abcdefgh"[:words]), spans).spans == spans
    assert [count_binary(words) for words in (10, 20)] == [4862, 1767263190]


def every_phrase_tree(words: int, labels: str, chain: int) -> set[tuple[Node, ...]]:
    """By definition: any chains over any spans, if these do not cross and the sentence has one."""
    spans = [(first, last) for first in range(1, words + 1) for last in range(words, first - 1, -1)]
    chains = [some for length in range(chain + 1) for some in product(labels, repeat=length)]
    found = set()
    for chosen in product(chains, repeat=len(spans)):
        taken = [span for span, some in zip(spans, chosen, strict=True) if some]
        if chosen[0] and not any(a < c <= b < d for a, b in taken for c, d in taken):
            found.add(tuple(Node(x, *span) for span, some in zip(spans, chosen, strict=True) for x in some))
    return found


@pytest.mark.parametrize(
    ("words", "labels", "chain"), [(1, "AB", 3), (2, "AB", 2), (3, "A", 2), (3, "AB", 1), (4, "A", 1), (2, "ABC", 2)]
)
def test_phrases_equal_to_the_definition(words: int, labels: str, chain: int) -> None:
    found = list(enumerate_constituency(words, labels, chain))
    assert len(set(found)) == len(found) == count_constituency(words, len(labels), chain)
    assert set(found) == every_phrase_tree(words, labels, chain)


@pytest.mark.parametrize(("words", "labels", "chain"), [(3, "AB", 2), (5, "A", 1), (4, "A", 2), (4, "AB", 1)])
def test_phrases_are_trees(words: int, labels: str, chain: int) -> None:
    count = 0
    for nodes in enumerate_constituency(words, labels, chain):
        tree = ConstituencyTree(tuple("abcde"[:words]), nodes)
        assert tree.unary_chains <= chain
        count += 1
    assert count == count_constituency(words, len(labels), chain)


def test_phrases_need_labels() -> None:
    with pytest.raises(InputError, match="not 0 labels and a chain of 1"):
        enumerate_constituency(2, (), 1)
    with pytest.raises(InputError, match="not 2 labels and a chain of 0"):
        count_constituency(2, 2, 0)
    with pytest.raises(InputError, match="at least one word, not 0"):
        enumerate_binary(0)
