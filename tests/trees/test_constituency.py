"""ConstituencyTree: what it accepts and refuses, and phrases made of dependencies."""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtg import ConstituencyTree, DependencyTree, read_conllu
from dtg.errors import InputError, NonProjectiveError, TreeError, UnknownNameError
from dtg.trees import Node
from dtg.trees.kinds import PartialConstituencyTree, Tree
from dtg.trees.phrases.nodes import children_of
from tests.real_data import data_file
from tests.trees.phrase_trees import FIVE, WORKED_EXAMPLE, constituency_trees
from tests.twins import every_projective_tree, random_projective_heads


def test_what_a_tree_knows() -> None:
    tree = WORKED_EXAMPLE
    assert isinstance(tree, Tree)
    assert len(tree) == 6
    assert tree.depth == 5  # left is in S, NP, SBAR, S and VP
    assert tree.labels == ("ADJP", "NP", "S", "SBAR", "VP", "WHNP")
    assert tree.unary_chains == 2  # S over VP over left
    assert tree.key[0] == ("S", 1, 6)
    assert tree.brackets() == FIVE[1]


def test_words_without_tags_are_written_bare() -> None:
    tree = ConstituencyTree(("The", "dog", "barks"), [("S", 1, 3), ("NP", 1, 2), ("VP", 3, 3)])  # type: ignore[arg-type]
    assert tree.brackets() == "(S (NP The dog) (VP barks))"
    assert ConstituencyTree(("(", "a)"), (Node("X", 1, 2),)).brackets() == "(X -LRB- a-RRB-)"


def test_a_tree_is_immutable_and_hashable() -> None:
    tree = ConstituencyTree(WORKED_EXAMPLE.words, WORKED_EXAMPLE.nodes)
    with pytest.raises(dataclasses.FrozenInstanceError):
        tree.nodes = ()  # type: ignore[misc]
    assert tree != WORKED_EXAMPLE  # which has tags
    assert tree.key == WORKED_EXAMPLE.key
    assert len({tree, ConstituencyTree(list(tree.words), [(n.label, n.first, n.last) for n in tree.nodes])}) == 1  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "nodes", "message"),
    [
        ((), [("S", 1, 1)], "the sentence is empty"),
        ("ab", [("S", 1, 2)], "words are expected as a sequence of strings, not as one string: 'ab'"),
        (("a", ""), [("S", 1, 2)], "word 2 is ''; a non-empty string is expected"),
        (("a", "b"), [], "there are no nodes; at least one is expected, over all words"),
        (("a", "b"), [("S", 1, 1)], "the first node is over words 1 to 1; it should be over all, 1 to 2"),
        (("a", "b"), [("S", 1, 2), ("", 1, 1)], "node 2 has label ''; a non-empty string is expected"),
        (("a", "b"), [("S", 1, 2), (None, 1, 1)], "node 2 has label None"),
        (("a", "b"), [("S", 1, 2), ("NP", 1)], r"node 2 is \('NP', 1\); a Node or a \(label, first, last\) triple"),
        (("a", "b"), [("S", 1, 2), 7], "node 2 is 7"),
        (("a", "b"), [("S", 1, 2), ("NP", 0, 1)], r"node 2, \('NP', 0, 1\), is not a span .*1 <= first <= last <= 2"),
        (("a", "b"), [("S", 1, 3)], "is not a span of the sentence"),
        (("a", "b"), [("S", 1, 2), ("NP", 2, 1)], "is not a span of the sentence"),
        (("a", "b"), [("S", 1, "2")], "needs whole numbers as its first and last word"),
        (("a", "b"), [("S", 1, 2), ("NP", True, 2)], "needs whole numbers"),
        (
            ("a", "b", "c"),
            [("S", 1, 3), ("NP", 1, 2), ("VP", 2, 3)],
            "the node over words 2 to 3 crosses the one over 1 to 2; phrases are inside each other or apart",
        ),
        (
            ("a", "b", "c"),
            [("S", 1, 3), ("VP", 3, 3), ("NP", 1, 2)],
            "node 3, over words 1 to 2, comes after one over 3 to 3; preorder is expected",
        ),
        (("a", "b", "c"), [("S", 1, 3), ("VP", 1, 1), ("NP", 1, 2)], "node 3, over words 1 to 2, comes after"),
    ],
)
def test_what_is_not_a_tree(words: object, nodes: object, message: str) -> None:
    with pytest.raises(TreeError, match=message):
        ConstituencyTree(words, nodes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        (("A",), "there are 2 words but 1 tags; each word needs one, or pass none at all"),
        (("A", ""), "the tag of word 2 is ''; a non-empty string is expected"),
        ("AB", "tags are expected as a sequence of strings"),
    ],
)
def test_what_tags_are_not(tags: object, message: str) -> None:
    with pytest.raises(TreeError, match=message):
        ConstituencyTree(("a", "b"), (Node("S", 1, 2),), tags)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("word", "label", "tag"), [("10 000", "S", "CD"), ("a", "N P", "CD"), ("a", "S", "C(D"), ("a", "S", "C\tD")]
)
def test_what_cannot_be_written_in_brackets(word: str, label: str, tag: str) -> None:
    with pytest.raises(InputError, match="has a space or bracket in it and cannot be written in brackets"):
        ConstituencyTree((word,), (Node(label, 1, 1),), (tag,)).brackets()


