"""An index of a file of trees by the words of its sentences, so that trees are found without keeping the file in memory.

An entry is a run of trees of the same words. Compressed files are unpacked into a temporary file, where any offset can be read.
"""

from __future__ import annotations

import codecs
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from dtg.errors import InputError, TreebankError
from dtg.trees import conllu
from dtg.trees.conllu import COLUMNS, DEPREL, FORM, HEAD, SentenceProblem
from dtg.trees.phrases.bracket_lines import parse_block, read_bracket_blocks
from dtg.trees.phrases.brackets import BracketedTree, BracketPolicy


@dataclass(frozen=True, slots=True)
class TreeRun:
    """Where consecutive trees of one sentence are."""

    offset: int  # of the first one's first byte
    line: int  # the same as a line, from 1
    sentence: int  # the first one's number in the file, from 1
    trees: int
    place: int = 0  # of the first one, among trees that begin at that byte


@dataclass(frozen=True, slots=True)
class TreeIndex:
    """Runs of trees by a hash of their words. Those of equal hash are next to each other, in the file's order."""

    hashes: NDArray[np.int64]  # ascending
    runs: NDArray[np.int64]  # (runs, 4 or 5) as `TreeRun` has them

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


def index_of_brackets(path: Path, file: BinaryIO, policy: BracketPolicy) -> TreeIndex:
    """Read a file in brackets once, for its words. Trees of one sentence that follow each other are one run."""
    file.seek(0)
    offsets = array("q", accumulate((len(raw) for raw in file), initial=0))  # of each line
    hashes, runs, before = array("q"), array("q"), list[bytes]()
    for sentence, (line, place, reading) in enumerate(read_phrases(path, file, policy), start=1):
        words = [word.encode() for word in reading.words]
        if words == before and words:
            runs[-2] += 1
        elif words:
            hashes.append(key_of(words))
            runs.extend((offsets[line - 1], line, sentence, 1, place))
        before = words
    if not hashes:
        raise InputError(f"{path} has no trees.")
    keys = np.frombuffer(hashes, np.int64)
    order = np.argsort(keys, kind="stable")
    return TreeIndex(keys[order], np.frombuffer(runs, np.int64).reshape(-1, 5)[order])


def read_phrases(
    path: Path, file: BinaryIO, policy: BracketPolicy, run: TreeRun | None = None
) -> Iterator[tuple[int, int, BracketedTree]]:
    """The trees of a run, or of the whole file: (line where its block begins, its place in the block, tree).

    Trees without words, all of which are traces, are among them.
    """
    file.seek(run.offset if run else 0)
    sentence, left = (run.sentence - run.place if run else 1), (run.trees if run else None)
    for block in read_bracket_blocks(file, run.line if run else 1):
        line = block.lines[0][0] if block.lines else block.end
        try:
            for place, brackets in enumerate(parse_block(block)):
                if run is None or sentence >= run.sentence:
                    yield line, place, BracketedTree(brackets, policy)
                    left = None if left is None else left - 1
                sentence += 1
                if left == 0:
                    return
        except SentenceProblem as problem:
            advice = f"{problem.advice.removesuffix(',')}; trees to be proposed must be whole."
            raise TreebankError(path, sentence, problem.line, problem.reason, advice) from None


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
