"""`dtg rerank` as a user meets it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import pytest

from dtg.cli.app import app
from dtg.errors import InputError
from dtg.language_model import LanguageModel
from dtg.parser import BiaffineParser
from dtg.scoring import marginals, reranking
from dtg.scoring.reranking import Reranking
from dtg.trees import DependencyTree, read_conllu, write_conllu
from dtg.trees.enumeration import enumerate_projective
from dtg.trees.kinds import Tree
from tests.cli.made import folder_with_models

TEXT = "the dog chased a big cat\n\nmice run\nthe cat\n"
SENTENCES = [("the", "dog", "chased", "a", "big", "cat"), ("mice", "run"), ("the", "cat")]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a language model, a parser and a text."""
    folder = folder_with_models(tmp_path_factory)
    (folder / "text.txt").write_text(TEXT)
    return folder


def rerank(made: Path, source: str | Path, *more: str | Path, model: str = "model", parser: str = "parser") -> None:
    options = ["--model", made / model, "--parser", made / parser, "--tokenized", "--trees", "25"]
    if str(source).endswith(".conllu"):
        options.remove("--tokenized")
    app(["rerank", *map(str, [source, *options, *more])], standalone_mode=False)


def comments(tree: DependencyTree) -> dict[str, str]:
    assert tree.source is not None
    return dict(line.removeprefix("# ").split(" = ", 1) for line in tree.source.comments)


def expected(made: Path, seed: int = 0) -> list[Reranking]:
    model, parser = LanguageModel.load(made / "model"), BiaffineParser.load(made / "parser")
    return [model.rerank(words, parser, trees=25, seed=seed) for words in SENTENCES]


def interrupt(monkeypatch: pytest.MonkeyPatch, at: int) -> list[int]:
    """Interrupt the model once, at this sentence; gives a list that grows by one for each sentence it looks at."""
    score, computed = marginals.score_distinct, list[int]()

    def interrupted(model: Any, trees: Sequence[Tree], *more: Any) -> dict[Hashable, float]:
        computed.append(len(trees))
        if len(computed) == at:
            raise KeyboardInterrupt
        return score(model, trees, *more)

    monkeypatch.setattr(reranking, "score_distinct", interrupted)
    return computed


