"""DependencyTree: what it accepts, what it refuses and how it says so."""

from __future__ import annotations

import dataclasses
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtg import DependencyTree
from dtg.errors import DtgError, RootCountError, TreeError
from tests.twins import crosses, every_tree, random_projective_heads

FIGURE_2 = DependencyTree(("There", "is", "a", "difference"), (2, 0, 4, 2))


def test_what_a_tree_knows() -> None:
    assert FIGURE_2.root == 2
    assert FIGURE_2.arcs == ((2, 1), (0, 2), (4, 3), (2, 4))
    assert FIGURE_2.depth == 3
    assert FIGURE_2.is_projective
    assert len(FIGURE_2) == 4


def test_a_tree_is_immutable_and_hashable() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        FIGURE_2.heads = (0, 1, 2, 3)  # type: ignore[misc]
    assert len({FIGURE_2, DependencyTree(FIGURE_2.words, FIGURE_2.heads)}) == 1


def test_lists_are_taken_as_tuples() -> None:
    tree = DependencyTree(["a", "b"], [0, 1], ["root", "obj"])  # type: ignore[arg-type]
    assert (tree.words, tree.heads, tree.labels) == (("a", "b"), (0, 1), ("root", "obj"))


@pytest.mark.parametrize(
    ("words", "heads", "labels", "message", "word"),
    [
        ((), (), None, "the sentence is empty", 1),
        (("a", "b"), (0,), None, "there are 2 words but 1 heads", 1),
        (("a", "b"), (0, 1), ("root",), "there are 2 words but 1 labels", 1),
        (("a", ""), (0, 1), None, "word 2 is ''", 2),
        (("a", "b"), (0, 3), None, "word 2 has head 3, but the sentence has 2 words", 2),
        (("a", "b"), (-1, 0), None, "word 1 has head -1", 1),
        (("a", "b"), (0, "1"), None, "word 2 has head '1'; a whole number is expected", 2),
        (("a", "b"), (True, 0), None, "word 1 has head True; a whole number is expected", 1),
        (("a", "b"), (0, 2), None, "word 2 is its own head", 2),
        (("a", "b", "c"), (0, 3, 2), None, "the heads of words 2 → 3 → 2 go round in a circle", 2),
        ("ab", (0, 1), None, "not as one string", 1),
    ],
)
def test_what_is_not_a_tree(words: object, heads: object, labels: object, message: str, word: int) -> None:
    with pytest.raises(TreeError, match=message) as caught:
        DependencyTree(words, heads, labels)  # type: ignore[arg-type]
    assert caught.value.word == word
    assert isinstance(caught.value, DtgError)


@pytest.mark.parametrize(
    ("heads", "message"),
    [((0, 0, 1), "words 1, 2 all have head 0"), ((2, 3, 1), "no word has head 0")],
)
def test_exactly_one_root_word(heads: tuple[int, ...], message: str) -> None:
    with pytest.raises(RootCountError, match=message):
        DependencyTree(("a", "b", "c"), heads)


@pytest.mark.parametrize("length", range(1, 6))
def test_trees_and_projectivity_by_enumeration(length: int) -> None:
    """Every sequence of heads: a tree exactly if the definition says so, projective exactly if no two arcs cross."""
    trees = set(every_tree(length))
    words = tuple(map(str, range(length)))
    for number in range((length + 1) ** length):
        heads = tuple(number // (length + 1) ** place % (length + 1) for place in range(length))
        try:
            tree = DependencyTree(words, heads)
        except TreeError:
            assert heads not in trees
        else:
            assert heads in trees
            assert tree.is_projective == (not crosses(heads))


@given(st.integers(1, 30).flatmap(lambda n: st.tuples(*(st.integers(0, i) for i in range(n)))))
def test_depth_is_the_longest_path(parents: tuple[int, ...]) -> None:
    heads = (0, *(max(1, parent) for parent in parents[1:]))
    tree = DependencyTree(tuple("w" for _ in heads), heads)

    def path(word: int) -> int:
        return 0 if word == 0 else 1 + path(heads[word - 1])

    assert tree.depth == max(path(word) for word in range(1, len(heads) + 1))


def test_drawing() -> None:
    assert FIGURE_2.draw().splitlines() == [
        "    ┌► 1 There",
        "─►┬─┴─ 2 is          root",
        "  │ ┌► 3 a",
        "  └►┴─ 4 difference",
    ]
    assert str(FIGURE_2) == FIGURE_2.draw()


def test_drawing_with_labels_in_ascii() -> None:
    tree = DependencyTree(("Dogs", "bark"), (2, 0), ("nsubj", "root"))
    assert tree.draw(ascii_only=True).splitlines() == ["  +> 1 Dogs  nsubj", "->+- 2 bark  root"]


def test_drawing_crossing_arcs_keeps_them_apart() -> None:
    drawing = DependencyTree(tuple("abcd"), (3, 4, 0, 3)).draw().splitlines()
    assert drawing == ["    ┌► 1 a", "  ┌►┼─ 2 b", "─►┼─┼─ 3 c  root", "  └─┴► 4 d"]


def arc_source(lines: list[str], dependent: int) -> int:
    """Follow the arrow of a word back along its line: the head, or 0 where it comes from the margin."""
    x = lines[dependent].index("►") - 1
    if x == 0:
        return 0
    step = 1 if lines[dependent][x] in "┌┬" else -1
    row = dependent + step
    while lines[row][x] == "│":
        row += step
    return row + 1


@given(st.integers(1, 25), st.randoms(use_true_random=False), st.sampled_from([0.0, 0.5, 1.0]))
def test_every_arc_can_be_followed(length: int, chance: Random, chain: float) -> None:
    tree = DependencyTree(tuple("w" * length), random_projective_heads(length, chance, chain=chain))
    lines = tree.draw().splitlines()
    assert tuple(arc_source(lines, word) for word in range(length)) == tree.heads
