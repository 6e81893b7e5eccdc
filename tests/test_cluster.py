"""Surprisals and trees on a local cluster of Ray: the command's numbers, each row once, also where a worker is killed."""

from __future__ import annotations

import gzip
import os
import runpy
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow.parquet import read_table

from dtg import cluster
from dtg.cluster.lines import lines_of, pieces_of
from dtg.cluster.workers import ParseWorker, SurprisalWorker
from dtg.errors import InputError
from dtg.search.options import BeamOptions
from dtg.tables.formats import read_rows
from dtg.trees import read_conllu
from tests.cli.made import folder_with_models
from tests.cli.running import dtg

SCRIPT = Path(__file__).parents[1] / "docs" / "examples" / "on_ray.py"
WORDS = "the dog saw mice and a cat ran".split()
pytestmark = pytest.mark.filterwarnings("ignore")  # of Ray's
COMPUTED = ("surprisal", "lexical", "structural", "entropy", "entropy_reduction", "stack_depth", "kept")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models, 120 lines of which some are empty, and what the commands write of them."""
    folder = folder_with_models(tmp_path_factory)
    lines = [" ".join(WORDS[(i + j) % 8] for j in range(i % 6)) for i in range(120)]
    (folder / "text.txt").write_text("".join(f"{line}\n" for line in lines))
    shared: list[str | Path] = [folder / "text.txt", "--tokenized", "--out"]
    dtg("surprisal", *shared, folder / "words.csv", "--model", folder / "model", "--beam", "10", "--end")
    dtg("parse", *shared, folder / "trees.conllu", "--parser", folder / "parser")
    return folder


def test_lines_are_read_in_pieces(tmp_path: Path) -> None:
    """Wherever the pieces begin, each line comes once, with its number; compressed files are one piece."""
    content = "\ufeffone\n\ntwo\r\n \nthree\nfour"
    (tmp_path / "a.txt").write_text(content, newline="")
    dense = [(1, "one"), (3, "two"), (5, "three"), (6, "four")]
    for size in range(1, 8):
        pieces = list(pieces_of(tmp_path / "a.txt", size))
        assert len(pieces) == -(-6 // size)
        found = [(row["sentence_id"], row["text"]) for piece in pieces for row in lines_of(piece)]
        assert found == dense
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(content.encode()))
    [piece] = pieces_of(tmp_path / "a.txt.gz", 2)
    assert [(row["sentence_id"], row["text"]) for row in lines_of(piece)] == dense


def test_a_batch_is_computed_by_length_and_comes_back_in_order(made: Path) -> None:
    """Rows without a sentence have no words; other columns are repeated, and renamed where they would clash."""
    texts = ["the dog saw mice", None, "mice", "  ", "a cat ran"]
    batch = pyarrow.table({"text": texts, "item": [7, 8, 9, 10, 11], "word": list("abcde")})
    options = BeamOptions.of(beam=10)
    worker = SurprisalWorker(str(made / "model"), "text", options, "2", "word", False, True, 1, "cpu")
    found = worker(batch).to_pylist()
    assert [(row["item"], row["word_id"], row["word"], row["input_word"]) for row in found] == [
        (7, 1, "the", "a"),
        (7, 2, "dog", "a"),
        (7, 3, "saw", "a"),
        (7, 4, "mice", "a"),
        (9, 1, "mice", "c"),
        (11, 1, "a", "e"),
        (11, 2, "cat", "e"),
        (11, 3, "ran", "e"),
    ]
    expected = worker.model.surprisal([texts[0].split(), ["mice"], texts[4].split()], beam=10)  # type: ignore[union-attr]
    assert [row["surprisal"] for row in found] == pytest.approx(
        [bits for one in expected for bits in one.to_frame(base="2").surprisal]
    )
    nothing = worker(batch.slice(1, 1))
    assert nothing.num_rows == 0 and nothing.schema == worker(batch).schema
    with pytest.raises(InputError, match="the column text has 5; a sentence is expected"):
        worker(pyarrow.table({"text": [5]}))


def test_a_sentence_that_is_too_long_has_a_row_without_a_tree(made: Path) -> None:
    worker = ParseWorker(str(made / "parser"), "text", 2, True, 3, 1, "cpu")
    found = worker(pyarrow.table({"text": ["a cat", "the dog saw mice", "mice"]})).to_pylist()
    assert [(row["text"], row["tree_id"]) for row in found] == [
        ("a cat", 1),
        ("a cat", 2),
        ("the dog saw mice", None),
        ("mice", 1),
    ]
    assert found[2]["tree"] is None and "# tree = 2" in found[1]["tree"]


def test_mistakes() -> None:
    with pytest.raises(InputError, match="batch_size must be at least 1; it is 0"):
        cluster.Workers(batch_size=0)
    with pytest.raises(InputError, match="cpus must be at least 1; it is 0"):
        cluster.Workers(cpus=0)


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """A cluster of three CPUs: two workers, and what reads for them."""
    found = pytest.importorskip("ray", reason="Ray is not installed: pip install 'dtg[ray]'")
    os.environ.setdefault("RAY_raylet_start_wait_time_s", "180")  # on a busy machine
    found.init(num_cpus=3, include_dashboard=False, log_to_driver=False)
    yield found
    found.shutdown()


@pytest.mark.slow
def test_a_worker_is_killed_in_mid_run(made: Path, tmp_path: Path, ray: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two workers, of which one dies with a batch in its hands: every word once, and the command's numbers."""

    class Dying(SurprisalWorker):
        def __call__(self, batch: Any) -> Any:
            (tmp_path / f"worker {os.getpid()}").touch()
            if 60 in batch["sentence_id"].to_pylist() and not (tmp_path / "dead").exists():
                (tmp_path / "dead").touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return super().__call__(batch)

    monkeypatch.setattr(cluster, "SurprisalWorker", Dying)
    dataset = cluster.read_lines(made / "text.txt", lines=25)
    with pytest.raises(InputError, match=r"has no column 'words'\. It has: file, sentence_id, text"):
        cluster.surprisal(dataset, column="words")
    workers = cluster.Workers(concurrency=2, batch_size=10)
    more: dict[str, Any] = {"model": made / "model", "beam": 10, "end": True, "tokenized": True}
    found = cluster.surprisal(dataset, **more, workers=workers).take_all()
    assert (tmp_path / "dead").exists() and len(list(tmp_path.glob("worker *"))) >= 2
    found.sort(key=lambda row: (row["sentence_id"], row["word_id"]))
    expected = [row for _, row in read_rows(made / "words.csv")]
    assert [(row["sentence_id"], row["word_id"], row["word"]) for row in found] == [
        (int(row["sentence_id"]), int(row["word_id"]), row["word"]) for row in expected
    ]
    for name in COMPUTED:
        numbers = [float(row[name]) if row[name] else None for row in expected]
        assert [row[name] for row in found] == pytest.approx(numbers, rel=1e-5, abs=1e-5), name


