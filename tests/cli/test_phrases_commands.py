"""Phrases on the command line: a treebank in brackets becomes a model in two commands, which is then asked everything."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import pytest

import dtg as library
from dtg.trees import ConstituencyTree, read_brackets, write_brackets, write_conllu
from tests.cli.running import dtg
from tests.text.test_phrases_corpus import random_phrases
from tests.text.treebanks import write_treebank

CONFIG = """
[model]
family = "tg"
layers = 1
width = 16
attention_heads = 4
head_width = 4
feedforward = 16

[training]
batch_sentences = 10
epochs = 1
peak_rate = 1e-2
warmup_share = 0.1
log_every = 1
checkpoint_every = 3
"""
FAMILIES = ("tg", "plm", "plm-mask", "pushdown")
DOG = "(S (NP The dog) (VP barks))"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Treebanks and a corpus of each kind of tree."""
    folder, generator = tmp_path_factory.mktemp("phrases"), random.Random(5)
    for name, count in (("train", 40), ("dev", 10)):
        write_brackets((random_phrases(generator, 6) for _ in range(count)), folder / f"{name}.mrg")
        write_treebank(folder / f"{name}.conllu", count)
    (folder / "small.toml").write_text(CONFIG)
    done = dtg("prepare", "--train", folder / "train.mrg", "--dev", folder / "dev.mrg", *out(folder, "corpus"))
    assert "labels 4: " in done.stdout and "40 sentences without tags" in done.stderr
    files = ("--train", folder / "train.conllu", "--dev", folder / "dev.conllu")
    dtg("prepare", *files, *out(folder, "dependencies"))
    dtg("prepare", *files, "--project", "head", *out(folder, "projected"))
    return folder


def out(folder: Path, name: str) -> tuple[str, Path, str, str]:
    return "--out", folder / name, "--vocabulary", "320"


@pytest.fixture(scope="module", params=FAMILIES)
def run(request: pytest.FixtureRequest, folder: Path) -> Path:
    """A trained model of each family."""
    return train(folder, request.param)


def train(folder: Path, family: str, corpus: str = "corpus") -> Path:
    run = folder / f"run-{family}-{corpus}"
    dtg("train", folder / "small.toml", "--data", folder / corpus, "--out", run, "--set", f"model.family={family}")
    return run / "best"