@given(constituency_trees())
def test_children_are_what_is_directly_below(tree: ConstituencyTree) -> None:
    """Every word and every node but the root is below exactly one node, the smallest around it."""
    children = children_of(tree.nodes)
    below = sorted(child for some in children for child in some)
    assert below == [*range(-len(tree.nodes) + 1, 0), *range(1, len(tree) + 1)]
    for place, some in enumerate(children):
        spans = [(child, child) if child > 0 else (tree.nodes[-child].first, tree.nodes[-child].last) for child in some]
        assert spans[0][0] == tree.nodes[place].first
        assert spans[-1][1] == tree.nodes[place].last
        assert all(before[1] + 1 == after[0] for before, after in pairwise(spans))


# Dependencies as phrases.  There is a difference:  is heads There and difference, difference heads a.
FIGURE_2 = DependencyTree(("There", "is", "a", "difference"), (2, 0, 4, 2), ("expl", "root", "det", "nsubj"))


@pytest.mark.parametrize(
    ("labels", "brackets"),
    [
        ("none", "(X There is (X a difference))"),
        ("head", "(1 There is (1 a difference))"),
        ("relation", "(root There is (nsubj a difference))"),
    ],
)
def test_phrases_of_dependencies(labels: str, brackets: str) -> None:
    assert ConstituencyTree.from_dependencies(FIGURE_2, labels).brackets() == brackets  # type: ignore[arg-type]


def test_the_root_is_always_a_phrase() -> None:
    tree = ConstituencyTree.from_dependencies(DependencyTree(("Go",), (0,)), "head")
    assert tree.brackets() == "(0 Go)"
    assert tree.to_dependencies().heads == (0,)


def test_labels_that_the_tree_does_not_have() -> None:
    with pytest.raises(
        TreeError, match=r"labelled by upos, but word 2, 'is', has none\. Fill the column UPOS"
    ) as caught:
        ConstituencyTree.from_dependencies(FIGURE_2, "upos")
    assert caught.value.word == 2
    with pytest.raises(TreeError, match="labelled by relation, but word 1"):
        ConstituencyTree.from_dependencies(DependencyTree(("Go",), (0,)), "relation")
    with pytest.raises(UnknownNameError, match="Known: none, head, upos, relation"):
        ConstituencyTree.from_dependencies(FIGURE_2, "xpos")  # type: ignore[arg-type]


def test_crossing_arcs_have_no_phrases() -> None:
    with pytest.raises(NonProjectiveError, match=r"phrases do not cross\. Pass it through dtg\.projectivize first"):
        ConstituencyTree.from_dependencies(DependencyTree(tuple("abcd"), (3, 4, 0, 3)))


@pytest.mark.parametrize("words", range(1, 7))
def test_every_projective_tree_comes_back(words: int) -> None:
    found = set()
    for heads in every_projective_tree(words):
        tree = DependencyTree(tuple("abcdef"[:words]), heads)
        phrases = ConstituencyTree.from_dependencies(tree, "head")
        assert phrases.to_dependencies() == tree
        assert phrases.unary_chains == 1
        found.add(phrases.key)
    assert len(found) == len(every_projective_tree(words))


