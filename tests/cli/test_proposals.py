"""What `--parser` can name, and what is said of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from dtg.cli.loading import open_proposal, show_repairs
from dtg.errors import CheckpointError, InputError
from dtg.parser import BiaffineParser
from dtg.proposals.from_file import FileProposal
from dtg.scoring.proposal import draw
from dtg.trees import DependencyTree, projectivize, write_conllu
from tests.parser.parsers import small_parser

CROSSING = DependencyTree(("a", "b", "c", "d"), (4, 0, 2, 2))


def test_a_folder_is_a_parser(tmp_path: Path) -> None:
    small_parser().save(tmp_path / "parser")
    assert isinstance(open_proposal(str(tmp_path / "parser"), "cpu"), BiaffineParser)
    with pytest.raises(CheckpointError, match="is not a parser"):
        open_proposal(str(tmp_path), "cpu")


@pytest.mark.parametrize("name", ["a.conllu", "A.CONLL", "with a space.conllu.gz"])
def test_a_file_of_trees_is_a_proposal(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    write_conllu([CROSSING], tmp_path / name)
    proposal = open_proposal(str(tmp_path / name), "cpu")
    assert isinstance(proposal, FileProposal)
    show_repairs(proposal)
    assert capsys.readouterr().err == ""
    assert draw(proposal, CROSSING.words, 1, None).trees[0].heads == projectivize(CROSSING).tree.heads
    show_repairs(proposal)
    assert capsys.readouterr().err == "dtg: lifted 1 crossing arc in 1 of 1 tree.\n"


def test_a_parser_of_our_own_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    show_repairs(small_parser())
    assert capsys.readouterr().err == ""


def test_spacy_is_asked_for_by_name() -> None:
    pytest.importorskip("spacy")
    with pytest.raises(InputError, match=r"cannot load the spaCy pipeline 'xx_none'"):
        open_proposal("spacy:xx_none", "cpu")


def test_anything_else_is_told_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--parser nothing is no file or folder\. It may be\n(.*\n){3}spacy: and"):
        open_proposal("nothing", "cpu")
    (tmp_path / "text.txt").write_text("a b")
    with pytest.raises(InputError, match=r"text\.txt is a file, but not named as one of trees"):
        open_proposal(str(tmp_path / "text.txt"), "cpu")
