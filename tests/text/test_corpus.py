"""Prepared corpora: what goes in comes out, batches equal those made tree by tree, and damage is noticed."""

from __future__ import annotations

import errno
import gc
import json
import random
import shutil
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import torch

from dtg.errors import CorpusError, InputError, TooFarError, TreebankError
from dtg.text import Corpus, Tokenizer, TreebankReading, encoding, prepare_corpus
from dtg.text.arrays import ArrayWriter
from dtg.text.encoding import farthest_arcs
from dtg.transitions.action import Action, Operation
from dtg.transitions.arcs.arc_swift import ArcSwift
from dtg.transitions.batch import DependencyColumns, SentenceBatch
from dtg.trees import DependencyTree, read_treebank, write_conllu
from tests.real_data import data_file
from tests.text.treebanks import random_tree, write_treebank

CROSSING = DependencyTree(("a", "b", "c", "d"), (3, 4, 0, 3), ("dep", "dep", "root", "dep"))


@pytest.fixture(scope="module")
def trees() -> dict[str, list[DependencyTree]]:
    """By file; filled by `made`."""
    return {}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, trees: dict[str, list[DependencyTree]]) -> Path:
    """A folder with treebanks and the corpus made of them."""
    folder = tmp_path_factory.mktemp("made")
    for seed, (name, count) in enumerate({"train1": 60, "train2": 40, "dev": 20}.items()):
        trees[name] = write_treebank(folder / f"{name}.conllu", count, seed)
    make(folder)
    return folder


def make(folder: Path, **options: object) -> Corpus:
    files = {"train": [folder / "train1.conllu", folder / "train2.conllu"], "dev": [folder / "dev.conllu"]}
    prepared = prepare_corpus(files, folder / "corpus", vocabulary=320, **options)  # type: ignore[arg-type]
    return prepared.corpus


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    """The same, to be spoilt."""
    return shutil.copytree(made, tmp_path / "copy")


def test_trees_come_back(made: Path, trees: dict[str, list[DependencyTree]]) -> None:
    corpus = Corpus.open(made / "corpus")
    corpus.verify()
    train, dev = corpus.splits["train"], corpus.split("dev")
    assert [train.tree(index) for index in range(len(train))] == trees["train1"] + trees["train2"]
    assert [dev.tree(index) for index in range(len(dev))] == trees["dev"]
    assert train.sentence_id(60) == "train2.conllu:1"
    assert train.document_starts.tolist() == [0, 60, 100]
    assert train.word_counts.tolist() == [len(tree) for tree in trees["train1"] + trees["train2"]]


def test_batches_equal_those_made_tree_by_tree(made: Path) -> None:
    corpus = Corpus.open(made / "corpus")
    split = corpus.splits["train"]
    indices = random.Random(1).choices(range(len(split)), k=50)
    chosen = [split.tree(index) for index in indices]
    expected = SentenceBatch.of(chosen, [corpus.tokenizer.encode_all(tree.words) for tree in chosen])
    for given in (indices, np.array(indices), np.array(indices, dtype=np.uint16)):
        found = split.batch(given)
        assert isinstance(found.columns, DependencyColumns) and isinstance(expected.columns, DependencyColumns)
        assert torch.equal(found.columns.heads, expected.columns.heads)
        assert found.columns.heads.dtype == torch.long
        for name in ("word_offsets", "pieces", "piece_offsets"):
            assert torch.equal(getattr(found, name), getattr(expected, name))
            assert getattr(found, name).dtype == torch.long
        assert set(SentenceBatch.__dataclass_fields__) == {"columns", "word_offsets", "pieces", "piece_offsets"}
    assert split.piece_counts[indices].tolist() == [
        sum(len(word) for word in corpus.tokenizer.encode_all(tree.words)) for tree in chosen
    ]
    empty = split.batch([])
    assert isinstance(empty.columns, DependencyColumns)
    assert (len(empty.columns.heads), empty.word_offsets.tolist()) == (0, [0])


def test_sentences_that_are_not_there(made: Path) -> None:
    corpus = Corpus.open(made / "corpus")
    for wrong in (-1, 20):
        with pytest.raises(InputError, match=f"no sentence {wrong} in dev: it has sentences 0 to 19"):
            corpus.splits["dev"].batch([3, wrong])
        with pytest.raises(InputError, match="no sentence"):
            corpus.splits["dev"].tree(wrong)
    with pytest.raises(InputError, match="flat sequence of integers"):
        corpus.splits["dev"].batch([0.5])  # type: ignore[list-item]
    with pytest.raises(CorpusError, match="no split 'test'; it has train, dev"):
        corpus.split("test")


def test_the_manifest_counts(made: Path, trees: dict[str, list[DependencyTree]]) -> None:
    manifest = Corpus.open(made / "corpus").manifest
    counts = manifest["splits"]["train"]["counts"]
    words = [len(tree) for tree in trees["train1"] + trees["train2"]]
    assert (counts["sentences"], counts["words"], counts["documents"]) == (100, sum(words), 2)
    assert (counts["skipped"], counts["lifted_arcs"], counts["beyond_arc_swift_limit"]) == (0, 0, 0)
    assert manifest["format_version"] == 1
    assert manifest["tokenizer"]["training"]["words"] == sum(words)
    assert [Path(file["path"]).name for file in manifest["splits"]["dev"]["inputs"]] == ["dev.conllu"]
    assert set(manifest["relations"]) == {"root", "r0", "r1", "r2"}


