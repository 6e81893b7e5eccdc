"""What `--parser` can name, and what is known of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from dtg.errors import CheckpointError, InputError
from dtg.named_proposal import NamedProposal
from dtg.parser import BiaffineParser
from dtg.proposals.from_file import FileProposal
from dtg.scoring.proposal import draw
from dtg.trees import DependencyTree, projectivize, write_conllu
from tests.parser.parsers import small_parser

CROSSING = DependencyTree(("a", "b", "c", "d"), (4, 0, 2, 2))


def test_a_folder_is_a_parser(tmp_path: Path) -> None:
    small_parser().save(tmp_path / "parser")
    assert isinstance(NamedProposal.of(tmp_path / "parser", "cpu").proposal, BiaffineParser)
    with pytest.raises(CheckpointError, match="is not a parser"):
        NamedProposal.of(tmp_path, "cpu")


@pytest.mark.parametrize("name", ["a.conllu", "A.CONLL", "with a space.conllu.gz"])
def test_a_file_of_trees_is_a_proposal(tmp_path: Path, name: str) -> None:
    write_conllu([CROSSING], tmp_path / name)
    named = NamedProposal.of(tmp_path / name, "cpu")
    assert isinstance(named.proposal, FileProposal) and not named.gives_phrases
    assert named.changes() == []
    assert draw(named.proposal, CROSSING.words, 1, None).trees[0].heads == projectivize(CROSSING).tree.heads
    assert named.changes() == ["lifted 1 crossing arc in 1 of 1 tree."]


def test_a_parser_of_our_own_changes_nothing() -> None:
    assert NamedProposal.of(small_parser()).changes() == []


def test_spacy_is_asked_for_by_name() -> None:
    pytest.importorskip("spacy")
    with pytest.raises(InputError, match=r"cannot load the spaCy pipeline 'xx_none'"):
        NamedProposal.of("spacy:xx_none", "cpu")


def test_anything_else_is_told_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"nothing is no file or folder\. Trees can be proposed by\n(.*\n){3}spacy: and"
    ):
        NamedProposal.of("nothing", "cpu")
    (tmp_path / "text.txt").write_text("a b")
    with pytest.raises(InputError, match=r"text\.txt is a file, but not named as one of trees"):
        NamedProposal.of(tmp_path / "text.txt", "cpu")
