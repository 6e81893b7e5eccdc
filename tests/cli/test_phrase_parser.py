"""A constituency parser on the command line: trained, evaluated, asked for trees, and as the proposal of models of phrases."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import dtg as library
from dtg.cli.app import app
from dtg.errors import InputError
from dtg.evaluation.report.gathering import Findings, look_at
from dtg.evaluation.tasks.phrase_parsing import PhraseParsing
from dtg.language_model import LanguageModel
from dtg.model import DecoderModel, ModelConfig
from dtg.parser import SpanParser
from dtg.proposals.projected import ProjectedProposal
from dtg.text import Corpus
from dtg.trees import ConstituencyTree, read_brackets, read_conllu, write_brackets, write_conllu
from tests.cli.running import dtg
from tests.parser.parsers import SPAN_SIZES, TABLE, phrase_corpus, small_parser, small_span_parser, some_trees
from tests.scoring.test_marginal import tokenizer
from tests.text.test_phrases_corpus import LABELS, random_phrases

FAMILIES = ("tg", "plm", "plm-mask", "pushdown")
WORDS = ("the", "dog", "sees", "a", "cat")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Treebanks, a constituency parser, a dependency parser, and a language model of each family of phrases."""
    folder, numbers = tmp_path_factory.mktemp("made"), random.Random(5)
    trees = [random_phrases(numbers, 5) for _ in range(45)]
    write_brackets(trees, folder / "train.mrg")
    write_brackets(trees[:6], folder / "dev.mrg")
    write_conllu(some_trees(5), folder / "dev.conllu")
    small_span_parser(phrase_corpus(trees)).save(folder / "phrases")
    small_parser().save(folder / "parser")
    for family in (*FAMILIES, "dtg"):
        model_of(family).save(folder / family)
    return folder


def model_of(family: str) -> DecoderModel:
    labels: dict[str, Any] = {"labels": tuple(sorted(LABELS))} if family in FAMILIES[:3] else {}
    sizes: dict[str, Any] = {"layers": 1, "width": 8, "attention_heads": 4, "head_width": 2, "feedforward": 10}
    config = ModelConfig(family=family, vocabulary=tokenizer().size, **sizes, **labels)
    return DecoderModel.create(config, tokenizer(), seed=0)


def run(*arguments: object) -> None:
    app([*map(str, arguments)], standalone_mode=False)


def test_a_parser_is_trained_suspended_and_resumed(made: Path, tmp_path: Path) -> None:
    config = tmp_path / "small.toml"
    tables = {"model": {**SPAN_SIZES, "kind": '"constituency"'}, "training": {**TABLE, "epochs": 1}}
    config.write_text(
        "\n".join(
            f"[{name}]\n" + "\n".join(f"{key} = {value}" for key, value in table.items())
            for name, table in tables.items()
        )
    )
    options: list[str | Path] = [
        "train-parser",
        "--kind",
        "constituency",
        made / "train.mrg",
        "--out",
        tmp_path / "run",
    ]
    options += ["--config", config, "--threads", "1"]
    done = dtg(*options, "--max-minutes", "0")
    assert "suspended after step 1 of 11. The same command with --resume resumes it." in done.stdout
    assert "labels, unary chains counted as one." in done.stderr and "2 are kept for dev" in done.stderr
    assert "finished after step 11" in dtg(*options, "--resume").stdout
    assert library.load_parser(tmp_path / "run" / "best").kind == "constituency"
    no = ["--out", tmp_path / "no"]
    with pytest.raises(
        InputError, match=r"--kind says constituency, but the treebanks are read as dependencies \(CoNLL-U\)"
    ):
        run("train-parser", "--kind", "constituency", made / "dev.conllu", *no)
    with pytest.raises(InputError, match="the configuration says constituency, but"):
        run("train-parser", made / "dev.conllu", "--config", config, *no)