def test_the_same_input_gives_the_same_bytes(made: Path, copy: Path) -> None:
    before = Corpus.open(copy / "corpus")
    shutil.rmtree(copy / "corpus")
    after = make(copy)
    assert after.hash == before.hash
    arrays = [{name: split["arrays"] for name, split in each.manifest["splits"].items()} for each in (before, after)]
    assert arrays[0] == arrays[1]
    shutil.rmtree(copy / "corpus")
    write_treebank(copy / "dev.conllu", 20, seed=9)
    assert make(copy).hash != before.hash


def test_again_is_nothing_to_do_and_otherwise_is_refused(copy: Path) -> None:
    files = {"train": [copy / "train1.conllu", copy / "train2.conllu"], "dev": [copy / "dev.conllu"]}
    stamps = {path: path.stat().st_mtime_ns for path in (copy / "corpus").rglob("*")}
    assert prepare_corpus(files, copy / "corpus", vocabulary=320).was_there
    assert stamps == {path: path.stat().st_mtime_ns for path in (copy / "corpus").rglob("*")}
    with pytest.raises(CorpusError, match="prepared otherwise: vocabulary 320 instead of 330"):
        prepare_corpus(files, copy / "corpus", vocabulary=330)
    with pytest.raises(CorpusError, match=r"prepared otherwise: other files for train\.\nRemove it"):
        prepare_corpus({**files, "train": [copy / "train1.conllu"]}, copy / "corpus", vocabulary=320)
    (copy / "other").mkdir()
    (copy / "other" / "thesis.tex").touch()
    with pytest.raises(CorpusError, match=r"other holds something else already: .* no manifest\.json"):
        prepare_corpus(files, copy / "other", vocabulary=320)
    assert (copy / "other" / "thesis.tex").exists()
    with pytest.raises(CorpusError, match="something else"):
        prepare_corpus(files, copy / "dev.conllu", vocabulary=320)


def test_damage_is_noticed(copy: Path) -> None:
    corpus, heads = copy / "corpus", copy / "corpus" / "train" / "heads.npy"
    content = heads.read_bytes()
    heads.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(CorpusError, match=r"heads\.npy was altered"):
        Corpus.open(corpus).verify()
    with pytest.raises(CorpusError, match="altered"):
        make(copy)  # the same options: but this is not the same corpus any more
    heads.write_bytes(content[:-4])
    with pytest.raises(CorpusError, match=r"heads\.npy has [\d,]+ bytes; [\d,]+ are expected"):
        Corpus.open(corpus)
    heads.unlink()
    with pytest.raises(CorpusError, match=r"incomplete: .*heads\.npy is missing"):
        Corpus.open(corpus)


def test_an_altered_tokenizer_or_manifest_is_noticed(copy: Path) -> None:
    model, path = copy / "corpus" / "tokenizer.model", copy / "corpus" / "manifest.json"
    content, manifest = model.read_bytes(), json.loads(path.read_text())
    model.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(CorpusError, match=r"tokenizer\.model was altered"):
        Corpus.open(copy / "corpus")
    for spoilt, reason in [
        ({**manifest, "relations": []}, "does not agree with its own hash"),
        ({**manifest, "format_version": 99}, "format version 99; this dtg reads version 1"),
        ({"format_version": 1}, "does not agree with its own hash"),
        ([], "format version None"),
    ]:
        path.write_text(json.dumps(spoilt))
        with pytest.raises(CorpusError, match=reason):
            Corpus.open(copy / "corpus")
    path.write_text("{")
    with pytest.raises(CorpusError, match=r"manifest\.json is damaged"):
        Corpus.open(copy / "corpus")
    with pytest.raises(CorpusError, match="there is no such folder"):
        Corpus.open(copy / "nowhere")


def test_policies_are_counted_and_listed(copy: Path, trees: dict[str, list[DependencyTree]]) -> None:
    shutil.rmtree(copy / "corpus")
    write_conllu([*trees["dev"], CROSSING], copy / "dev.conllu")
    with (copy / "dev.conllu").open("a") as file:
        file.write("1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n2\tb\t_\t_\t_\t_\t0\troot\t_\t_\n\n1\ta\n\n")
    with pytest.raises(TreebankError, match="all have head 0"):
        make(copy)
    lifted = make(copy, reading=TreebankReading(roots="first", skip_invalid=True)).manifest["splits"]["dev"]
    counts = lifted["counts"]
    assert (counts["sentences"], counts["lifted_arcs"], counts["reattached_roots"], counts["skipped"]) == (22, 1, 1, 1)
    assert "2 columns; 10 are expected" in lifted["skipped"][0]["reason"]
    shutil.rmtree(copy / "corpus")
    skipping = TreebankReading(nonprojective="skip", roots="skip", skip_invalid=True)
    counts = make(copy, reading=skipping).manifest["splits"]["dev"]["counts"]
    assert (counts["sentences"], counts["nonprojective"], counts["skipped"]) == (20, 1, 3)


