"""Files in brackets as proposals, and projected dependencies: every tree is found by its words, whatever the layout."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import torch

from dtg.errors import InputError, TreebankError
from dtg.proposals.from_file import FileProposal
from dtg.proposals.projected import ProjectedProposal
from dtg.scoring.proposal import Draws, draw
from dtg.trees import BinaryTree, ConstituencyTree, DependencyTree, read_brackets, write_conllu
from dtg.trees.kinds import BINARY
from dtg.trees.phrases.brackets import parse_brackets
from tests.real_data import data_file

LINES = """\
(S (NP the dog) (VP barks loudly))
(S (NP the dog) (VP barks loudly))
(S the (VP dog barks loudly))
(S (NP a cat) sleeps)
(S the (VP dog (VP barks loudly)))
"""
WRAPPED = """\
( (S (NP-SBJ (DT the) (NN dog))
     (VP (VBZ barks)
         (ADVP (RB loudly)))) )

( (S (NP (DT a) (NN cat)) (VP (VBZ sleeps) (NP (-NONE- *)))) )
"""
DOG = ("the", "dog", "barks", "loudly")


def propose(path: Path, words: tuple[str, ...] = DOG, count: int = 300) -> Draws:
    return FileProposal(path).propose(words, count, torch.Generator())


def written(draws: Draws) -> list[str]:
    return [tree.brackets() for tree in draws.trees if isinstance(tree, ConstituencyTree)]


def test_trees_are_found_by_their_words(tmp_path: Path) -> None:
    path = tmp_path / "trees.ptb"
    path.write_text(LINES)
    expected = [LINES.splitlines()[place] for place in (0, 2, 4)]
    assert written(propose(path)) == expected
    assert written(propose(path, count=2)) == expected[:2]
    assert written(propose(path, ("a", "cat", "sleeps"))) == ["(S (NP a cat) sleeps)"]
    packed = tmp_path / "trees.ptb.gz"
    packed.write_bytes(gzip.compress(LINES.encode()))
    assert written(propose(packed)) == expected
    one_line = tmp_path / "line.mrg"
    one_line.write_text(LINES.replace("\n", " "))
    assert written(propose(one_line)) == expected
    assert propose(path).log_q is None and propose(path).drawn == "not at random"
    with pytest.raises(InputError, match=r"has no tree of 'no such words' \(3 words\)"):
        propose(path, ("no", "such", "words"))


def test_what_is_removed_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "trees.mrg"
    path.write_text(WRAPPED)
    proposal = FileProposal(path)
    [tree] = proposal.propose(("a", "cat", "sleeps"), 5, torch.Generator()).trees
    assert isinstance(tree, ConstituencyTree) and tree.source is not None
    assert (tree.source.sentence, tree.source.line) == (2, 5)
    assert proposal.repairs.trees == 1
    assert proposal.repairs.lines() == [
        "removed 1 trace",
        "removed 1 empty phrase",
        "removed outer brackets around 1 sentence",
    ]


def test_broken_brackets_are_named(tmp_path: Path) -> None:
    path = tmp_path / "trees.ptb"
    path.write_text("(S (NP a) b)\n(S (NP c d)\n")
    with pytest.raises(TreebankError, match=r"sentence 2 \(line 2\): the tree breaks off"):
        FileProposal(path)
    path.write_text("\n")
    with pytest.raises(InputError, match="has no trees"):
        FileProposal(path)


def test_phrases_are_binarised_for_models_of_binary_trees(tmp_path: Path) -> None:
    path = tmp_path / "trees.ptb"
    path.write_text(LINES)
    found = draw(FileProposal(path), DOG, 300, None, BINARY)
    assert all(isinstance(tree, BinaryTree) for tree in found.trees)
    # (S the (VP dog barks loudly)) and (S the (VP dog (VP barks loudly))) are one binary tree.
    assert [tree.key for tree in found.trees] == [((1, 4), (1, 2), (3, 4)), ((1, 4), (2, 4), (3, 4))]


def test_projected_dependencies(tmp_path: Path) -> None:
    path = tmp_path / "trees.conllu"
    heads = [(2, 3, 0, 3), (4, 1, 2, 0), (3, 3, 0, 3), (2, 0, 2, 2)]
    write_conllu([DependencyTree(DOG, some, ("_",) * 4) for some in heads], path)
    by_head = ProjectedProposal(FileProposal(path), "head").propose(DOG, 9, torch.Generator())
    assert [tree.to_dependencies().heads for tree in by_head.trees if isinstance(tree, ConstituencyTree)] == heads
    # Without labels, the last two are the same flat phrase.
    assert len(ProjectedProposal(FileProposal(path), "none").propose(DOG, 9, torch.Generator()).trees) == 3
    brackets = tmp_path / "trees.ptb"
    brackets.write_text(LINES)
    with pytest.raises(InputError, match="the proposal gives a ConstituencyTree"):
        ProjectedProposal(FileProposal(brackets), "head").propose(DOG, 9, torch.Generator())


def test_log_q_is_that_of_the_dependencies() -> None:
    class Known:
        def propose(self, words: tuple[str, ...], count: int, generator: torch.Generator) -> Draws:
            trees = (DependencyTree(DOG, (2, 3, 0, 3)), DependencyTree(DOG, (3, 3, 0, 3)))
            return Draws(trees, (-1.0, -2.0), "independently")

    found = ProjectedProposal(Known(), "head").propose(DOG, 2, torch.Generator())  # type: ignore[arg-type]
    assert found.log_q == (-1.0, -2.0) and found.drawn == "independently"
    assert ProjectedProposal(Known(), "none").propose(DOG, 2, torch.Generator()).log_q is None  # type: ignore[arg-type]


def test_one_tree_from_text() -> None:
    assert parse_brackets("(S (NP The dog)\n (VP barks))").key == (("S", 1, 3), ("NP", 1, 2), ("VP", 3, 3))
    for text, reason in (
        ("(S a", "breaks off"),
        ("(S a) (S b)", "there are 2 trees"),
        ("(S (X (-NONE- *)))", "one tree"),
    ):
        with pytest.raises(InputError, match=reason):
            parse_brackets(text)


@pytest.mark.slow
def test_every_tree_of_a_real_file_is_found() -> None:
    path = data_file("const/ptb-sample.ptb.gz")
    proposal = FileProposal(path)
    for number, tree in enumerate(read_brackets(path)):
        if number % 20 == 0:
            found = proposal.propose(tree.words, 300, torch.Generator())
            assert tree.key in [one.key for one in found.trees]
