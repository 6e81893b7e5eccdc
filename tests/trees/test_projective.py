"""Lifting: the result has no crossing arcs, little is changed, and what is changed is reported."""

from __future__ import annotations

import random

import pytest

from dtg import DependencyTree, projectivize
from dtg.trees.projective import shortest_crossed
from tests.twins import crosses, every_tree


def test_a_projective_tree_is_left_alone() -> None:
    tree = DependencyTree(("a", "b", "c"), (2, 0, 2))
    assert projectivize(tree).tree is tree
    assert projectivize(tree).lifted == ()


def test_the_textbook_case() -> None:
    """ "A hearing is scheduled on the issue today": "issue" depends on "hearing", across "scheduled" """
    tree = DependencyTree(tuple("A hearing is scheduled on the issue today".split()), (2, 4, 4, 0, 7, 7, 2, 4))
    lifted = projectivize(tree)
    assert lifted.lifted == (7,)
    assert lifted.tree.heads == (2, 4, 4, 0, 7, 7, 4, 4)


def slow_shortest_crossed(heads: tuple[int, ...]) -> int | None:
    """From the definition: an arc is crossed if it spans a word that is not below its head."""

    def below(word: int, head: int) -> bool:
        while word != head and word != 0:
            word = heads[word - 1]
        return word == head

    crossed = [
        (abs(head - word), word)
        for word, head in enumerate(heads, start=1)
        if head and any(not below(between, head) for between in range(min(head, word) + 1, max(head, word)))
    ]
    return min(crossed)[1] if crossed else None


@pytest.mark.parametrize("length", range(1, 7))
def test_every_tree_by_enumeration(length: int) -> None:
    for heads in every_tree(length):
        assert shortest_crossed(heads) == slow_shortest_crossed(heads)
        assert (shortest_crossed(heads) is not None) == crosses(heads)
        result = projectivize(DependencyTree(tuple("w" * length), heads))
        assert not crosses(result.tree.heads)
        assert result.tree.heads.count(0) == 1
        changed = [word for word in range(1, length + 1) if result.tree.heads[word - 1] != heads[word - 1]]
        assert list(result.lifted) == changed
        for word in changed:  # a word moves up the path to the root, never elsewhere
            above, head = set(), heads[word - 1]
            while head:
                head = heads[head - 1]
                above.add(head)
            assert result.tree.heads[word - 1] in above - {0}


def test_long_random_trees() -> None:
    chance = random.Random(7)
    for _ in range(50):
        heads = [0, *(chance.randint(1, word) for word in range(1, 60))]
        order = list(range(1, 61))
        chance.shuffle(order)
        shuffled = [0] * 60
        for word, head in enumerate(heads, start=1):
            shuffled[order[word - 1] - 1] = order[head - 1] if head else 0
        assert not crosses(projectivize(DependencyTree(tuple("w" * 60), tuple(shuffled))).tree.heads)
