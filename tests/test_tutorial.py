"""What the tutorial and the guides show is what happens: their commands and code are run, page by page, in order."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.documents import ROOT, blocks, commands, run, script_of, write_treebank

DOCS = ROOT / "docs"


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    """What the guide's reader has."""
    write_treebank(tmp_path)
    (tmp_path / "my.toml").write_text(
        next(content for language, content in blocks(DOCS / "own_treebank.md") if language == "toml")
    )
    return tmp_path


def test_tutorial_and_what_else_uses_the_box(tmp_path: Path) -> None:
    script = tmp_path / "tutorial.py"
    others = [*blocks(DOCS / "index.md"), *blocks(DOCS / "how_it_works.md")]
    shown = [content for language, content in others if language == "python"]
    script.write_text("\n".join([script_of(DOCS / "tutorial.md"), *shown]), encoding="utf-8")
    printed = run(script)
    for expected in ("cabinet", "log p(x) =", "log p(x) ≥", "dtg-small: are", "txl-small: are"):
        assert expected in printed
    made = {"keys.svg", "items.csv", "items.csv.meta.json", "made_up.conllu", "agreement_near.json", "results"}
    assert made <= {path.name for path in tmp_path.iterdir()}


def test_own_treebank_and_own_family(treebank: Path) -> None:
    """The second guide trains a family of its own on what the first has prepared."""
    script = treebank / "own_treebank.py"
    script.write_text(script_of(DOCS / "own_treebank.md"), encoding="utf-8")
    run(script)
    assert (treebank / "run" / "best" / "model.safetensors").exists()

    page = blocks(DOCS / "adding_a_family.md")
    family = treebank / "my_family.py"
    family.write_text("\n".join(content for language, content in page if language == "python"), encoding="utf-8")
    shown = "".join(content for language, content in page if language == "text")
    for line in (line for language, content in page if language == "console" for line in commands(content)):
        python, name, *arguments = shlex.split(line)
        assert (python, name) == ("python", family.name)
        printed = run(family, *arguments)
        assert printed.startswith(shown) and len(printed) > len(shown)
    assert (treebank / "run-window" / "best" / "model.safetensors").exists()