@pytest.mark.slow
def test_the_script_writes_trees(made: Path, tmp_path: Path, ray: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As docs/clusters.md shows it, from a table in Parquet; the trees are those of `dtg parse`."""
    rows = [{"sentence_id": n, "text": line} for n, line in enumerate((made / "text.txt").open(), start=1)]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "corpus.parquet")
    command = [tmp_path / "corpus.parquet", "--trees", "--tokenized", "--model", made / "parser", "--workers", "2"]
    monkeypatch.setattr(
        sys, "argv", [str(SCRIPT), *map(str, command), "--batch-size", "40", "--out", str(tmp_path / "out")]
    )
    runpy.run_path(str(SCRIPT), run_name="__main__")
    found = sorted(read_table(tmp_path / "out").to_pylist(), key=lambda row: row["sentence_id"])
    (tmp_path / "all.conllu").write_text("".join(row["tree"] for row in found))
    ours, theirs = (list(read_conllu(path)) for path in (tmp_path / "all.conllu", made / "trees.conllu"))
    assert [(tree.words, tree.heads, tree.labels) for tree in ours] == [
        (tree.words, tree.heads, tree.labels) for tree in theirs
    ]
    assert [tree.source.comments[:2] for tree in ours if tree.source] == [
        tree.source.comments[:2] for tree in theirs if tree.source
    ]
