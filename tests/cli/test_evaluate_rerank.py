"""`dtg evaluate rerank` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dtg.cli.app import app
from dtg.errors import InputError
from dtg.language_model import LanguageModel
from dtg.model.saving import model_hash
from dtg.parser import BiaffineParser
from dtg.parser.saving import parser_hash
from dtg.tables.formats import read_rows
from dtg.trees import read_conllu
from tests.cli.made import folder_with_models
from tests.cli.running import together
from tests.cli.test_evaluate_parser import GOLD
from tests.cli.test_evaluate_ppl import interrupt
from tests.evaluation.parsing import evaluate_parser

FILES = ("results.json", "results.md", "sentences.csv", "settings.json")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = folder_with_models(tmp_path_factory)
    (folder / "gold.conllu").write_text(GOLD)
    (folder / "long.conllu").write_text(GOLD * 4)
    (folder / "tagged.conllu").write_text(GOLD.replace("PUNCT", "SYM"))
    (folder / "empty.conllu").touch()
    return folder


def command(made: Path, *more: str | Path, gold: str = "gold", model: str = "model") -> list[str]:
    parts = ["evaluate", "rerank", made / f"{gold}.conllu", "--model", made / model, "--parser", made / "parser", *more]
    return [*map(str, parts)]


def run(made: Path, *more: str | Path, gold: str = "gold", model: str = "model") -> None:
    app(command(made, *more, gold=gold, model=model), standalone_mode=False)


def files(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in FILES]


def settings(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "results.json").read_text())["settings"]
    return found


def test_the_command(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(made, "--json")
    found = json.loads(capsys.readouterr().out)
    gold = list(read_conllu(made / "gold.conllu"))
    model, parser = LanguageModel.load(made / "model"), BiaffineParser.load(made / "parser")
    alone = evaluate_parser(parser, gold)
    assert found["all"]["proposal"]["uas"] == alone["all"]["uas"]
    assert found["without_punctuation"]["proposal"]["uas"] == alone["without_punctuation"]["uas"]
    chosen = [model.rerank(tree.words, parser).best().tree for tree in gold]
    right = sum(
        a == b for tree, best in zip(gold, chosen, strict=True) for a, b in zip(tree.key, best.key, strict=True)
    )
    assert found["all"]["reranked"]["uas"] == round(100 * right / 9, 2)
    assert found["all"]["oracle"]["uas"] == 88.89  # all trees are drawn, and gold has an arc that crosses
    assert (found["format_version"], found["kind"], found["trees"]) == (1, "rerank", 61)
    run(made, "--limit", "2", "--trees", "3")
    shown = capsys.readouterr().out
    assert shown.startswith("2 sentences, 2.0 trees per sentence")
    assert (
        "UAS, all words" in shown
        and "exact, no punctuation" in shown
        and "crossing" not in shown
        and "Every sentence" not in shown
    )


def test_a_folder_of_results(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    run(made, "--name", "mine", "--weight", "0.5", "--out", out)
    shown = capsys.readouterr().out
    assert (
        shown.startswith("3 sentences, 20.3 trees per sentence\n\n")
        and "in 1 gold tree.\n\nEvery sentence is in" in shown
    )
    assert shown.endswith(f"Every sentence is in {out}/sentences.csv, and all of this in {out}/results.md.\n")
    content = json.loads((out / "results.json").read_text())
    where = {"model": str(made / "model"), "data": str(made / "gold.conllu"), "proposal": str(made / "parser")}
    assert content["given"] == {**where, "name": "mine"}
    used = settings(out)
    assert used["model_sha256"] == model_hash(made / "model") and used["proposal"] == parser_hash(made / "parser")
    assert (used["trees"], used["seed"], used["weight"], used["family"]) == (300, 0, 0.5, "dtg")
    page = (out / "results.md").read_text()
    assert page.startswith("# Reranking by mine on gold.conllu: 3 sentences") and "| UAS, all words |" in page
    assert "- weight: log q of the proposal counts 0.5 beside log p.\n" in page
    assert f"- trees: up to 300 a sentence from {made / 'parser'}, seed 0.\n" in page
    rows = [row for _, row in read_rows(out / "sentences.csv")]
    assert [row["sent_id"] for row in rows] == [f"gold.conllu:{number}" for number in (1, 2, 3)]
    assert sum(int(row["trees"]) for row in rows) == content["trees"]
    run(made, "--name", "other", "--weight", "0.5", "--out", out, "--json")  # a name decides no numbers
    assert json.loads(capsys.readouterr().out) == json.loads((out / "results.json").read_text())
    run(made, "--out", tmp_path / "tagged", gold="tagged")
    assert settings(tmp_path / "tagged")["data_sha256"] != used["data_sha256"]  # other words are punctuation


def test_an_interrupted_run_goes_on_to_the_same_bytes(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(made, "--out", tmp_path / "whole", gold="long")
    computed = interrupt(monkeypatch, at=10)
    run(made, "--out", tmp_path / "parts", gold="long")
    assert f"{tmp_path / 'parts'} is not finished. The same command resumes it." in capsys.readouterr().err
    assert not (tmp_path / "parts" / "results.json").exists()
    for _ in range(2):  # the second time, nothing is left
        run(made, "--out", tmp_path / "parts", gold="long")
        assert files(tmp_path / "parts") == files(tmp_path / "whole") and len(computed) == 10 + 3
    assert "everything had been computed before" in capsys.readouterr().err
    with pytest.raises(InputError, match=r"other settings\.\nseed is 1, and was 0"):
        run(made, "--out", tmp_path / "parts", "--seed", "1", gold="long")
    with pytest.raises(InputError, match="limit is 3, and was None"):
        run(made, "--out", tmp_path / "parts", "--limit", "3", gold="long")


def test_weight_and_seed_decide_the_trees(made: Path, tmp_path: Path) -> None:
    """The rows are those of the library, sentence by sentence, and other options would give others."""
    run(made, "--trees", "5", "--seed", "3", "--weight", "9", "--out", tmp_path / "out")
    found = [float(row["log_joint"]) for _, row in read_rows(tmp_path / "out" / "sentences.csv")]
    model, parser = LanguageModel.load(made / "model"), BiaffineParser.load(made / "parser")

    def expected(seed: int, weight: float) -> list[float]:
        words = [tree.words for tree in read_conllu(made / "gold.conllu")]
        return [model.rerank(some, parser, 5, seed=seed).best(weight).log_probability for some in words]

    assert found == pytest.approx(expected(3, 9.0), abs=1e-5)
    for other in (expected(0, 9.0), expected(3, 0.0)):
        assert found != pytest.approx(other, abs=1e-5)


@pytest.mark.slow
def test_two_processes_write_the_same_bytes(made: Path, tmp_path: Path) -> None:
    run(made, "--out", tmp_path / "one", gold="long")
    done = together(*command(made, "--out", tmp_path / "two", gold="long"))
    assert [one.returncode for one in done] == [0, 0], done
    assert files(tmp_path / "two") == files(tmp_path / "one")
    assert all((tmp_path / "two" / f"part-{rank}.jsonl").stat().st_size for rank in range(2))


def test_mistakes(made: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"empty\.conllu has no sentences"):
        run(made, gold="empty")
    with pytest.raises(InputError, match="txl-tokens is a model of words without trees"):
        run(made, "--out", tmp_path / "out", model="words")
    assert not (tmp_path / "out").exists()
