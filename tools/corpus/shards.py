"""Shards of sentences as CoNLL-U without heads, which `dtg parse` reads, and what is recorded of each source."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from dtg.io.hashing import file_hash
from tools.corpus.overlap import treebank_sentences
from tools.corpus.sources import Sentence

COLUMNS = "\t_" * 8 + "\n"  # after the number and the word


@dataclass(slots=True)
class SourceRecord:
    """What became of a source."""

    name: str
    licence: str
    input_sha256: str
    settings: dict[str, Any]
    sentences: int = 0
    words: int = 0
    dev_sentences: int = 0
    dev_words: int = 0
    left_out: dict[str, int] = field(default_factory=dict)  # sentences, by reason
    left_out_words: dict[str, int] = field(default_factory=dict)
    short_overlap: dict[str, int] = field(default_factory=dict)  # sentences kept, by test set
    shards: dict[str, dict[str, Any]] = field(default_factory=dict)  # by file name: sentences, words, sha256

    def leave_out(self, reason: str, words: int) -> None:
        self.left_out[reason] = self.left_out.get(reason, 0) + 1
        self.left_out_words[reason] = self.left_out_words.get(reason, 0) + words

    def save(self, folder: Path) -> None:
        path = folder / f"{self.name}.json"
        partial = path.with_name(path.name + ".partial")
        partial.write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        partial.replace(path)

    @classmethod
    def load(cls, folder: Path, name: str) -> Self | None:
        path = folder / f"{name}.json"
        return cls(**json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else None

    def is_complete(self, folder: Path, input_sha256: str, settings: dict[str, Any]) -> bool:
        """Whether this is of the same input and settings, and every shard is there as it was written."""
        if (self.input_sha256, self.settings) != (input_sha256, settings):
            return False
        paths = {name: folder / "shards" / name for name in self.shards}
        return all(path.is_file() and file_hash(path) == self.shards[name]["sha256"] for name, path in paths.items())


class ShardWriter:
    """Writes the sentences of a source, a new file after so many words; a file has its name once it is complete."""

    def __init__(self, folder: Path, record: SourceRecord, shard_words: int) -> None:
        self.folder, self.record, self.shard_words = folder / "shards", record, shard_words
        self.folder.mkdir(parents=True, exist_ok=True)
        self._numbers = dict[str, int]()  # of sentences, by document
        self._train, self._dev = list[str](), list[str]()
        self._words, self._dev_words, self._shard = 0, 0, 0

    def write(self, sentence: Sentence, *, is_dev: bool) -> None:
        number = self._numbers[sentence.document] = self._numbers.get(sentence.document, 0) + 1
        lines = [f"{place}\t{word}{COLUMNS}" for place, word in enumerate(sentence.words, start=1)]
        block = f"# sent_id = {sentence.document}-{number}\n{''.join(lines)}\n"
        if is_dev:
            self._dev.append(block)
            self._dev_words += len(sentence.words)
            return
        self._train.append(block)
        self._words += len(sentence.words)
        if self._words >= self.shard_words:
            self._end_shard()

    def close(self) -> None:
        """Write what is left, and the record."""
        if self._train:
            self._end_shard()
        if self._dev:
            self._put(f"{self.record.name}-dev.conllu", self._dev, self._dev_words)
            self.record.dev_sentences, self.record.dev_words = len(self._dev), self._dev_words
        self.record.save(self.folder.parent)

    def _end_shard(self) -> None:
        self._put(f"{self.record.name}-{self._shard:03}.conllu", self._train, self._words)
        self.record.sentences += len(self._train)
        self.record.words += self._words
        self._train, self._words, self._shard = [], 0, self._shard + 1

    def _put(self, name: str, blocks: list[str], words: int) -> None:
        path = self.folder / name
        partial = path.with_name(name + ".partial")
        partial.write_text("".join(blocks), encoding="utf-8")
        partial.replace(path)
        self.record.shards[name] = {"sentences": len(blocks), "words": words, "sha256": file_hash(path)}


def read_shards(folder: Path, record: SourceRecord) -> Iterator[str]:
    """The sentences of a source that is complete, words joined by spaces."""
    for name in record.shards:
        yield from treebank_sentences(folder / "shards" / name)


def parsing_order(records: list[SourceRecord]) -> list[str]:
    """Shards so that any beginning of the list has about the same share of every source; those for dev come first."""
    placed, dev = list[tuple[float, str]](), list[str]()
    for record in records:
        names = [name for name in sorted(record.shards) if not name.endswith("-dev.conllu")]
        dev += sorted(set(record.shards) - set(names))
        placed += [((place + 0.5) / len(names), name) for place, name in enumerate(names)]
    return dev + [name for _, name in sorted(placed)]
