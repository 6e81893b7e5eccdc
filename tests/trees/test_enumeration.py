"""Every projective tree, against the definition and the closed formula."""

from __future__ import annotations

import pytest

from dtg.errors import InputError
from dtg.trees import DependencyTree
from dtg.trees.enumeration import LONGEST, count_projective, enumerate_projective
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