def test_trained_models_are_asked(run: Path, folder: Path, tmp_path: Path) -> None:
    model, family = ("--model", run), json.loads((run / "config.json").read_text())["model"]["family"]
    loaded = library.load(run)
    assert bool(loaded.config.labels) == (family != "pushdown")

    dtg("score", "--brackets", folder / "dev.mrg", *model, "--base", "e", "--out", tmp_path / "scores.csv")
    with (tmp_path / "scores.csv").open() as file:
        found = [float(row["log_probability"]) for row in csv.DictReader(file)]
    trees = list(read_brackets(folder / "dev.mrg"))
    given = [tree.binarize() for tree in trees] if family == "pushdown" else trees
    assert found == pytest.approx(loaded.score(given), abs=1e-4)

    done = dtg("surprisal", "the old dog sees a cat", *model, "--beam", "20", "--out", tmp_path / "s.csv")
    meta = json.loads((tmp_path / "s.csv.meta.json").read_text())
    assert "open phrases (tg, plm), constituents (pushdown)" in meta["columns"]["stack_depth"]
    with (tmp_path / "s.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6 and all(float(row["stack_depth"]) >= 0.99 for row in rows)
    for row in rows:
        assert float(row["lexical"]) + float(row["structural"]) == pytest.approx(float(row["surprisal"]), abs=1e-3)

    dtg("generate", *model, "--count", "5", "--max-words", "8", "--out", tmp_path / "made.ptb")
    assert len(list(read_brackets(tmp_path / "made.ptb"))) == 5
    assert "┬" in dtg("generate", *model, "--max-words", "8", "--seed", "2", "--draw").stdout + "┬"

    done = dtg("parse", "the dog sees a cat", "--by", "model", *model, "--beam", "20", "--nbest", "2")
    (tmp_path / "best.ptb").write_text(done.stdout)
    assert [tree.words for tree in read_brackets(tmp_path / "best.ptb")] == [tuple("the dog sees a cat".split())] * 2


def test_a_file_of_brackets_proposes(run: Path, tmp_path: Path) -> None:
    path = tmp_path / "nbest.ptb"
    path.write_text("(S (NP the dog) sees)\n(S the (VP dog sees))\n(S (NP the dog) (VP sees))\n")
    done = dtg("rerank", "the dog sees", "--tokenized", "--model", run, "--parser", path)
    (tmp_path / "best.ptb").write_text(done.stdout)
    [best] = read_brackets(tmp_path / "best.ptb")
    model = library.load(run)
    found = model.rerank(("the", "dog", "sees"), list(read_brackets(path)))
    tree = found.trees[0].tree
    expected = tree if isinstance(tree, ConstituencyTree) else ConstituencyTree.from_binary(tree)
    assert best.key == expected.key
    bound = model.marginal(("the", "dog", "sees"), "proposal", proposal=list(read_brackets(path)))
    assert bound.log_probability == pytest.approx(found.lower_bound)
    assert bound.trees == (2 if "pushdown" in str(run) else 3)
    # The words of the file itself are reranked too.
    assert dtg("rerank", path, "--limit", "1", "--model", run, "--parser", path).stdout == done.stdout


def test_perplexity_of_brackets(run: Path, folder: Path, tmp_path: Path) -> None:
    files = ("--brackets", folder / "dev.mrg", "--model", run, "--limit", "3", "--beam", "10")
    done = dtg("evaluate", "ppl", *files, "--out", tmp_path / "ppl")
    assert "joint" in done.stdout and "beam" in done.stdout
    assert (
        "left out: proposal, estimate (the model is of phrases, and the bundled parser gives dependencies)"
        in done.stdout
    )
    with (tmp_path / "ppl" / "sentences.csv").open() as file:
        rows = list(csv.DictReader(file))
    trees = list(read_brackets(folder / "dev.mrg"))[:3]
    model = library.load(run)
    given = [tree.binarize() for tree in trees] if "pushdown" in str(run) else trees
    assert [float(row["log_joint"]) for row in rows] == pytest.approx(model.score(given), abs=1e-4)


def test_projected_dependencies(folder: Path, tmp_path: Path) -> None:
    model = train(folder, "tg", "projected")
    done = dtg("score", "--conllu", folder / "dev.conllu", "--project", "head", "--model", model)
    assert "10 sentences" in done.stdout
    done = dtg("rerank", "the dog sees", "--tokenized", "--model", model, "--parser", "parser-small", code=1)
    assert "is a model of phrases, and parser-small gives dependencies. Pass --project" in done.stderr
    write_conllu(
        [library.DependencyTree(("the", "dog", "sees"), heads, ("_",) * 3) for heads in ((2, 3, 0), (3, 3, 0))],
        tmp_path / "t.conllu",
    )
    source = ("the dog sees", "--tokenized", "--model", model, "--parser", tmp_path / "t.conllu")
    assert dtg("rerank", *source, "--project", "head").stdout.strip() == "(1 (1 the dog) sees)"  # label 2 is not known
    files = ("--conllu", folder / "dev.conllu", "--project", "head", "--limit", "2", "--by", "joint")
    assert "joint" in dtg("evaluate", "ppl", *files, "--model", model).stdout


def test_words_alone_are_learned_from_any_trees(folder: Path) -> None:
    assert "log₂ p" in dtg("surprisal", "the dog", "--model", train(folder, "txl-tokens")).stdout


def test_resuming_compares_labels(folder: Path, tmp_path: Path) -> None:
    command = ("train", folder / "small.toml", "--out", tmp_path / "run", "--max-minutes", "0")
    dtg(*command, "--data", folder / "corpus")
    done = dtg(*command, "--data", folder / "projected", "--resume", code=1)
    assert "model.labels was" in done.stderr


def test_families_that_do_not_fit(folder: Path, tmp_path: Path) -> None:
    train_ = ("train", folder / "small.toml", "--out", tmp_path / "run", "--data")
    done = dtg(*train_, folder / "dependencies", code=1)
    assert "tg is trained on phrases, and" in done.stderr and "projected to phrases" in done.stderr
    done = dtg(*train_, folder / "corpus", "--set", "model.family=dtg", code=1)
    assert "dtg is trained on dependencies, and" in done.stderr
    assert not (tmp_path / "run").exists()


def test_info(folder: Path, tmp_path: Path) -> None:
    done = dtg("info", folder / "dev.mrg")
    assert "10 sentences" in done.stdout and "phrases deep" in done.stdout and "4 labels: " in done.stdout
    content = json.loads(dtg("info", folder / "dev.mrg", "--json").stdout)
    trees = list(read_brackets(folder / "dev.mrg"))
    assert content["deepest"] == max(tree.depth for tree in trees)
    assert sum(content["labels"].values()) == content["phrases"] == sum(len(tree.nodes) for tree in trees)
    assert "a corpus of phrases" in dtg("info", folder / "corpus").stdout
    assert json.loads(dtg("info", folder / "dependencies", "--json").stdout)["trees"] == "dependency"
    assert "phrases deep" in dtg("info", folder / "dev.conllu", "--project", "none").stdout
    plain = tmp_path / "trees.txt"
    plain.write_text("(TOP (S (NP-SBJ (DT The) (NN dog)) (VP (VBZ barks))))\n")
    done = dtg("info", plain, "--treebank-format", "brackets")
    assert "removed outer brackets around 1 sentence" in done.stderr and "S 1" in done.stdout
    old = dtg("info", plain, "--trees=brackets")  # as it was called before
    assert old.stdout == done.stdout
    assert old.stderr == "dtg: --trees is called --treebank-format now; it still works.\n" + done.stderr
    dtg("prepare", "--train", plain, "--dev", plain, "--trees", "brackets", *out(tmp_path, "corpus"))
    for wrong, reason in (
        (("info", folder / "dev.mrg", "--project", "head"), "are phrases already"),
        (("info", folder / "dev.conllu", "--unary", "keep"), "--unary is about trees in brackets"),
        (("info", folder / "dev.conllu", folder / "dev.mrg"), "trees of one kind are expected"),
        (("prepare", "--text", folder / "dev.mrg", *out(tmp_path, "no")), "named as a treebank"),
    ):
        assert reason in dtg(*wrong, code=1).stderr


def test_inspect(folder: Path, tmp_path: Path) -> None:
    done = dtg("inspect", "--brackets", DOG, "--draw", tmp_path / "mask.svg")
    assert "REDUCE(NP)" in done.stdout and "COMPOSE" in done.stdout and (tmp_path / "mask.svg").is_file()
    views = dtg("inspect", "--brackets", DOG, "--family", "plm-mask").stdout
    assert "before: 0 1" in views and "phrase: 2 3 4" in views
    assert "depths" in dtg("inspect", "--brackets", DOG, "--family", "pushdown").stdout
    content = json.loads(dtg("inspect", "--brackets", "(S bark|ing dogs)", "--split-at", "|", "--json").stdout)
    assert content["family"] == "tg" and content["words"] == ["barking", "dogs"] and content["nodes"] == [["S", 1, 2]]
    assert [row["reads"] for row in content["rows"]][2:4] == [["bark"], ["ing"]]
    tree = list(read_brackets(folder / "dev.mrg"))[3]
    content = json.loads(dtg("inspect", "--brackets", folder / "dev.mrg", "--sentence", "4", "--json").stdout)
    assert content["words"] == list(tree.words)
    heads = ("inspect", "There is a difference", "--heads", "2 0 4 2")
    assert "NT(1)" in dtg(*heads, "--project", "head").stdout
    for wrong, reason in (
        ((*heads, "--family", "tg"), "tg reads phrases"),
        (("inspect", "--brackets", DOG, "--family", "dtg"), "dtg reads dependencies"),
        (("inspect", "--brackets", "(S a"), "breaks off"),
        (("inspect", "--brackets", DOG, "--project", "head"), "--brackets takes the place"),
        (("inspect", "--brackets", "nowhere.ptb"), "there is no such file"),
    ):
        assert reason in dtg(*wrong, code=1).stderr
