"""Binary trees: right-factored, and from labels the phrases come back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtg import ConstituencyTree, read_brackets
from dtg.errors import TreeError
from dtg.trees import BinaryTree, Node
from dtg.trees.enumeration import enumerate_binary
from dtg.trees.kinds import BINARY, Tree
from tests.real_data import data_file
from tests.trees.phrase_trees import FIVE_NODES, WORKED_EXAMPLE, constituency_trees, text

BRACKETED = ("const/gum-dev.ptb.gz", "const/ptb-sample.ptb.gz", "const/masc-ptb.ptb.gz", "const/craft-dev.ptb.gz")


def test_the_worked_example() -> None:
    """Reduces after each word, as in the specification of Pushdown: The 0, man 1, who 0, left 2, is 0, old 2."""
    binary = WORKED_EXAMPLE.binarize()
    assert isinstance(binary, Tree)
    assert binary.spans == binary.key == ((1, 6), (1, 4), (1, 2), (3, 4), (5, 6))
    assert [sum(last == word for _, last in binary.spans) for word in range(1, 7)] == [0, 1, 0, 2, 0, 2]


def test_phrases_are_right_factored() -> None:
    """She (saw ((the girl) (with (a telescope)))) . : the second and third child of S are a constituent."""
    nodes = tuple(Node(*node) for node in FIVE_NODES[3])
    tree = ConstituencyTree(tuple("She saw the girl with a telescope .".split()), nodes)
    assert tree.binarize().spans == ((1, 8), (2, 8), (2, 7), (3, 7), (3, 4), (5, 7), (6, 7))
    assert tree.binarize(labels=True).brackets() == (
        "(S (NP She) (@S (VP saw (NP (NP the girl) (PP with (NP a telescope)))) .))"
    )


def test_labels_tell_chains_and_added_nodes() -> None:
    tree = ConstituencyTree(tuple("abcd"), (Node("S", 1, 4), Node("@V+P", 1, 4), Node("N\\P", 2, 2), Node("Q", 2, 2)))
    binary = tree.binarize(labels=True)
    assert [node.label for node in binary.nodes] == [r"S+\@V\+P", r"@S+\@V\+P", r"N\\P+Q", r"@S+\@V\+P"]
    assert binary.debinarize() == tree


@given(constituency_trees(labels=st.sampled_from(["S", "@", "+", "\\", "@@S", "S+", "\\+", "+@", "ADVP|PRT"]) | text))
def test_phrases_come_back(tree: ConstituencyTree) -> None:
    binary = tree.binarize(labels=True)
    assert binary.debinarize() == tree
    assert binary.unary_chains == 1
    spans = tuple((node.first, node.last) for node in binary.nodes if node.first < node.last)
    assert spans == tree.binarize().spans  # which are checked to be binary
    assert binary.words == tree.words
    assert binary.tags == tree.tags


@given(constituency_trees())
def test_what_is_binary_stays(tree: ConstituencyTree) -> None:
    binary = tree.binarize()
    assert ConstituencyTree.from_binary(binary).binarize() == binary
    constituents = {(node.first, node.last) for node in tree.nodes if node.first < node.last}
    assert constituents <= set(binary.spans)


@pytest.mark.parametrize(
    ("words", "spans", "message"),
    [
        ((), (), "the sentence is empty"),
        ("ab", ((1, 2),), "not as one string"),
        (("a", "b"), (), "2 words have 1 binary constituents of two words or more; 0 were given"),
        (("a",), ((1, 1),), "1 words have 0 binary constituents"),
        (("a", "b"), ((1, 1),), r"span 1 is \(1, 1\); 1 <= first < last <= 2 is expected"),
        (("a", "b"), ((1, "2"),), "span 1 is"),
        (("a", "b", "c"), ((1, 3), (1, 3)), "two constituents are over the same words"),
        (("a", "b", "c"), ((1, 2), (1, 3)), "it should be over all, 1 to 3"),
        (("a", "b", "c", "d"), ((1, 4), (1, 2), (2, 4)), "crosses"),
        (("a", "b", "c", "d"), ((1, 4), (3, 4), (1, 2)), "preorder is expected"),
    ],
)
def test_what_is_not_a_binary_tree(words: object, spans: object, message: str) -> None:
    with pytest.raises(TreeError, match=message):
        BinaryTree(words, spans)  # type: ignore[arg-type]


@pytest.mark.parametrize("words", range(1, 7))
def test_every_binary_tree_is_its_own_binarisation(words: int) -> None:
    for spans in enumerate_binary(words):
        tree = BinaryTree(tuple("abcdef"[:words]), spans)
        assert ConstituencyTree.from_binary(tree).binarize() == tree
        assert len(tree) == words


def test_binary_trees_are_drawn_read_and_written(tmp_path: Path) -> None:
    tree = WORKED_EXAMPLE.binarize()
    assert (
        str(tree)
        == tree.draw()
        == "\n".join(
            [
                "─┬──┬──┬─ 1 The",
                " │  │  └─ 2 man",
                " │  └──┬─ 3 who",
                " │     └─ 4 left",
                " └──┬──── 5 is",
                "    └──── 6 old",
            ]
        )
    )
    one = BinaryTree(("Go",), ())
    assert one.draw() == "─── 1 Go"
    assert BINARY.write([tree, one], tmp_path / "b.ptb") == 2
    assert list(BINARY.read(tmp_path / "b.ptb")) == [tree, one]
    tree.picture(tmp_path / "b.svg")


@pytest.mark.slow
@pytest.mark.parametrize("name", BRACKETED)
def test_real_trees_come_back(name: str) -> None:
    for tree in read_brackets(data_file(name)):
        binary = tree.binarize(labels=True)
        assert binary.debinarize() == tree
        assert len(tree.binarize().spans) == len(tree) - 1