def test_a_failure_leaves_nothing_behind(copy: Path) -> None:
    shutil.rmtree(copy / "corpus")
    (copy / ".corpus.999999999.partial").mkdir()  # of a run that was killed
    with (copy / "dev.conllu").open("a") as file:
        file.write("1\ta\n\n")
    with pytest.raises(TreebankError):
        make(copy)
    assert sorted(path.name for path in copy.iterdir()) == ["dev.conllu", "train1.conllu", "train2.conllu"]
    with pytest.raises(InputError, match=r"no sentence is left for dev; 1 were left out"):
        (copy / "dev.conllu").write_text("1\ta\n\n")
        make(copy, reading=TreebankReading(skip_invalid=True))
    assert sorted(path.name for path in copy.iterdir()) == ["dev.conllu", "train1.conllu", "train2.conllu"]


def test_a_full_disk_is_an_error_that_leaves_nothing(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: ArrayWriter, values: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    shutil.rmtree(copy / "corpus")
    monkeypatch.setattr(ArrayWriter, "append", fail)
    with pytest.raises(CorpusError, match=r"cannot prepare .*corpus: .*No space left on device\. Nothing was written"):
        make(copy)
    assert sorted(path.name for path in copy.iterdir()) == ["dev.conllu", "train1.conllu", "train2.conllu"]


@pytest.mark.slow
def test_real_trees_come_back(tmp_path: Path) -> None:
    names = ("ud/en_gum-ud-dev.conllu", "amalgum/amalgum-dev.conllu.gz")
    paths = [data_file(name) for name in names]
    files = {"train": paths, "dev": paths}
    split = prepare_corpus(files, tmp_path / "corpus", reading=TreebankReading(roots="first")).corpus.splits["train"]
    for index, tree in enumerate(read_treebank(paths, roots="first")):
        words = tuple(word.replace(" ", "\u00a0") for word in tree.words)
        assert split.tree(index) == DependencyTree(words, tree.heads, tree.labels)
    assert len(split) == index + 1


def test_inputs_are_checked(made: Path, tmp_path: Path) -> None:
    train = [made / "train1.conllu"]
    with pytest.raises(InputError, match="a corpus needs at least one file for dev"):
        prepare_corpus({"train": train}, tmp_path / "corpus")
    with pytest.raises(InputError, match=r"no split called 'valid'\. Known: train, dev, test"):
        prepare_corpus({"train": train, "valid": train}, tmp_path / "corpus")
    with pytest.raises(InputError, match=r"absent\.conllu: there is no such file"):
        prepare_corpus({"train": train, "dev": ["absent.conllu"]}, tmp_path / "corpus")
    with pytest.raises(InputError, match=r"the folder .* does not exist"):
        prepare_corpus({"train": train, "dev": train}, tmp_path / "no" / "corpus")


def test_a_given_tokenizer_is_used(copy: Path) -> None:
    given = Tokenizer.load(copy / "corpus" / "tokenizer.model")
    given.save(copy / "mine.model")
    shutil.rmtree(copy / "corpus")
    (copy / "corpus").mkdir()  # an empty folder is as good as none
    corpus = make(copy, tokenizer=copy / "mine.model")
    assert corpus.tokenizer.hash == given.hash
    assert corpus.manifest["tokenizer"]["training"] is None
    assert corpus.manifest["options"]["tokenizer"] == given.hash


def number_of(action: Action) -> int:
    assert isinstance(action.argument, int)
    return action.argument


def test_farthest_arcs_are_those_of_the_oracle() -> None:
    generator = random.Random(3)
    trees = [random_tree(generator, longest=25) for _ in range(300)]
    heads = torch.tensor([head for tree in trees for head in tree.heads])
    found = farthest_arcs(heads, torch.tensor([len(tree) for tree in trees]))
    arcs = (Operation.LEFTARC, Operation.RIGHTARC)
    for tree, farthest in zip(trees, found.tolist(), strict=True):
        actions = ArcSwift(distance_limit=25).oracle(tree)
        assert farthest == max(number_of(action) for action in actions if action.operation in arcs)
        if farthest > 1:
            with pytest.raises(TooFarError):
                ArcSwift(distance_limit=farthest - 1).oracle(tree)


def test_memory_does_not_grow_with_the_corpus(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "SENTENCES_AT_ONCE", 100)
    model = made / "corpus" / "tokenizer.model"
    peaks = []
    for count in (300, 6_000):
        write_treebank(tmp_path / "many.conllu", count)
        files = {"train": [tmp_path / "many.conllu"], "dev": [made / "dev.conllu"]}
        gc.collect()
        tracemalloc.start()
        prepare_corpus(files, tmp_path / f"corpus{count}", tokenizer=model)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] - peaks[0] < 2_000_000  # those trees held at once would be some 20 MB
