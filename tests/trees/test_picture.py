"""Trees as pictures: whole files, and arcs that can be told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from dtg import DependencyTree
from dtg.errors import InputError
from dtg.trees.picture import ends_of, middles_of
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
