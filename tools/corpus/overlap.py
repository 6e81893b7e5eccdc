"""Which sentences of a corpus are, or share a long run of words with, those of test sets."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

LONG = 13  # words in a row: a sentence that shares them is left out
SHORT = 8  # words in a row: only counted
SHORTEST = 5  # a whole sentence of a test set has at least this many words
WORD = re.compile(r"\w+(?:'\w+)?")


def plain(text: str) -> list[str]:
    """Lower-case words without punctuation, however the text was split."""
    return WORD.findall(text.replace("’", "'").replace(" n't", "n't").replace(" '", "'").lower())


class TestSets:
    """Runs of words of named test sets."""

    __test__ = False  # for pytest, which collects what is called Test...

    def __init__(self) -> None:
        self.sentences = Counter[str]()
        self._whole = dict[str, str]()
        self._long = dict[str, str]()
        self._short = dict[str, str]()

    def add(self, name: str, texts: Iterable[str]) -> None:
        """Add the sentences of a test set."""
        for text in texts:
            words = plain(text)
            self.sentences[name] += 1
            if len(words) >= SHORTEST:
                self._whole.setdefault(" ".join(words), name)
            for run in runs(words, LONG):
                self._long.setdefault(run, name)
            for run in runs(words, SHORT):
                self._short.setdefault(run, name)

    def share(self, words: Sequence[str]) -> str | None:
        """The test set that has a sentence, or `LONG` words in a row of it; None if none has."""
        if name := self._whole.get(" ".join(words)):
            return name
        return next((name for run in runs(words, LONG) if (name := self._long.get(run))), None)

    def touch(self, words: Sequence[str]) -> str | None:
        """The test set that has `SHORT` words in a row of a sentence."""
        return next((name for run in runs(words, SHORT) if (name := self._short.get(run))), None)


def runs(words: Sequence[str], length: int) -> Iterator[str]:
    """All runs of this many words."""
    return (" ".join(words[start : start + length]) for start in range(len(words) - length + 1))


def read_test_sets(data: Path) -> TestSets:
    """SyntaxGym, BLiMP, reading-time texts, EWT dev and test, and all of GUM, from a folder as DTG_DATA has it."""
    found = TestSets()
    for path in sorted((data / "sg").glob("*.json")):
        found.add("SyntaxGym", suite_sentences(path))
    for path in sorted((data / "blimp").glob("*.jsonl")):
        found.add("BLiMP", blimp_sentences(path))
    found.add("Natural Stories", story_sentences(data / "rt" / "naturalstories.csv"))
    found.add("SAP garden paths", garden_paths(data / "rt" / "sap_classic_gp.csv"))
    for split in ("dev", "test"):
        found.add("EWT dev, test", treebank_sentences(data / "ud" / f"en_ewt-ud-{split}.conllu"))
    for split in ("train", "dev", "test"):
        found.add("GUM", treebank_sentences(data / "ud" / f"en_gum-ud-{split}.conllu"))
    return found


def suite_sentences(path: Path) -> Iterator[str]:
    suite = json.loads(path.read_text(encoding="utf-8"))
    for item in suite["items"]:
        for condition in item["conditions"]:
            yield " ".join(region["content"] for region in condition["regions"])


def blimp_sentences(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            pair = json.loads(line)
            yield pair["sentence_good"]
            yield pair["sentence_bad"]


def story_sentences(path: Path) -> Iterator[str]:
    sentences = dict[tuple[str, str], list[str]]()
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            sentences.setdefault((row["story"], row["sentence"]), []).append(row["word"])
    return (" ".join(words) for words in sentences.values())


def garden_paths(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield row["unambiguous"]
            yield row["ambiguous"]


def treebank_sentences(path: Path) -> Iterator[str]:
    """Of CoNLL-U, words joined by spaces."""
    words = list[str]()
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            fields = line.split("\t")
            if fields[0].isdigit():
                words.append(fields[1])
            elif not line.strip() and words:
                yield " ".join(words)
                words = []
    if words:
        yield " ".join(words)
