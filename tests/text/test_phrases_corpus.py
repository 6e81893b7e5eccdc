"""Corpora of phrases: trees come back from brackets and from projected dependencies, batches derive the same, limits count."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dtg.errors import ConfigError, CorpusError, InputError, TooFarError, TreebankError
from dtg.model.config import ModelConfig
from dtg.text import BracketReading, Corpus, PlainText, Tokenizer, TreebankReading, prepare_corpus
from dtg.transitions.batch import BinaryColumns, ConstituencyColumns, SentenceBatch
from dtg.transitions.shift_attach import ShiftAttach
from dtg.transitions.top_down import TopDown
from dtg.trees import ConstituencyTree, DependencyTree, Node, read_brackets, read_treebank, write_brackets, write_conllu
from dtg.trees.kinds import CONSTITUENCY, DEPENDENCY
from tests.real_data import data_file
from tests.text.treebanks import WORDS, write_treebank
from tests.trees.phrase_trees import constituency_trees

LABELS = ("S", "NP", "VP", "X")


def random_phrases(generator: random.Random, longest: int = 9) -> ConstituencyTree:
    """Any phrases over a few words, unary chains included."""
    words = tuple(generator.choice(WORDS) for _ in range(generator.randint(1, longest)))
    nodes = list[tuple[str, int, int]]()

    def open_phrases(first: int, last: int, least: int) -> None:
        for _ in range(generator.choice([least, least, 1, 2])):
            nodes.append((generator.choice(LABELS), first, last))
        if first < last:
            cut = generator.randrange(first, last)
            open_phrases(first, cut, 0)
            open_phrases(cut + 1, last, 0)

    open_phrases(1, len(words), 1)
    return ConstituencyTree(words, tuple(nodes))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def trees() -> dict[str, list[ConstituencyTree]]:
    generator = random.Random(3)
    return {name: [random_phrases(generator) for _ in range(count)] for name, count in (("train", 60), ("dev", 20))}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, trees: dict[str, list[ConstituencyTree]]) -> Path:
    folder = tmp_path_factory.mktemp("phrases")
    for name, some in trees.items():
        write_brackets(some, folder / f"{name}.ptb")
    prepare(folder)
    return folder


def prepare(folder: Path, **options: object) -> Corpus:
    files = {split: [folder / f"{split}.ptb"] for split in ("train", "dev")}
    reading = options.pop("reading", BracketReading())
    prepared = prepare_corpus(files, folder / "corpus", vocabulary=320, reading=reading, **options)  # type: ignore[arg-type]
    return prepared.corpus


def test_trees_come_back(made: Path, trees: dict[str, list[ConstituencyTree]]) -> None:
    corpus = Corpus.open(made / "corpus")
    corpus.verify()
    assert corpus.kind is CONSTITUENCY and set(corpus.labels) == set(LABELS)
    for name, some in trees.items():
        split = corpus.split(name)
        assert [split.tree(index).key for index in range(len(split))] == [tree.key for tree in some]
        assert [split.words(index) for index in range(len(split))] == [tree.words for tree in some]
    assert corpus.split("dev").sentence_id(2) == "dev.ptb:3"
    assert corpus.split("train").document_starts.tolist() == [0, 60]
    counts = corpus.manifest["splits"]["train"]["counts"]
    assert counts["phrases"] == sum(len(tree.nodes) for tree in trees["train"])
    assert counts["untagged"] == 60 and counts["beyond_max_open"] == 0 and counts["longest_chain"] >= 2


def test_batches_equal_those_made_tree_by_tree(made: Path) -> None:
    corpus = Corpus.open(made / "corpus")
    split = corpus.splits["train"]
    indices = random.Random(1).choices(range(len(split)), k=50)
    chosen = [split.tree(index) for index in indices]
    pieces = [corpus.tokenizer.encode_all(tree.words) for tree in chosen]
    expected, found = SentenceBatch.of(chosen, pieces), split.batch(indices)
    assert isinstance(found.columns, ConstituencyColumns)
    assert [tree.key for tree in found.trees()] == [tree.key for tree in chosen]
    binary = SentenceBatch.of([tree.binarize() for tree in chosen], pieces)
    for system, batch in ((TopDown(labels=LABELS), expected), (ShiftAttach(), expected), (ShiftAttach(), binary)):
        ours, theirs = system.derive(found), system.derive(batch)
        assert torch.equal(ours.id, theirs.id) and torch.equal(ours.piece, theirs.piece)
        assert torch.equal(ours.offsets, theirs.offsets)


@given(st.lists(constituency_trees(), min_size=1, max_size=5), st.integers(1, 3))
@settings(max_examples=150, deadline=None)
def test_phrases_are_binarised_for_a_whole_batch_as_one_by_one(trees: list[ConstituencyTree], pieces: int) -> None:
    subwords = [[[1] * (1 + number % pieces) for number in range(len(tree))] for tree in trees]
    system = ShiftAttach()
    whole = system.derive(SentenceBatch.of(trees, subwords))
    one_by_one = SentenceBatch.of([tree.binarize() for tree in trees], subwords)
    assert isinstance(one_by_one.columns, BinaryColumns)
    assert torch.equal(whole.id, system.derive(one_by_one).id)


def test_no_other_columns_are_attached() -> None:
    batch = SentenceBatch.of([DependencyTree(("a", "b"), (2, 0))], [[[1], [1]]])
    with pytest.raises(InputError, match=r"binary trees or phrases are needed .* this batch has DependencyColumns"):
        ShiftAttach().derive(batch)


def test_the_same_again_is_found_and_anything_else_refused(made: Path) -> None:
    files = {split: [made / f"{split}.ptb"] for split in ("train", "dev")}
    again = prepare_corpus(files, made / "corpus", vocabulary=320, reading=BracketReading())
    assert again.was_there
    with pytest.raises(CorpusError, match="unary keep instead of collapse"):
        prepare(made, reading=BracketReading(unary="collapse"))


@pytest.mark.parametrize("labels", ["none", "head", "relation"])
def test_projected_dependencies(tmp_path: Path, labels: str) -> None:
    given = write_treebank(tmp_path / "train.conllu", 40)
    files = {split: [tmp_path / "train.conllu"] for split in ("train", "dev")}
    reading = TreebankReading(project=labels)  # type: ignore[arg-type]
    corpus = prepare_corpus(files, tmp_path / "corpus", vocabulary=320, reading=reading).corpus
    split = corpus.split("dev")
    found = [split.tree(index) for index in range(len(split))]
    assert [tree.key for tree in found] == [ConstituencyTree.from_dependencies(tree, labels).key for tree in given]  # type: ignore[arg-type]
    if labels == "head":
        assert [tree.to_dependencies().heads for tree in found] == [tree.heads for tree in given]
    with pytest.raises(CorpusError, match=f"project {labels} instead of None"):
        prepare_corpus(files, tmp_path / "corpus", vocabulary=320)


def test_sentence_ids_and_documents_of_projected_trees(tmp_path: Path) -> None:
    block = "# newdoc\n# sent_id = {}\n1\tDogs\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
    (tmp_path / "a.conllu").write_text(block.format("one") + block.format("two"))
    files = {split: [tmp_path / "a.conllu"] for split in ("train", "dev")}
    reading = TreebankReading(project="upos")
    corpus = prepare_corpus(files, tmp_path / "corpus", vocabulary=300, reading=reading).corpus
    split = corpus.split("train")
    assert (split.sentence_id(1), split.document_starts.tolist(), corpus.labels) == ("two", [0, 1, 2], ("NOUN",))


def test_labels_that_are_missing(tmp_path: Path) -> None:
    write_conllu([DependencyTree(("a", "b"), (2, 0), ("dep", "root"))], tmp_path / "a.conllu")
    reading = TreebankReading(project="upos")
    with pytest.raises(TreebankError, match=r"sentence 1 .* labelled by upos, but word 2, 'b', has none"):
        list(reading.read([tmp_path / "a.conllu"]))
    skipping = TreebankReading(project="upos", skip_invalid=True)
    assert list(skipping.read([tmp_path / "a.conllu"])) == []


def test_text_has_dependencies_and_goes_with_no_brackets(made: Path, tmp_path: Path) -> None:
    text = PlainText({}, {}, held_out=False, parse=dict)
    with pytest.raises(InputError, match="plain text gets dependencies from a parser"):
        prepare_corpus({}, tmp_path / "out", reading=BracketReading(), text=text)


def test_corpora_made_before_there_were_phrases_open(tmp_path: Path) -> None:
    write_treebank(tmp_path / "a.conllu", 10)
    files = {split: [tmp_path / "a.conllu"] for split in ("train", "dev")}
    corpus = prepare_corpus(files, tmp_path / "corpus", vocabulary=320).corpus
    path = tmp_path / "corpus" / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["trees"], manifest["options"]["project"], manifest["sha256"]
    path.write_text(json.dumps(manifest))
    old = prepare_corpus(files, tmp_path / "corpus", vocabulary=320)
    assert old.was_there and old.corpus.hash == corpus.hash and old.corpus.kind is DEPENDENCY


def test_models_take_labels_and_limits_from_the_corpus(made: Path) -> None:
    corpus = Corpus.open(made / "corpus")
    config = ModelConfig.for_corpus({"family": "tg"}, corpus)
    assert config.labels == corpus.labels and config.vocabulary == corpus.tokenizer.size
    assert ModelConfig.for_corpus({"family": "pushdown"}, corpus).labels == ()
    assert ModelConfig.for_corpus({"family": "txl-tokens"}, corpus).labels == ()
    more = [*corpus.labels, "PP"]
    assert ModelConfig.for_corpus({"family": "plm", "labels": more}, corpus).labels == tuple(more)
    with pytest.raises(ConfigError, match="the corpus also has phrases labelled"):
        ModelConfig.for_corpus({"family": "tg", "labels": ["S"]}, corpus)
    with pytest.raises(ConfigError, match=r"dtg is trained on dependencies, and .*corpus has phrases"):
        ModelConfig.for_corpus({"family": "dtg"}, corpus)


def test_a_family_of_phrases_needs_phrases(tmp_path: Path) -> None:
    write_treebank(tmp_path / "a.conllu", 10)
    files = {split: [tmp_path / "a.conllu"] for split in ("train", "dev")}
    corpus = prepare_corpus(files, tmp_path / "corpus", vocabulary=320).corpus
    for family in ("tg", "plm", "plm-mask", "pushdown"):
        with pytest.raises(ConfigError, match=r"(?s)of dependencies that are projected to phrases; or .* such as dtg"):
            ModelConfig.for_corpus({"family": family, "attention_heads": 4}, corpus)
    assert ModelConfig.for_corpus({"family": "txl-tokens"}, corpus).family == "txl-tokens"


def test_limits_are_counted_and_raised(tmp_path: Path) -> None:
    words = tuple(f"w{number}" for number in range(70))
    deep = ConstituencyTree(words, tuple(Node("X", first, 70) for first in range(1, 71)))
    chain = ConstituencyTree(("a",), (Node("X", 1, 1),) * 13)
    write_brackets([deep, chain], tmp_path / "a.ptb")
    files = {split: [tmp_path / "a.ptb"] for split in ("train", "dev")}
    corpus = prepare_corpus(files, tmp_path / "corpus", vocabulary=320, reading=BracketReading()).corpus
    counts = corpus.manifest["splits"]["train"]["counts"]
    assert [counts[f"beyond_{name}"] for name in ("max_open", "max_chain", "attach_limit")] == [1, 1, 1]
    assert (counts["most_open"], counts["longest_chain"]) == (70, 13) and counts["most_constituents"] >= 69
    batch = corpus.split("train").batch([0, 1])
    with pytest.raises(TooFarError):
        TopDown(labels=("X",)).derive(batch)
    with pytest.raises(TooFarError):
        ShiftAttach().derive(batch)
    config = ModelConfig.for_corpus({"family": "tg"}, corpus)
    assert (config.max_open, config.max_chain) == (70, 13)
    TopDown(labels=("X",), max_open=70, max_chain=13).derive(batch)
    limit = ModelConfig.for_corpus({"family": "pushdown"}, corpus).attach_limit
    assert limit == counts["most_constituents"]
    ShiftAttach(attach_limit=limit).derive(batch)
    with pytest.raises(TooFarError):
        ShiftAttach(attach_limit=limit - 1).derive(batch)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["const/gum-dev.ptb.gz", "const/ptb-sample.ptb.gz", "const/masc-ptb.ptb.gz"])
def test_real_trees_come_back(tmp_path: Path, name: str) -> None:
    path = data_file(name)
    tokenizer = Tokenizer.train((word for tree in read_brackets(path) for word in tree.words), 2000)
    tokenizer.save(tmp_path / "t.model")
    files = {split: [path] for split in ("train", "dev")}
    reading = BracketReading(skip_invalid=True)
    corpus = prepare_corpus(files, tmp_path / "corpus", tokenizer=tmp_path / "t.model", reading=reading).corpus
    split, given = corpus.split("train"), list(reading.read([path]))
    assert [split.tree(index).key for index in range(len(split))] == [tree.key for tree in given]
    limit = ModelConfig.for_corpus({"family": "pushdown"}, corpus).attach_limit
    system = ShiftAttach(attach_limit=limit)
    few = given[:300]
    batch = SentenceBatch.of([t.binarize() for t in few], [corpus.tokenizer.encode_all(t.words) for t in few])
    assert torch.equal(system.derive(split.batch(range(len(few)))).id, system.derive(batch).id)


@pytest.mark.slow
def test_real_dependencies_come_back_from_their_phrases(tmp_path: Path) -> None:
    path = data_file("ud/en_ewt-ud-dev.conllu")
    files = {split: [path] for split in ("train", "dev")}
    reading = TreebankReading(project="head")
    corpus = prepare_corpus(files, tmp_path / "corpus", vocabulary=2000, reading=reading).corpus
    split = corpus.split("dev")
    found = [split.tree(index).to_dependencies().heads for index in range(len(split))]
    assert found == [tree.heads for tree in read_treebank([path])]
