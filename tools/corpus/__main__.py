"""`python -m tools.corpus DATA --out FOLDER`: build the free corpus, one source after another.

A source that is complete is not built again: after an interruption, the same command resumes with the next one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from dtg.io.hashing import file_hash
from tools.corpus.overlap import TestSets, plain, read_test_sets
from tools.corpus.sentences import LONGEST, why_not
from tools.corpus.shards import ShardWriter, SourceRecord, parsing_order, read_shards
from tools.corpus.sources import SOURCES, Sentence, Source

REPEATABLE = 6  # sentences of fewer words may occur REPEATS times, longer ones once
REPEATS = 20
DEV_BLOCK, DEV_EVERY, DEV_PLACE = 100, 300, 150  # of blocks of 100 paragraphs, one of 300 is held out
PROGRESS_SECONDS = 10.0
VERSION = 1  # of the rules; another number builds everything again


class Duplicates:
    """The sentences so far, as hashes of their words in lower case."""

    def __init__(self) -> None:
        self._seen = Counter[bytes]()

    def add(self, words: list[str]) -> bool:
        """Take a sentence; whether it has been there too often."""
        key = hashlib.blake2b(" ".join(words).encode("utf-8", "surrogatepass"), digest_size=8).digest()
        self._seen[key] += 1
        return self._seen[key] > (REPEATS if len(words) < REPEATABLE else 1)


def is_held_out(sentence: Sentence) -> bool:
    return sentence.paragraph // DEV_BLOCK % DEV_EVERY == DEV_PLACE


def build_source(
    source: Source, path: Path, out: Path, record: SourceRecord, tests: TestSets, seen: Duplicates, shard_words: int
) -> None:
    """Write the shards of a source; what is left out is counted by reason."""
    writer = ShardWriter(out, record, shard_words)
    shown = time.monotonic()
    for number, sentence in enumerate(source.read(path)):
        if time.monotonic() - shown > PROGRESS_SECONDS:
            shown = time.monotonic()
            print(f"{source.name}: {number:,} sentences read, {len(record.shards)} shards", file=sys.stderr, flush=True)
        reason = why_not(sentence.text, sentence.words, is_prose=source.is_prose)
        words = plain(" ".join(sentence.words))
        if reason is None and (name := tests.share(words)):
            reason = f"in {name}"
        if reason is None and seen.add(
            words
        ):  # of those that are kept only, so that they can be counted again from the shards
            reason = "duplicate"
        if reason is not None:
            record.leave_out(reason, len(sentence.words))
            continue
        if name := tests.touch(words):
            record.short_overlap[name] = record.short_overlap.get(name, 0) + 1
        writer.write(sentence, is_dev=is_held_out(sentence))
    writer.close()


def build(data: Path, out: Path, shard_words: int, sources: tuple[Source, ...] = SOURCES) -> dict[str, object]:
    """Build what is not there yet.

    Args:
        data: a folder as DTG_DATA names it.
        out: of the shards, a record of each source, `manifest.json`, and `order.txt`.
        shard_words: a shard ends with the sentence that reaches this many words.
        sources: what to build it from.

    Returns:
        The manifest.
    """
    settings = {
        "version": VERSION, "longest": LONGEST, "repeatable": REPEATABLE, "repeats": REPEATS, "shard_words": shard_words,
    }  # fmt: skip
    for source in sources:
        if not (data / source.path).is_file():
            raise SystemExit(f"{data / source.path} is missing; a folder with the data of docs/data.md is expected.")
    out.mkdir(parents=True, exist_ok=True)
    tests, seen, records = read_test_sets(data), Duplicates(), list[SourceRecord]()
    for source in sources:
        input_sha256 = file_hash(data / source.path)
        record = SourceRecord.load(out, source.name)
        if record is not None and record.is_complete(out, input_sha256, settings):
            print(f"{source.name}: complete, {record.words:,} words", file=sys.stderr)
            for text in read_shards(out, record):
                seen.add(plain(text))
        else:
            record = SourceRecord(source.name, source.licence, input_sha256, settings)
            build_source(source, data / source.path, out, record, tests, seen, shard_words)
        records.append(record)
    order = parsing_order(records)
    manifest: dict[str, object] = {
        "sentences": sum(record.sentences for record in records),
        "words": sum(record.words for record in records),
        "test_sets": dict(tests.sentences),
        "sources": [asdict(record) for record in records],
    }
    (out / "order.txt").write_text("".join(f"{name}\n" for name in order), encoding="utf-8")
    (out / "manifest.json").write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return manifest


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m tools.corpus", description=__doc__.splitlines()[0])
    options.add_argument("data", type=Path, help="the folder of the texts and the test sets")
    options.add_argument("--out", type=Path, required=True, help="the folder of the corpus")
    options.add_argument("--shard-words", type=int, default=250_000, help="words of a shard (250,000)")
    given = options.parse_args()
    manifest = build(given.data, given.out, given.shard_words)
    print(f"{manifest['sentences']:,} sentences, {manifest['words']:,} words in {given.out / 'shards'}")


if __name__ == "__main__":
    main()
