"""An index of a CoNLL-U file by the words of its sentences, so that trees are found without keeping the file in memory.

An entry is a run of trees of the same words. Compressed files are unpacked into a temporary file, where any offset can be read.
"""

from __future__ import annotations

import codecs
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from dtg.errors import InputError, TreebankError
from dtg.trees import conllu
from dtg.trees.conllu import COLUMNS, DEPREL, FORM, HEAD


@dataclass(frozen=True, slots=True)
class TreeRun:
    """Where consecutive trees of one sentence are."""

    offset: int  # of the first one's first byte
    line: int  # the same as a line, from 1
    sentence: int  # the first one's number in the file, from 1
    trees: int


@dataclass(frozen=True, slots=True)
class TreeIndex:
    """Runs of trees by a hash of their words. Those of equal hash are next to each other, in the file's order."""

    hashes: NDArray[np.int64]  # ascending
    runs: NDArray[np.int64]  # (runs, 4) as `TreeRun` has them

    def find(self, words: Sequence[bytes]) -> Iterator[TreeRun]:
        """The runs of these words, and perhaps of others with the same hash."""
        key = key_of(words)
        first, last = (np.searchsorted(self.hashes, key, side) for side in ("left", "right"))
        return (TreeRun(*row) for row in self.runs[first:last].tolist())


def index_of(path: Path, file: BinaryIO, *, keep_repeats: bool) -> TreeIndex:
    """Read the file once, for its words and heads. Without repeats, a tree that stands alone is found where it stands first."""
    hashes, trees, runs, before = array("q"), array("q"), array("q"), list[bytes]()
    for sentence, (offset, line, block) in enumerate(read_blocks(file), start=1):
        words, heads = list[bytes](), list[bytes]()
        for number, raw in enumerate(block):
            if raw.startswith(b"#"):
                continue
            fields = raw.split(b"\t", DEPREL)
            if len(fields) <= DEPREL:
                reason = f"the line has {len(fields)} columns; {COLUMNS} are expected, with tabs between them."
                raise TreebankError(path, sentence, line + number, reason, "Fix the line, or name a CoNLL-U file.")
            if fields[0].isdigit():
                words.append(fields[FORM])
                heads.append(fields[HEAD])
        if not words:
            raise TreebankError(path, sentence, line, "the sentence is empty: it has no words.", "Remove it.")
        if words == before:
            runs[-1] += 1
        else:
            hashes.append(key_of(words))
            trees.append(key_of([*words, *heads]))
            runs.extend((offset, line, sentence, 1))
        before = words
    if not hashes:
        raise InputError(f"{path} has no trees.")
    keys = np.frombuffer(hashes, np.int64)
    table = np.frombuffer(runs, np.int64).reshape(-1, 4)
    kept = np.arange(len(keys))
    if not keep_repeats:
        alone = table[:, 3] == 1
        first = np.unique(np.frombuffer(trees, np.int64)[alone], return_index=True)[1]
        kept = np.sort(np.concatenate([kept[~alone], kept[alone][first]]))
    order = kept[np.argsort(keys[kept], kind="stable")]
    return TreeIndex(keys[order], table[order])


def key_of(fields: Sequence[bytes]) -> int:
    """A hash of sentences and trees, the same in this process only."""
    return hash(tuple(fields))


def read_blocks(file: BinaryIO, offset: int = 0, line: int = 1) -> Iterator[tuple[int, int, list[bytes]]]:
    """(offset of its first byte, number of its first line, lines) of each sentence, from one that begins here."""
    for block in conllu.read_blocks(file, offset, line):
        if block.lines and block.first_line == 1:
            block.lines[0] = block.lines[0].removeprefix(codecs.BOM_UTF8)
        if block.lines:
            yield block.offset, block.first_line, block.lines
