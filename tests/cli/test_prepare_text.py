"""`dtg prepare --text` as a user meets it: which sentences go where, and what an interruption leaves."""

from __future__ import annotations

import gzip
import inspect
import json
import random
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from dtg.cli.app import app
from dtg.cli.commands.prepare import prepare as prepare_command
from dtg.cli.trees import TreeSelection
from dtg.errors import CheckpointError, CorpusError, InputError
from dtg.parser import BiaffineParser, ParsedTree
from dtg.tables.plain_text import LONGEST
from dtg.text import Corpus, Split
from dtg.trees import read_conllu
from tests.parser.parsers import small_parser
from tests.text.treebanks import WORDS, write_treebank

DIES = """
import os, signal
from dtg.cli.trees import TreeSelection

TreeSelection.group = 16
find, groups = TreeSelection.find, iter(range(3))

def dying(self, parser, items, annotate):
    if next(groups) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return find(self, parser, items, annotate=annotate)

TreeSelection.find = dying
from dtg.cli import main

main()
"""


@pytest.fixture(scope="module")
def parser(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parser") / "saved"
    small_parser().save(folder)
    return folder


def prepare(*arguments: str | Path) -> None:
    """In this process; words are between spaces, so that nothing has to be loaded to find them."""
    app(["prepare", *map(str, arguments), "--vocabulary", "300"], standalone_mode=False)


def some_lines(count: int, seed: int = 0) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=chance.randint(1, 8))) for _ in range(count)]


