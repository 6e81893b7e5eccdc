"""The command line as a user meets it: real output, and mistakes answered without a traceback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dtg import __version__
from tests.cli.running import dtg

SENTENCE = ("There is a difference", "--heads", "2 0 4 2")
CONLLU = """# sent_id = 1
1\tThere\t_\t_\t_\t_\t2\texpl\t_\t_
2\tis\t_\t_\t_\t_\t0\troot\t_\t_

1\ta\t_\t_\t_\t_\t0\troot\t_\t_
2\tb\t_\t_\t_\t_\t0\troot\t_\t_

1\ta\t_\t_\t_\t_\t3\tdep\t_\t_
2\tb\t_\t_\t_\t_\t4\tdep\t_\t_
3\tc\t_\t_\t_\t_\t0\troot\t_\t_
4\td\t_\t_\t_\t_\t3\tdep\t_\t_
"""


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    path = tmp_path / "three.conllu"
    path.write_text(CONLLU)
    return path


def test_help_and_version() -> None:
    assert "inspect" in dtg("--help").stdout
    assert "--arc-representation" in dtg("inspect", "--help").stdout
    assert dtg("--version").stdout == f"dtg {__version__}\n"


def test_inspect_prints_figure_2a() -> None:
    out = dtg("inspect", *SENTENCE, "--family", "dtg").stdout
    assert "─►┬─┴─ 2 is" in out
    cells = [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in out.splitlines()]
    assert ["i", "Input", "Attn. mask", "Attends to", "Relative", "Prediction"] in cells
    assert ["3", "LEFTARC + is", "COMPOSE", "1 2 3", "-1 0 0", "-"] in cells
    assert ["12", "RIGHTARC2 + <ROOT>", "STACK", "11 12", "0 0", "<END>"] in cells


def test_inspect_json_is_as_documented() -> None:
    found = json.loads(dtg("inspect", *SENTENCE, "--json").stdout)
    assert found["format_version"] == 1
    assert found["family"] == "dtg"
    assert found["words"] == ["There", "is", "a", "difference"]
    assert found["heads"] == [2, 0, 4, 2]
    assert found["actions"][:3] == ["GEN(There)", "GEN(is)", "LEFTARC"]
    assert found["actions"][-1] == "<END>"
    assert found["rows"][0] == {
        "index": 0,
        "reads": ["<ROOT>"],
        "kind": "STACK",
        "attends": [0],
        "relative": [0],
        "predicts": "GEN(There)",
    }
    assert found["rows"][3] == {
        "index": 3,
        "reads": ["LEFTARC", "is"],
        "kind": "COMPOSE",
        "attends": [1, 2, 3],
        "relative": [-1, 0, 0],
        "predicts": None,
    }
    assert found["rows"][4]["reads"] == ["LEFTARC2", "is"]
    assert len(found["rows"]) == 13


def test_inspect_in_pieces_and_ascii() -> None:
    out = dtg("inspect", "Dog|s bark", "--heads", "2 0", "--split-at", "|", "--ascii").stdout
    assert out.isascii()
    assert "GEN(s)" in out
    assert "1 Dogs" in out


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_inspect_draws(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"mask.{suffix}"
    dtg("inspect", *SENTENCE, "--family", "dtg-eager", "--draw", path)
    first = path.read_bytes()
    assert first[:5] in (b"<?xml", b"\x89PNG\r", b"%PDF-")
    assert b"format_version 1" in first or suffix == "pdf"
    dtg("inspect", *SENTENCE, "--family", "dtg-eager", "--draw", path)
    assert path.read_bytes() == first  # the same rows make the same file
    assert list(tmp_path.iterdir()) == [path]


def test_inspect_a_treebank_sentence(treebank: Path) -> None:
    assert "1 There  expl" in dtg("inspect", "--conllu", treebank).stdout
    assert "GEN(b)" in dtg("inspect", "--conllu", treebank, "--sentence", "2", "--roots", "first").stdout
    lifted = dtg("inspect", "--conllu", treebank, "--sentence", "3")
    assert "lifted word 2 (b) from 4 to 3" in lifted.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give a sentence and its heads, or a treebank"),
        (("a b",), "give a sentence and its heads"),
        (("a b", "--heads", "2 x"), "--heads has 'x'"),
        (("a b", "--heads", "2"), "there are 2 words but 1 heads"),
        (("a b", "--heads", "0 0"), "exactly one root word is expected"),
        (("", "--heads", ""), "the sentence is empty"),
        ((*SENTENCE, "--family", "dgt"), "no model family called 'dgt'. Known: dtg, dtg-eager"),
        ((*SENTENCE, "--arc-representation", "head"), "Known: word+arc, arc, word"),
        ((*SENTENCE, "--draw", "mask.jpg"), "must end in one of .svg, .png, .pdf"),
        ((*SENTENCE, "--draw", "nowhere/mask.svg"), "the folder nowhere does not exist"),
        ((*SENTENCE, "--split-at", " "), "needs a mark"),
        ((*SENTENCE, "--conllu", "x"), "give one or the other"),
        (("--conllu", "none.conllu"), "cannot read none.conllu: there is no such file"),
        (("a b c d", "--heads", "3 4 0 3", "--nonprojective", "error"), "crossing arcs"),
    ],
)
def test_mistakes_in_inspect(arguments: tuple[str, ...], message: str) -> None:
    failed = dtg("inspect", *arguments, code=1)
    assert failed.stderr.startswith("dtg: ")
    assert message in failed.stderr
    assert failed.stdout == ""


def test_mistakes_with_a_treebank(treebank: Path) -> None:
    assert (
        "has 3 sentences; number 9 was asked for"
        in dtg("inspect", "--conllu", treebank, "--sentence", "9", code=1).stderr
    )
    several = dtg("inspect", "--conllu", treebank, "--sentence", "2", code=1).stderr
    assert "sentence 2 (line 6): words 1, 2 all have head 0" in several
    assert "--sentence" in dtg("inspect", "--conllu", treebank, "--sentence", "0", code=2).stderr


def test_info(treebank: Path) -> None:
    failed = dtg("info", treebank, code=1)
    assert f"cannot read {treebank}, sentence 2 (line 6)" in failed.stderr
    done = dtg("info", treebank, "--skip-invalid")
    assert done.stdout.startswith("2 sentences, 6 words\n")
    assert "lifted 1 arc in 1 sentence" in done.stderr
    assert "left out 1 sentence." in done.stderr
    assert "sentence 2 (line 6)" in done.stderr
    found = json.loads(dtg("info", treebank, "--roots", "first", "--nonprojective", "skip", "--json").stdout)
    assert found["format_version"] == 1
    assert (found["sentences"], found["several_roots"], found["nonprojective"]) == (2, 1, 1)
    assert found["skipped"][0]["sentence"] == 3
    assert "--nonprojective lift" in dtg("info", treebank, "--roots", "skip", "--nonprojective", "error", code=1).stderr