def test_a_parser_is_evaluated(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [made / "dev.mrg", made / "train.mrg"]
    run("evaluate", "parser", *files, "--parser", made / "phrases", "--nbest", "3", "--out", tmp_path / "one")
    shown = capsys.readouterr().out
    assert "unlabelled F1" in shown and "best of 3" in shown and "as EVALB counts them" in shown
    content = json.loads((tmp_path / "one" / "results.json").read_text())
    findings = Findings()
    look_at(tmp_path / "one" / "results.json", 0, findings)
    assert [found.kind for found in findings.results] == ["parser-phrases"] and not findings.notes
    parser = library.load_parser(made / "phrases")
    task = PhraseParsing.of(files, nbest=3)
    rows = [row for items in task.items() for row in task.measure(parser, items)]
    gold, found, matched = (sum(row[name] for row in rows) for name in ("gold", "found", "matched"))
    assert content["kind"] == "parser-phrases" and content["all"]["sentences"] == 51
    assert content["all"]["f1"] == round(200 * matched / (gold + found), 2)
    run("evaluate", "parser", *files, "--parser", made / "phrases", "--nbest", "3", "--against", tmp_path / "one")
    assert "+0.00 [+0.00, +0.00] points of F1" in capsys.readouterr().out
    run("evaluate", "parser", made / "dev.mrg", "--parser", made / "phrases", "--json")
    assert json.loads(capsys.readouterr().out)["all"]["sentences"] == 6
    found_again = library.evaluate(made / "phrases", "parser", files[0], progress=False)
    assert {metric.name for metric in found_again.metrics} >= {"f1", "precision", "recall", "exact"}
    with pytest.raises(InputError, match="holds phrases, and the parser gives dependencies"):
        run("evaluate", "parser", made / "dev.mrg", "--parser", made / "parser")
    with pytest.raises(InputError, match="holds dependencies, and the parser gives phrases"):
        run("evaluate", "parser", made / "dev.conllu", "--parser", made / "phrases")


def test_text_becomes_brackets(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, out = tmp_path / "text.txt", tmp_path / "trees.ptb"
    text.write_text("The dog barks.\n\nIt's 5 (five) o'clock\nOne\n")
    run("parse", text, "--kind", "constituency", "--parser", made / "phrases", "--nbest", "2", "--out", out)
    trees = list(read_brackets(out))
    parser = library.load_parser(made / "phrases")
    assert isinstance(parser, SpanParser)
    expected = [one.tree for words in dict.fromkeys(t.words for t in trees) for one in parser.k_best(words, 2)]
    assert trees == expected and trees[2].words[3:6] == ("(", "five", ")")
    run("parse", "a b c", "--parser", made / "phrases", "--draw")
    assert "p = " in capsys.readouterr().out
    run("parse", made / "dev.mrg", "--parser", made / "phrases", "--out", tmp_path / "again.ptb")
    words = [tree.words for tree in read_brackets(made / "dev.mrg")]
    assert [tree.words for tree in read_brackets(tmp_path / "again.ptb")] == words
    for name, parser_name, kind, message in (
        ("a.conllu", "phrases", "constituency", "written in brackets"),
        ("a.ptb", "parser", "dependency", "Call it .conllu"),
        ("a.ptb", "parser", "constituency", "but the parser gives dependency trees"),
    ):
        with pytest.raises(InputError, match=message):
            run("parse", "a b", "--parser", made / parser_name, "--kind", kind, "--out", tmp_path / name)


def test_text_becomes_a_corpus_of_phrases(made: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("".join(f"{' '.join(tree.words)}\n" for tree in read_brackets(made / "train.mrg")))
    options = ["--parser", made / "phrases", "--tokenized", "--vocabulary", "300"]
    run("prepare", "--text", text, *options, "--out", tmp_path / "corpus")
    corpus = Corpus.open(tmp_path / "corpus")
    assert corpus.manifest["trees"] == "constituency"
    assert corpus.manifest["splits"]["train"]["counts"]["sentences"] == 43
    parsed = list(read_brackets(tmp_path / "corpus.parsed" / "train.ptb"))
    parser = library.load_parser(made / "phrases")
    assert [tree.nodes for tree in parsed] == [
        one.tree.nodes for one in parser.parse_all(tree.words for tree in parsed)
    ]
    run(
        "prepare",
        "--text",
        text,
        *options,
        "--train",
        made / "dev.mrg",
        "--dev",
        made / "dev.mrg",
        "--out",
        tmp_path / "both",
    )
    assert Corpus.open(tmp_path / "both").manifest["splits"]["train"]["counts"]["sentences"] == 45 + 6
    with pytest.raises(InputError, match="gets phrases from a parser, and the treebanks are dependencies"):
        run("prepare", "--text", text, *options, "--dev", made / "dev.conllu", "--out", tmp_path / "mixed")


@pytest.mark.parametrize("family", FAMILIES)
def test_a_parser_proposes_to_a_model_of_phrases(
    made: Path, tmp_path: Path, family: str, capsys: pytest.CaptureFixture[str]
) -> None:
    model, parser = library.load(made / family), library.load_parser(made / "phrases")
    marginal = model.marginal(WORDS, proposal=parser, trees=40)
    assert marginal.trees > 1 and marginal.log_probability < 0
    run(
        "rerank",
        " ".join(WORDS),
        "--tokenized",
        "--model",
        made / family,
        "--parser",
        made / "phrases",
        "--trees",
        "40",
    )
    (tmp_path / "best.ptb").write_text(capsys.readouterr().out)
    [best] = read_brackets(tmp_path / "best.ptb")
    tree = model.rerank(WORDS, parser, 40).trees[0].tree
    assert best == (tree if isinstance(tree, ConstituencyTree) else ConstituencyTree.from_binary(tree))

    common = ["--model", made / family, "--parser", made / "phrases", "--trees", "20"]
    run("evaluate", "rerank", made / "dev.mrg", *common, "--out", tmp_path / "out")
    shown = capsys.readouterr().out
    assert "F1" in shown and ("binary trees without labels" in shown) == (family == "pushdown")
    content = json.loads((tmp_path / "out" / "results.json").read_text())
    assert content["kind"] == "rerank-phrases"
    one = content["all"]
    assert one["oracle"]["f1"] >= max(one["reranked"]["f1"], 0)
    assert one["difference"]["f1"]["value"] == pytest.approx(one["reranked"]["f1"] - one["proposal"]["f1"], abs=0.02)
    if family != "pushdown":  # the proposal's own tree is what dtg evaluate parser looks at
        alone = library.evaluate(made / "phrases", "parser", made / "dev.mrg", progress=False, nbest=1)
        assert one["proposal"]["f1"] == alone.content["all"]["f1"]
    again = library.evaluate(made / family, "rerank", made / "dev.mrg", proposal=parser, trees=20, progress=False)
    assert again.content["all"] == one


def test_projected_dependencies_are_measured_as_dependencies(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = ModelConfig(
        family="tg", vocabulary=tokenizer().size, layers=1, width=8, attention_heads=4, head_width=2, feedforward=10,
        labels=tuple(map(str, range(6))),
    )  # fmt: skip
    model = LanguageModel(DecoderModel.create(config, tokenizer(), seed=0))
    gold, parser = list(read_conllu(made / "dev.conllu")), library.load_parser(made / "parser")
    found = library.evaluate(
        model, "rerank", made / "dev.conllu", proposal=made / "parser", project="head", trees=20, progress=False
    )
    chosen = [model.rerank(tree.words, ProjectedProposal(parser, "head"), 20).trees[0].tree for tree in gold]
    pairs = [
        pair for a, b in zip(gold, chosen, strict=True) for pair in zip(a.heads, b.to_dependencies().heads, strict=True)
    ]
    assert found.content["all"]["reranked"]["uas"] == round(100 * sum(a == b for a, b in pairs) / len(pairs), 2)
    alone = library.evaluate(parser, "parser", made / "dev.conllu", progress=False)
    assert found.content["all"]["proposal"]["uas"] == alone.content["all"]["uas"]
    dependencies = ["evaluate", "rerank", made / "dev.conllu", "--parser", made / "parser"]
    with pytest.raises(InputError, match="do not say which dependencies they are"):
        run(*dependencies, "--project", "upos", "--model", made / "tg")
    with pytest.raises(InputError, match="is a model of constituency trees, and here it is given dependency trees"):
        run(*dependencies, "--model", made / "tg")
    with pytest.raises(InputError, match="is a model of binary trees"):
        run(*dependencies, "--project", "head", "--model", made / "pushdown")
    with pytest.raises(InputError, match="trees in brackets are phrases already"):
        run("evaluate", "rerank", made / "dev.mrg", "--project", "head", "--model", made / "tg")


def test_what_does_not_fit_is_named(made: Path) -> None:
    phrases = ["--parser", made / "phrases"]
    with pytest.raises(InputError, match=r"is a model of phrases, and .*gives dependencies"):
        run("rerank", "a b", "--model", made / "tg", "--parser", made / "parser")
    with pytest.raises(InputError, match="dependenc"):
        run("rerank", "a b", "--model", made / "dtg", *phrases)
    with pytest.raises(InputError, match=r"holds phrases, and .* is a model of dependencies"):
        run("evaluate", "rerank", made / "dev.mrg", "--model", made / "dtg", *phrases)
    with pytest.raises(InputError, match="Say who proposes phrases"):
        run("evaluate", "rerank", made / "dev.mrg", "--model", made / "tg")