def write_lines(path: Path, lines: Iterable[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def sentences(split: Split) -> list[str]:
    return [" ".join(split.tree(index).words) for index in range(len(split))]


def lengths(split: Split) -> list[int]:
    """Of its documents, in sentences."""
    return [end - start for start, end in pairwise(split.document_starts.tolist())]


def test_text_to_train_on_and_a_treebank_for_dev(
    parser: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = some_lines(60)
    first = write_lines(tmp_path / "a.txt", [*lines[:10], "", "", *lines[10:30]])
    second = tmp_path / "b.txt.gz"
    second.write_bytes(gzip.compress("\n".join(["", *lines[30:]]).encode()))
    write_treebank(tmp_path / "dev.conllu", 9)
    options = ("--text", first, second, "--dev", tmp_path / "dev.conllu", "--parser", parser, "--tokenized")
    prepare(*options, "--out", tmp_path / "corpus")
    assert "corpus.parsed/train.conllu has 60 trees of 60 sentences" in capsys.readouterr().err
    corpus = Corpus.open(tmp_path / "corpus")
    train, dev = corpus.splits["train"], corpus.split("dev")
    assert sentences(train) == lines and lengths(train) == [10, 20, 30] and len(dev) == 9
    assert train.sentence_id(10) == "a-13" and train.sentence_id(30) == "b-2"
    loaded = BiaffineParser.load(parser)
    assert all(train.tree(i).heads == loaded.parse(lines[i].split()).tree.heads for i in range(0, 60, 7))
    manifest = json.loads((tmp_path / "corpus" / "manifest.json").read_text())
    assert manifest["options"]["tokenized"] and len(manifest["options"]["parser"]) == 64
    assert [Path(given["path"]).name for given in manifest["splits"]["train"]["inputs"]] == ["a.txt", "b.txt.gz"]

    (tmp_path / "corpus.parsed" / "train.conllu").unlink()  # no longer needed
    prepare(*options, "--out", tmp_path / "corpus")
    assert "nothing to do" in capsys.readouterr().err
    with pytest.raises(CorpusError, match="prepared otherwise: longest 150 instead of 5"):
        prepare(*options, "--longest", "5", "--out", tmp_path / "corpus")
    write_lines(first, lines[:4])
    with pytest.raises(CorpusError, match="prepared otherwise: other files for train"):
        prepare(*options, "--out", tmp_path / "corpus")


def test_a_part_of_the_text_is_kept_for_dev(parser: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = some_lines(100)
    plain = write_lines(tmp_path / "plain.txt", [*lines[:50], "", *lines[50:]])
    options = ("--parser", parser, "--tokenized", "--out")
    prepare("--text", plain, *options, tmp_path / "by_sentence")
    assert "no --dev FILE: every 20th sentence of the text is kept for dev." in capsys.readouterr().err
    corpus = Corpus.open(tmp_path / "by_sentence")
    assert sentences(corpus.split("dev")) == lines[19::20]
    assert sentences(corpus.splits["train"]) == [line for place, line in enumerate(lines, start=1) if place % 20]
    assert lengths(corpus.splits["train"]) == [48, 47]

    in_twos = [line for place in range(0, 100, 2) for line in (lines[place], lines[place + 1], "")]
    prepare("--text", write_lines(tmp_path / "documents.txt", in_twos), *options, tmp_path / "by_document")
    assert "every 20th document of the text is kept for dev." in capsys.readouterr().err
    corpus = Corpus.open(tmp_path / "by_document")
    assert sentences(corpus.split("dev")) == [*lines[38:40], *lines[78:80]]
    assert lengths(corpus.splits["train"]) == [2] * 48
    with pytest.raises(InputError, match=r"too short to keep a part of it for dev\. Pass --dev FILE"):
        prepare("--text", write_lines(tmp_path / "short.txt", lines[:19]), *options, tmp_path / "short")


def test_text_and_treebanks_together(parser: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What ends in .txt is text in every split; what is left out is counted and listed."""
    trees = write_treebank(tmp_path / "a.conllu", 40)
    lines = some_lines(40)
    write_lines(tmp_path / "more.txt", [*lines[:5], "", " ".join(["the"] * 9), *lines[5:]])
    write_lines(tmp_path / "dev.txt", lines[:3])
    given = ("--train", tmp_path / "a.conllu", tmp_path / "more.txt", "--dev", tmp_path / "dev.txt")
    prepare(*given, "--parser", parser, "--tokenized", "--longest", "8", "--out", tmp_path / "corpus")
    corpus = Corpus.open(tmp_path / "corpus")
    train = corpus.splits["train"]
    assert sentences(train) == [" ".join(tree.words) for tree in trees] + lines
    assert lengths(train) == [40, 5, 35]  # the document's first sentence is left out, the document is not
    assert sentences(corpus.split("dev")) == lines[:3]
    errors = capsys.readouterr().err
    assert "dtg: train: left out 1 sentences." in errors
    assert "more.txt, sentence 6 (line 7): it has 9 words; the limit is 8." in errors
    assert corpus.manifest["splits"]["train"]["counts"]["skipped"] == 1


def test_running_text_is_split_into_sentences(parser: Path, tmp_path: Path) -> None:
    paragraphs = [f"{name} the old cat follows 10 dogs. Dr. Who came! Did he leave?" for name in "abcdefghijklmnopqrst"]
    text = write_lines(tmp_path / "book.txt", paragraphs)
    prepare("--text", text, "--dev", text, "--parser", parser, "--paragraphs", "--out", tmp_path / "corpus")
    train = Corpus.open(tmp_path / "corpus").splits["train"]
    assert len(train) == 60
    assert sentences(train)[1:3] == ["Dr. Who came !", "Did he leave ?"]
    assert [train.sentence_id(place) for place in (0, 2, 3)] == ["book-1-1", "book-1-3", "book-2-1"]


def test_interruptions_lose_no_more_than_a_group(
    parser: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = write_lines(tmp_path / "a.txt", some_lines(100))
    write_treebank(tmp_path / "dev.conllu", 9)
    options = ("--text", text, "--dev", tmp_path / "dev.conllu", "--parser", parser, "--tokenized", "--out")
    monkeypatch.setattr(TreeSelection, "group", 16)
    prepare(*options, tmp_path / "whole")

    parts, parsed = tmp_path / "parts", tmp_path / "parts.parsed" / "train.conllu"
    command = [sys.executable, "-c", DIES, "prepare", *map(str, options), str(parts), "--vocabulary", "300"]
    done = subprocess.run(command, capture_output=True, check=False, timeout=300)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert len(list(read_conllu(parsed))) == 32 and not parts.exists()

    find, computed = TreeSelection.find, list[int]()

    def interrupted_once(
        self: TreeSelection, parser: BiaffineParser, items: Iterable[Any], *, annotate: bool
    ) -> Iterator[list[ParsedTree]]:
        some = list(items)
        computed.append(len(some))
        if len(computed) == 2:
            raise KeyboardInterrupt
        return find(self, parser, some, annotate=annotate)

    monkeypatch.setattr(TreeSelection, "find", interrupted_once)
    capsys.readouterr()
    prepare(*options, parts)
    assert "train.conllu is not finished. The same command resumes it." in capsys.readouterr().err
    assert not parts.exists()
    prepare(*options, parts)
    # Of 100, without the 32 of the run that was killed; the second group was computed, and lost.
    assert computed == [16, 16, 16, 16, 16, 4]
    assert parsed.read_bytes() == (tmp_path / "whole.parsed" / "train.conllu").read_bytes()
    hashes = [json.loads((folder / "manifest.json").read_text())["hash"] for folder in (parts, tmp_path / "whole")]
    assert hashes[0] == hashes[1]


def test_trees_made_otherwise_are_not_taken(parser: Path, tmp_path: Path) -> None:
    text = write_lines(tmp_path / "a.txt", some_lines(30))
    options = ("--parser", parser, "--tokenized", "--out", tmp_path / "corpus")
    (tmp_path / "bad.conllu").write_text("1\ta\n\n")
    with pytest.raises(Exception, match="2 columns"):
        prepare("--text", text, "--dev", tmp_path / "bad.conllu", *options)  # when the text has been parsed
    assert (tmp_path / "corpus.parsed" / "train.conllu").exists() and not (tmp_path / "corpus").exists()
    with pytest.raises(CorpusError, match=r"made otherwise: longest differ\.\nRemove .*corpus.parsed, or give another"):
        prepare("--text", text, "--dev", text, "--longest", "9", *options)


def test_mistakes(parser: Path, tmp_path: Path) -> None:
    text = write_lines(tmp_path / "a.txt", some_lines(30))
    write_treebank(tmp_path / "a.conllu", 20)
    treebank, out = tmp_path / "a.conllu", ("--out", tmp_path / "corpus")
    with pytest.raises(CheckpointError, match="is not a parser: it has no config"):
        prepare("--text", text, "--parser", tmp_path, *out)
    with pytest.raises(InputError, match="are about text, and none is given"):
        prepare("--train", treebank, "--dev", treebank, "--parser", parser, *out)
    with pytest.raises(InputError, match=r"a\.conllu is named as a treebank. Give it with --train"):
        prepare("--text", treebank, "--parser", parser, *out)
    with pytest.raises(InputError, match="not in tokenized text"):
        prepare("--text", text, "--parser", parser, "--tokenized", "--paragraphs", *out)
    with pytest.raises(InputError, match="at least one file for dev"):
        prepare("--train", treebank, "--test", text, "--parser", parser, *out)
    with pytest.raises(InputError, match=r"absent\.txt: there is no such file"):
        prepare("--text", tmp_path / "absent.txt", "--parser", parser, *out)
    with pytest.raises(InputError, match=r"the folder .*no does not exist"):
        prepare("--text", text, "--parser", parser, "--tokenized", "--out", tmp_path / "no" / "corpus")
    text.write_bytes(b"the cat\nthe \xff\n" * 20)
    with pytest.raises(InputError, match=r"a\.txt, line 2: byte 5 of the line is 0xff"):
        prepare("--text", text, "--parser", parser, "--tokenized", *out)


def test_the_default_length_is_the_library_s() -> None:
    assert inspect.signature(prepare_command).parameters["longest"].default == LONGEST
