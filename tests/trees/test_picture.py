"""Trees as pictures: whole files, and arcs that can be told apart."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given

from dtg import ConstituencyTree, DependencyTree
from dtg.errors import InputError
from dtg.trees import Node
from dtg.trees.phrases.nodes import children_of
from dtg.trees.picture import CHARACTER, ends_of, leaf_places, middles_of, phrase_places
from tests.trees.phrase_trees import WORKED_EXAMPLE, constituency_trees
from tests.twins import every_projective_tree

TREE = DependencyTree(tuple("There is a difference".split()), (2, 0, 4, 2), ("expl", "root", "det", "nsubj"))


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_the_same_tree_makes_the_same_file(suffix: str, tmp_path: Path) -> None:
    TREE.picture(tmp_path / f"one.{suffix}")
    TREE.picture(tmp_path / f"two.{suffix}")
    assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"two.{suffix}").read_bytes()


def test_labels_are_drawn_and_may_be_missing(tmp_path: Path) -> None:
    TREE.picture(tmp_path / "labels.svg")
    DependencyTree(TREE.words, TREE.heads).picture(tmp_path / "none.svg")
    sizes = [(tmp_path / name).stat().st_size for name in ("labels.svg", "none.svg")]
    assert sizes[0] > sizes[1] > 1000
    DependencyTree(("Go",), (0,)).picture(tmp_path / "one-word.svg")


def test_other_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"must end in one of .svg, .png, .pdf"):
        TREE.picture(tmp_path / "tree.jpg")


def test_no_two_arcs_meet_and_none_cross() -> None:
    for heads in every_projective_tree(5):
        middles = middles_of(["word"] * 5, None)
        arcs = ends_of(heads, middles)
        ends = [end for arc in arcs.values() for end in arc]
        assert len(set(ends)) == len(ends) == 8
        for word, (start, end) in arcs.items():
            assert abs(start - middles[heads[word - 1] - 1]) < 0.25 > abs(end - middles[word - 1])
        spans = [sorted(arc) for arc in arcs.values()]
        for low, high in spans:
            assert not any(low < other < high < last for other, last in spans)


def test_phrases_are_drawn(tmp_path: Path) -> None:
    for suffix in ("svg", "png", "pdf"):
        WORKED_EXAMPLE.picture(tmp_path / f"one.{suffix}")
        WORKED_EXAMPLE.picture(tmp_path / f"two.{suffix}")
        assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"two.{suffix}").read_bytes()
    ConstituencyTree(WORKED_EXAMPLE.words, WORKED_EXAMPLE.nodes).picture(tmp_path / "untagged.svg")
    assert (tmp_path / "untagged.svg").stat().st_size < (tmp_path / "one.svg").stat().st_size
    ConstituencyTree(("Go",), (Node("S", 1, 1),)).picture(tmp_path / "one-word.svg")
    with pytest.raises(InputError, match=r"must end in one of .svg, .png, .pdf"):
        WORKED_EXAMPLE.picture(tmp_path / "tree.jpg")


@given(constituency_trees())
def test_labels_have_room_and_children_are_below(tree: ConstituencyTree) -> None:
    """Words are side by side; a phrase is within the edges of its words, and higher than its children."""
    edges, middles = leaf_places(tree.words, tree.nodes, tree.tags)
    assert all(before < after for before, after in pairwise(middles))
    children = children_of(tree.nodes)
    places = phrase_places(tree.nodes, children, middles)
    for (x, y), node, below in zip(places, tree.nodes, children, strict=True):
        assert middles[node.first - 1] <= x <= middles[node.last - 1]
        assert all(places[-child][1] < y for child in below if child < 0)
        left = edges[node.first - 2] if node.first > 1 else 0.0
        assert edges[node.last - 1] - left >= len(node.label) * CHARACTER - 1e-9
