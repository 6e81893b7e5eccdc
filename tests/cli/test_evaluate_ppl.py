"""`dtg evaluate ppl` as a user meets it."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import typer

from dtg.cli.commands.evaluation.ppl import evaluate_ppl
from dtg.errors import DtgError
from dtg.language_model import LanguageModel
from dtg.model import DecoderModel
from dtg.scoring import tree_scores
from dtg.trees import DependencyTree, projectivize, read_conllu
from tests.cli.made import folder_with_models
from tests.cli.test_evaluate_parser import GOLD

app = typer.Typer()
app.command()(evaluate_ppl)
FILES = ("results.json", "results.md", "sentences.csv")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = folder_with_models(tmp_path_factory)
    (folder / "gold.conllu").write_text(GOLD)
    (folder / "text.txt").write_text("mice run\n\nthe cat\n")
    (folder / "empty.txt").write_text("\n")
    return folder


def interrupt(monkeypatch: pytest.MonkeyPatch, at: int) -> list[int]:
    """Interrupt the model once, at this call; gives a list that grows by one each time that trees are scored."""
    score, computed = tree_scores.score_trees, list[int]()

    def interrupted(model: DecoderModel, trees: Sequence[DependencyTree], *more: Any) -> list[float]:
        computed.append(len(trees))
        if len(computed) == at:
            raise KeyboardInterrupt
        return score(model, trees, *more)

    monkeypatch.setattr(tree_scores, "score_trees", interrupted)
    return computed


def ppl(made: Path, *options: str | Path, model: str = "model") -> None:
    app(["--model", str(made / model), "--beam", "20", *map(str, options)], standalone_mode=False)


def results(out: Path) -> tuple[dict[str, Any], list[dict[str, str]]]:
    with (out / "sentences.csv").open(encoding="utf-8", newline="") as file:
        return json.loads((out / "results.json").read_text()), list(csv.DictReader(file))


def test_a_treebank_with_a_parser(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ppl(made, "--conllu", made / "gold.conllu", "--parser", made / "parser", "--out", tmp_path / "out")
    printed = capsys.readouterr()
    assert "Perplexity of model on gold.conllu: 3 sentences, 9 words" in printed.out
    assert "lifted 1 crossing arc in 1 sentence.\ntrees: up to 300 a sentence from " in printed.out
    assert "search: beam 20, word beam 6.\n" in printed.out and "left out" not in printed.out
    assert "3 sentences in" in printed.err
    content, rows = results(tmp_path / "out")
    trees = [projectivize(tree).tree for tree in read_conllu(made / "gold.conllu")]
    joint = LanguageModel.load(made / "model").score(trees)
    assert [float(row["log_joint"]) for row in rows] == pytest.approx(joint, abs=1e-5)
    assert [row["sent_id"] for row in rows] == [f"gold.conllu:{number}" for number in (1, 2, 3)]
    assert [row["proposal_trees"] for row in rows] == ["30", "1", "30"]  # all there are: fewer than 300
    found = content["perplexities"]
    assert list(found) == ["joint", "proposal", "estimate", "beam"]
    assert found["joint"]["per_word_and_end"]["value"] == pytest.approx(math.exp(-sum(joint) / 12), rel=1e-5)
    assert found["joint"]["per_word"]["value"] > found["proposal"]["per_word"]["value"]
    assert found["estimate"]["exact_sentences"] == 3
    assert (content["kind"], content["format_version"], content["seconds"]) == ("ppl", 1, None)
    assert (content["given"]["name"], content["lifted_arcs"], content["words"]) == ("model", 1, 9)
    assert content["settings"]["by"] == list(found) and content["settings"]["trees"] == 300
    assert content["settings"]["beam"] == 20
    page = (tmp_path / "out" / "results.md").read_text()
    assert page.startswith("# Perplexity of model on gold.conllu") and "| proposal | ≤ |" in page


def test_an_interrupted_run_goes_on_to_the_same_bytes(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dtg.evaluation.tasks.perplexity.GROUP", 1)
    options: list[str | Path] = ["--conllu", made / "gold.conllu", "--parser", made / "parser", "--trees", "5"]
    options += ["--by", "joint,proposal,estimate,beam", "--out"]
    ppl(made, *options, tmp_path / "whole")
    with monkeypatch.context() as patch:
        computed = interrupt(patch, at=4)  # the proposal's trees of the second sentence
        ppl(made, *options, tmp_path / "parts")
        assert f"{tmp_path / 'parts'} is not finished. The same command resumes it." in capsys.readouterr().err
        assert not (tmp_path / "parts" / "results.json").exists()
        ppl(made, *options, tmp_path / "parts")
        assert len(computed) == 8  # two for each sentence; those of the second again
    for name in FILES:
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "parts" / name).read_bytes()
    capsys.readouterr()
    ppl(made, *options, tmp_path / "parts")
    assert "everything had been computed before" in capsys.readouterr().err
    with pytest.raises(DtgError, match=r"other settings\.\nseed is 1, and was 0"):
        ppl(made, *options, tmp_path / "parts", "--seed", "1")


def test_a_text_by_beam(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ppl(made, "--text", made / "text.txt", "--tokenized", "--by", "beam", "--name", "mine", "--out", tmp_path / "out")
    printed = capsys.readouterr()
    assert "Perplexity of mine on text.txt: 2 sentences, 4 words" in printed.out
    assert "search: beam 20, word beam 6.\nleft out: joint (plain text has no trees).\n" in printed.out
    assert "\nleft out: proposal, estimate (not asked for).\n" in printed.out
    assert "1 empty line" in printed.err
    content, rows = results(tmp_path / "out")
    assert [row["sentence_id"] for row in rows] == ["1", "3"] and "sent_id" not in rows[0]
    assert list(content["perplexities"]) == ["beam"]
    model = LanguageModel.load(made / "model")
    exact = [model.marginal(words, "exact").log_probability for words in (("mice", "run"), ("the", "cat"))]
    assert [float(row["log_beam"]) for row in rows] == pytest.approx(exact, abs=1e-5)
    assert content["perplexities"]["beam"]["per_word_without_end"]["value"] > 1


def test_a_model_without_trees(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ppl(made, "--conllu", made / "gold.conllu", "--limit", "2", "--out", tmp_path / "out", model="words")
    printed = capsys.readouterr().out
    assert "sentences: the first 2 of the file." in printed and "left out" not in printed
    content, rows = results(tmp_path / "out")
    assert list(content["perplexities"]) == ["exact"] and len(rows) == 2
    assert not any("joint" in name or "beam" in name or "proposal" in name for name in rows[0])
    assert content["perplexities"]["exact"]["kind"] == "exact"
    ppl(made, "--conllu", made / "gold.conllu", "--parser", made / "parser", "--sample", "1", model="words")
    printed = capsys.readouterr().out
    assert (
        "sentences: a sample of 1, seed 0.\nleft out: joint, proposal, estimate, beam (the model has no trees)."
        in printed
    )


def test_two_models_are_compared_sentence_by_sentence(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options: list[str | Path] = ["--conllu", made / "gold.conllu", "--by", "joint,beam"]
    ppl(made, *options, "--out", tmp_path / "trees")
    ppl(
        made,
        "--conllu",
        made / "gold.conllu",
        "--against",
        tmp_path / "trees",
        "--out",
        tmp_path / "out",
        model="words",
    )
    content, rows = results(tmp_path / "out")
    (_, theirs), [found] = results(tmp_path / "trees"), content["compared"]["differences"]
    bits = [(float(b["log_beam"]) - float(a["log_exact"])) / math.log(2) for a, b in zip(rows, theirs, strict=True)]
    assert (found["first_by"], found["second_by"], found["sentences"], found["words"]) == ("exact", "beam", 3, 9)
    assert found["bits_per_word"]["value"] == pytest.approx(sum(bits) / 9)
    assert found["bits_per_word"]["low"] <= sum(bits) / 9 <= found["bits_per_word"]["high"]
    line = f"words − model, by exact and beam: {sum(bits) / 9:+.3f} ["
    better = f"] bits per word; better on {sum(bit < 0 for bit in bits)} of 3 sentences."
    assert line in capsys.readouterr().out and better in (tmp_path / "out" / "results.md").read_text()
    ppl(made, *options, "--against", tmp_path / "trees", "--out", tmp_path / "same")
    same = results(tmp_path / "same")[0]["compared"]
    assert same["with"] == "model (trees)" and [one["first_by"] for one in same["differences"]] == ["joint", "beam"]
    assert all(one["bits_per_word"] == {"value": 0, "low": 0, "high": 0} for one in same["differences"])
    assert all(one["better"] == 0 for one in same["differences"])
    with pytest.raises(DtgError, match=r"of 2 and of 3 sentences. Models are compared on the same sentences"):
        ppl(made, *options, "--limit", "2", "--against", tmp_path / "trees")
    with pytest.raises(DtgError, match=r"different sentences: 1 \('mice run'\) and "):
        (made / "other.txt").write_text("mice run\nthe cat\na\n")
        ppl(made, "--text", made / "other.txt", "--tokenized", "--by", "beam", "--against", tmp_path / "trees")
    with pytest.raises(DtgError, match="there are no results in"):
        ppl(made, *options, "--against", tmp_path)


def test_models_with_no_kind_in_common_are_not_compared(made: Path, tmp_path: Path) -> None:
    gold: list[str | Path] = ["--conllu", made / "gold.conllu"]
    ppl(made, *gold, "--out", tmp_path / "words", model="words")
    with pytest.raises(DtgError, match="one has log p by joint and the other by exact, which do not compare"):
        ppl(made, *gold, "--by", "joint", "--against", tmp_path / "words", "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()  # said before anything is computed
    ppl(made, *gold, "--by", "joint,beam", "--against", tmp_path / "words", "--out", tmp_path / "out")
    assert [one["first_by"] for one in results(tmp_path / "out")[0]["compared"]["differences"]] == ["beam"]


def test_trees_of_a_file_give_no_estimate(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options: list[str | Path] = ["--conllu", made / "gold.conllu", "--parser", made / "gold.conllu"]
    ppl(made, *options)
    printed = capsys.readouterr().out
    assert "left out: estimate (not possible with these trees: their log q is not known)." in printed
    assert "\nproposal  ≤" in printed and "\nestimate" not in printed
    with pytest.raises(DtgError, match="no estimate can be made from the trees of this proposal: their log q"):
        ppl(made, *options, "--by", "proposal,estimate")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "give a treebank with --conllu FILE or sentences with --text FILE, and not both"),
        (("--conllu", "gold.conllu", "--text", "text.txt"), "and not both"),
        (("--conllu", "gold.conllu", "--tokenized"), "--tokenized is about plain text"),
        (("--conllu", "none.conllu"), "cannot read .*none.conllu"),
        (("--text", "none.txt"), "cannot read .*none.txt: there is no such file"),
        (("--text", "empty.txt"), r"empty.txt has no sentences"),
        (("--conllu", "gold.conllu", "--sample", "4"), "a sample of 4 sentences is asked for, but there are 3"),
        (("--conllu", "gold.conllu", "--by", "joint,guess"), "no choice for log p by called 'guess'. Known: joint, proposal"),
        (("--conllu", "gold.conllu", "--by", ","), "no kind of probability is named"),
        (("--text", "text.txt", "--tokenized", "--by", "joint"), "joint needs trees, and plain text has none"),
        (("--conllu", "gold.conllu", "--by", "beam", "--parser", "parser"), "which log p by beam does not use"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked(made: Path, options: Sequence[str], message: str) -> None:
    files = [str(made / option) if (made / option).exists() or "." in option else option for option in options]
    with pytest.raises(DtgError, match=message):
        ppl(made, *files)