def test_the_best_trees_of_a_text(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "trees.conllu"
    rerank(made, made / "text.txt", "--out", out)
    errors = capsys.readouterr().err
    assert "trees.conllu has 3 trees of 3 sentences" in errors and "1 empty line" in errors
    trees = list(read_conllu(out))
    assert [tree.words for tree in trees] == SENTENCES
    assert [comments(tree)["sent_id"] for tree in trees] == ["1", "3", "4"]
    assert [comments(tree)["trees"] for tree in trees] == ["25", "2", "2"]
    for tree, found in zip(trees, expected(made), strict=True):
        best, said = found.best(), comments(tree)
        assert tree == best.tree and tree.labels is not None
        assert float(said["log_joint"]) == pytest.approx(best.log_probability, abs=1e-5)
        assert float(said["log_bound"]) == pytest.approx(found.lower_bound, abs=1e-5)
        assert float(said["posterior"]) == pytest.approx(found.share(best), rel=1e-4)
        assert int(said["proposal_rank"]) == best.proposal_rank
        assert best.log_q is not None and float(said["proposal_log_prob"]) == pytest.approx(best.log_q, abs=1e-5)


def test_a_treebank_keeps_what_it_has_and_old_numbers_go(
    made: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    rerank(made, made / "text.txt", "--out", tmp_path / "first.conllu")
    text = (tmp_path / "first.conllu").read_text()
    text = text.replace("# sent_id = 3\n", "# sent_id = mine\n# speaker = A\n").replace(
        "3\tchased\t_", "3\tchased\tchase"
    )
    (tmp_path / "given.conllu").write_text(text)
    rerank(made, tmp_path / "given.conllu", "--out", tmp_path / "again.conllu", "--seed", "1")
    trees = list(read_conllu(tmp_path / "again.conllu"))
    assert [tree.key for tree in trees] == [found.best().tree.key for found in expected(made, seed=1)]
    assert list(comments(trees[1]))[:3] == ["sent_id", "speaker", "text"]
    assert all(sum("log_joint" in line for line in tree.source.comments) == 1 for tree in trees if tree.source)
    assert trees[0].source is not None and trees[0].source.columns[2][2] == "chase"
    capfdbinary.readouterr()
    rerank(made, tmp_path / "given.conllu", "--seed", "1")
    assert capfdbinary.readouterr().out == (tmp_path / "again.conllu").read_bytes()


def test_a_weight_of_the_proposal(made: Path, tmp_path: Path) -> None:
    rerank(made, made / "text.txt", "--weight", "1000", "--out", tmp_path / "trees.conllu")
    assert {comments(tree)["proposal_rank"] for tree in read_conllu(tmp_path / "trees.conllu")} == {"1"}


def test_trees_from_a_file(made: Path, tmp_path: Path) -> None:
    every = [DependencyTree(words, heads) for words in SENTENCES[1:] for heads in enumerate_projective(2)]
    write_conllu(every, tmp_path / "trees.conllu")
    (tmp_path / "text.txt").write_text("mice run\nthe cat\n")
    rerank(made, tmp_path / "text.txt", "--out", tmp_path / "best.conllu", parser=str(tmp_path / "trees.conllu"))
    model = LanguageModel.load(made / "model")
    for tree, found in zip(read_conllu(tmp_path / "best.conllu"), expected(made)[1:], strict=True):
        assert tree.key == found.best().tree.key and "proposal_log_prob" not in comments(tree)
        assert float(comments(tree)["log_joint"]) == pytest.approx(model.score([tree])[0], abs=1e-5)
    with pytest.raises(InputError, match="weight"):
        rerank(made, tmp_path / "text.txt", "--weight", "1", parser=str(tmp_path / "trees.conllu"))


def test_an_interrupted_run_goes_on_to_the_same_bytes(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text.txt").write_text("mice run\nthe cat\na dog\n" * 7)
    rerank(made, tmp_path / "text.txt", "--out", tmp_path / "whole.conllu")
    computed = interrupt(monkeypatch, at=12)
    parts = tmp_path / "parts.conllu"
    rerank(made, tmp_path / "text.txt", "--out", parts)
    assert "parts.conllu is not finished. The same command with --resume resumes it." in capsys.readouterr().err
    assert len(list(read_conllu(parts))) == 11
    rerank(made, tmp_path / "text.txt", "--out", parts, "--resume")
    assert parts.read_bytes() == (tmp_path / "whole.conllu").read_bytes()
    assert len(computed) == 12 + 13  # 8 of 21 were safe
    with pytest.raises(InputError, match="seed is 3, and was 0"):
        rerank(made, tmp_path / "text.txt", "--out", parts, "--resume", "--seed", "3")
    with pytest.raises(InputError, match="proposal is '"):
        rerank(made, tmp_path / "text.txt", "--out", parts, "--resume", parser=str(tmp_path / "whole.conllu"))


def test_mistakes(made: Path, tmp_path: Path) -> None:
    text = made / "text.txt"
    with pytest.raises(InputError, match="txl-tokens is a model of words without trees"):
        rerank(made, text, model="words")
    with pytest.raises(InputError, match=r"the words of a\.conllu are split already"):
        app(["rerank", "a.conllu", "--tokenized", "--model", str(made / "model")], standalone_mode=False)
    with pytest.raises(InputError, match="name it with --out FILE"):
        rerank(made, text, "--resume")
    (tmp_path / "there.conllu").touch()
    with pytest.raises(InputError, match=r"exists\. Pass --resume"):
        rerank(made, text, "--out", tmp_path / "there.conllu")
