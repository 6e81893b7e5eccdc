"""`dtg generate`: CoNLL-U that reads back, plain text where there are no trees, and mistakes answered."""

from __future__ import annotations

from pathlib import Path

import pytest

import dtg
from tests.cli.running import dtg as run
from tests.search.test_generation import model_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model")
    model_of("dtg").decoder_model.float().save(path)
    return path


def test_conllu_that_reads_back(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "made.conllu"
    run("generate", "--model", folder, "--count", "7", "--max-words", "8", "--seed", "3", "--out", out)
    trees = list(dtg.read_conllu(out))
    assert len(trees) == 7
    assert all(tree.is_projective and len(tree) <= 8 for tree in trees)
    assert trees[0].source is not None
    text, log_probability = trees[0].source.comments[:2]
    assert text == f"# text = {' '.join(trees[0].words)}"
    assert float(log_probability.removeprefix("# log_probability = ")) < 0.0
    printed = run("generate", "--model", folder, "-n", "7", "--max-words", "8", "--seed", "3").stdout
    assert printed == out.read_text()
    assert "made.conllu exists. Pass --overwrite" in run("generate", "--model", folder, "--out", out, code=1).stderr


def test_prompt_and_drawing(folder: Path) -> None:
    drawn = run("generate", "--model", folder, "--prompt", "the dog", "--max-words", "2", "--draw").stdout
    assert "1 the" in drawn
    assert "2 dog" in drawn
    assert "►" in drawn


def test_models_without_trees_give_text(tmp_path: Path) -> None:
    model_of("txl-tokens").decoder_model.float().save(tmp_path)
    lines = run("generate", "--model", tmp_path, "--count", "3", "--max-words", "4").stdout.splitlines()
    assert [len(line.split()) <= 4 for line in lines] == [True] * 3


def test_mistakes_are_answered(folder: Path) -> None:
    assert "top_p is 2.0" in run("generate", "--model", folder, "--top-p", "2", code=1).stderr
    told = run("generate", "--model", folder, "--prompt", "the dog barks", "--max-words", "1", code=1).stderr
    assert "no less than the prompt's 3" in told