@given(st.integers(1, 40), st.integers(0, 2**32))
def test_a_phrase_is_what_its_head_dominates(words: int, seed: int) -> None:
    """Against the definition: the words from which following heads leads to the head."""
    heads = tuple(random_projective_heads(words, Random(seed)))
    tree = DependencyTree(tuple(f"w{n}" for n in range(words)), heads)
    spans = set()
    for head in range(1, words + 1):
        under = [word for word in range(1, words + 1) if head in path_up(word, heads)]
        if len(under) > 1 or heads[head - 1] == 0:
            spans.add((under[0], under[-1]))
    nodes = ConstituencyTree.from_dependencies(tree).nodes
    assert {(node.first, node.last) for node in nodes} == spans
    assert len(nodes) == len(spans)
    assert ConstituencyTree.from_dependencies(tree, "head").to_dependencies() == tree


def path_up(word: int, heads: tuple[int, ...]) -> list[int]:
    path = [word]
    while heads[path[-1] - 1]:
        path.append(heads[path[-1] - 1])
    return path


@pytest.mark.parametrize(("label", "children"), [("NP", 2), ("2", 2), ("-1", 2), ("²", 2), ("9" * 5000, 2)])
def test_labels_that_say_nothing_about_heads(label: str, children: int) -> None:
    with pytest.raises(TreeError, match=f'as in phrases made with labels="head". It has {children} children'):
        ConstituencyTree(("a", "b"), (Node(label, 1, 2),)).to_dependencies()
    with pytest.raises(
        TreeError, match="has label '0'; expected is the number of its children before its head, a word"
    ):
        ConstituencyTree(("a", "b"), (Node("0", 1, 2), Node("0", 1, 1))).to_dependencies()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ud/en_ewt-ud-dev.conllu", "ud/en_gum-ud-train.conllu"])
def test_real_dependencies_come_back(name: str) -> None:
    count = 0
    for tree in read_conllu(data_file(name)):
        if tree.is_projective:
            bare = DependencyTree(tree.words, tree.heads)
            assert ConstituencyTree.from_dependencies(tree, "head").to_dependencies() == bare
            assert ConstituencyTree.from_dependencies(tree, "upos").labels
            assert ConstituencyTree.from_dependencies(tree, "relation").nodes[0].label == "root"
            count += 1
    assert count > 1500


DRAWING = """\
S─┬─NP─┬─NP─┬──────────── 1 The   DT
  │    │    └──────────── 2 man   NN
  │    └─SBAR─┬─WHNP───── 3 who   WP
  │           └─S───VP─── 4 left  VBD
  └─VP─┬───────────────── 5 is    VBZ
       └─ADJP──────────── 6 old   JJ"""

OPEN = """\
S…─┬─NP─┬──────── 1 The
   │    └──────── 2 man
   └─VP…───NP…"""


def test_the_drawing_for_a_terminal() -> None:
    assert str(WORKED_EXAMPLE) == WORKED_EXAMPLE.draw() == DRAWING
    ascii_drawing = WORKED_EXAMPLE.draw(ascii_only=True)
    assert ascii_drawing.isascii()
    assert ascii_drawing.splitlines()[1] == "  |    |    +------------ 2 man   NN"
    assert ConstituencyTree(("Go",), (Node("S", 1, 1), Node("VP", 1, 1))).draw() == "S───VP─── 1 Go"


def test_the_drawing_of_a_partial_tree() -> None:
    nodes = (("S", 1, None), ("NP", 1, 2), ("VP", 3, None), ("NP", 3, None))
    partial = PartialConstituencyTree(("The", "man"), nodes, 0.5, -3.0)
    assert partial.draw() == OPEN
    assert partial.open == ("S", "VP", "NP")
    assert PartialConstituencyTree((), (), 1.0, 0.0).draw() == ""
    assert PartialConstituencyTree((), (("S", 1, None),), 1.0, 0.0).draw(ascii_only=True) == "S..."


@given(constituency_trees())
def test_a_drawing_has_a_line_for_each_word_and_every_label(tree: ConstituencyTree) -> None:
    lines = tree.draw().split("\n")
    assert len(lines) == len(tree)
    for number, line in enumerate(lines, start=1):
        assert [node.label for node in tree.nodes if node.first == number and node.label not in line] == []


def test_deeply_nested_trees_are_no_problem() -> None:
    nodes = tuple(Node("S", 1, 1) for _ in range(5000))
    tree = ConstituencyTree(("a",), nodes)
    assert tree.depth == tree.unary_chains == 5000
    assert tree.brackets().count("(S") == 5000
    assert len(tree.draw()) > 5000
    assert tree.binarize(labels=True).debinarize() == tree
    assert hash(tree) == hash(ConstituencyTree(("a",), nodes))
