"""Encodes a stream of trees as the arrays of one split, a few thousand sentences in memory at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dtg.text.arrays import ARRAYS, DEPENDENCY_ARRAYS, PHRASE_ARRAYS, ArrayWriter, growing
from dtg.text.documents import DocumentBoundaries, sentence_id
from dtg.text.tokenizer import Tokenizer
from dtg.transitions.arcs.arc_swift import DEFAULT_LIMIT
from dtg.transitions.arcs.structure import Structure
from dtg.transitions.batch import ConstituencyColumns, DependencyColumns, SentenceBatch, offsets
from dtg.transitions.phrases import PhraseCounts
from dtg.transitions.shift_attach import ATTACH_LIMIT, held_constituents, merges_of
from dtg.transitions.top_down import MAX_CHAIN, MAX_OPEN
from dtg.trees import ConstituencyTree, DependencyTree
from dtg.trees.kinds import CONSTITUENCY, DEPENDENCY, TreeKind

SENTENCES_AT_ONCE = 2_000


@dataclass(slots=True)
class EncodingReport:
    """Counts that grow while a split is encoded."""

    pieces: int = 0  # subwords
    documents: int = 0


@dataclass(slots=True)
class DependencyReport(EncodingReport):
    """Of dependencies, what arc-swift can derive."""

    arc_swift_limit: int = DEFAULT_LIMIT
    beyond_arc_swift_limit: int = 0  # sentences with an arc farther than that
    farthest_arc_swift: int = 0  # the distance of the farthest arc


@dataclass(slots=True)
class PhraseReport(EncodingReport):
    """Of phrases, what the top-down system and shift-attach can derive within their usual limits."""

    phrases: int = 0
    max_open: int = MAX_OPEN
    beyond_max_open: int = 0  # sentences in which more phrases are open at once
    most_open: int = 0
    max_chain: int = MAX_CHAIN
    beyond_max_chain: int = 0  # sentences in which more phrases begin at one word
    longest_chain: int = 0
    attach_limit: int = ATTACH_LIMIT
    beyond_attach_limit: int = 0  # sentences that put more constituents on Pushdown's stack, subwords counted
    most_constituents: int = 0


class TreeEncoder(ABC):
    """Appends the trees of sentences to the arrays of their kind. `table` has the names that arrays hold as numbers.

    Args:
        table: of all splits; grows by the names that were not seen before.
    """

    arrays: ClassVar[dict[str, type[np.generic]]]
    table_name: ClassVar[str]  # in the manifest

    def __init__(self, table: dict[str, int]) -> None:
        self.table = table
        self.writers: dict[str, ArrayWriter] = {}
        self.report = self.new_report()

    def begin(self, writers: dict[str, ArrayWriter]) -> None:
        """Write a split into these arrays."""
        self.writers, self.report = writers, self.new_report()

    @abstractmethod
    def new_report(self) -> EncodingReport: ...

    @abstractmethod
    def add(self, trees: Sequence[Any], lengths: NDArray[np.int64], pieces: NDArray[np.int64]) -> None:
        """Some sentences: (sentences,) how many words each has, and (words,) how many subwords each word has."""

    def number(self, name: str) -> int:
        return self.table.setdefault(name, len(self.table))


class DependencyEncoder(TreeEncoder):
    """Heads and relations."""

    arrays = DEPENDENCY_ARRAYS
    table_name = "relations"
    report: DependencyReport

    def new_report(self) -> DependencyReport:
        return DependencyReport()

    def add(self, trees: Sequence[DependencyTree], lengths: NDArray[np.int64], pieces: NDArray[np.int64]) -> None:
        heads = np.fromiter(chain.from_iterable(tree.heads for tree in trees), np.int64)
        self.writers["heads"].append(heads)
        self.writers["relations"].append(
            np.array([self.number(label) for tree in trees for label in tree.labels or ()])
        )
        farthest = farthest_arcs(torch.from_numpy(heads), torch.from_numpy(lengths))
        self.report.beyond_arc_swift_limit += int((farthest > self.report.arc_swift_limit).sum())
        self.report.farthest_arc_swift = max(self.report.farthest_arc_swift, int(farthest.max()))


class PhraseEncoder(TreeEncoder):
    """Nodes in preorder: labels, first and last words."""

    arrays = PHRASE_ARRAYS
    table_name = "labels"
    report: PhraseReport

    def new_report(self) -> PhraseReport:
        return PhraseReport()

    def begin(self, writers: dict[str, ArrayWriter]) -> None:
        super().begin(writers)
        writers["node_starts"].append(np.zeros(1))

    def add(self, trees: Sequence[ConstituencyTree], lengths: NDArray[np.int64], pieces: NDArray[np.int64]) -> None:
        counts = np.array([len(tree.nodes) for tree in trees])
        nodes = [(self.number(node.label), node.first, node.last) for tree in trees for node in tree.nodes]
        label, first, last = np.array(nodes, np.int64).T
        self.writers["node_starts"].append(self.writers["node_label"].length + np.cumsum(counts))
        for name, values in (("node_label", label), ("node_first", first), ("node_last", last)):
            self.writers[name].append(values)
        self.report.phrases += len(nodes)
        starts = np.repeat(np.cumsum(lengths) - lengths, counts) - 1
        columns = ConstituencyColumns(
            torch.from_numpy(label),
            torch.from_numpy(first + starts),
            torch.from_numpy(last + starts),
            tuple(self.table),
        )
        self.measure(columns, torch.from_numpy(lengths), torch.from_numpy(pieces))

    def measure(self, columns: ConstituencyColumns, lengths: Tensor, pieces: Tensor) -> None:
        """Count the sentences that are beyond the limits."""
        batch = SentenceBatch(offsets(lengths), lengths.new_zeros(0), offsets(pieces), columns)
        counts, report = PhraseCounts.of(columns, batch.words), self.report
        found = [
            torch.zeros_like(lengths).scatter_reduce_(0, batch.sentence_of_word, values, "amax")
            for values in (counts.open, counts.begin, held_constituents(batch, merges_of(batch)))
        ]
        open_, chain_, held = found
        report.beyond_max_open += int((open_ > report.max_open).sum())
        report.beyond_max_chain += int((chain_ > report.max_chain).sum())
        report.beyond_attach_limit += int((held > report.attach_limit).sum())
        report.most_open = max(report.most_open, int(open_.max()))
        report.longest_chain = max(report.longest_chain, int(chain_.max()))
        report.most_constituents = max(report.most_constituents, int(held.max()))


ENCODERS: dict[str, type[TreeEncoder]] = {DEPENDENCY.name: DependencyEncoder, CONSTITUENCY.name: PhraseEncoder}


def encoder_for(kind: TreeKind) -> TreeEncoder:
    """An encoder for trees of this kind, with an empty table of names."""
    return ENCODERS[kind.name]({})


def encode_split(trees: Iterable[Any], folder: Path, tokenizer: Tokenizer, encoder: TreeEncoder) -> EncodingReport:
    """Write the arrays of a split into `folder`; the encoder's table grows by the names not seen before."""
    stream = iter(trees)
    with growing(folder, {**ARRAYS, **encoder.arrays}) as arrays:
        split = SplitEncoder(arrays, tokenizer, encoder)
        while chunk := list(islice(stream, SENTENCES_AT_ONCE)):
            split.add(chunk)
        split.finish()
    return encoder.report


class SplitEncoder:
    """Appends chunks of trees to the arrays of a split."""

    def __init__(self, arrays: dict[str, ArrayWriter], tokenizer: Tokenizer, encoder: TreeEncoder) -> None:
        self.arrays, self.tokenizer, self.encoder = arrays, tokenizer, encoder
        self.boundaries, self.sentences, self.words = DocumentBoundaries(), 0, 0
        for name in ("word_starts", "sentence_starts", "sentence_id_starts"):
            arrays[name].append(np.zeros(1))
        encoder.begin(arrays)

    def add(self, trees: Sequence[Any]) -> None:
        """Encode and write some sentences."""
        pieces = self.tokenizer.encode_all([word for tree in trees for word in tree.words])
        lengths = np.array([len(tree) for tree in trees])
        piece_counts = np.array([len(word) for word in pieces])
        self._append_ends("word_starts", self.arrays["pieces"].length, piece_counts)
        self._append_ends("sentence_starts", self.words, lengths)
        self.arrays["pieces"].append(np.fromiter(chain.from_iterable(pieces), np.int64))
        self.encoder.add(trees, lengths, piece_counts)
        self._add_names(trees)
        self.sentences += len(trees)
        self.words += len(pieces)
        self.encoder.report.pieces = self.arrays["pieces"].length

    def finish(self) -> None:
        """Close the last document."""
        self.encoder.report.documents = self.arrays["document_starts"].length
        self.arrays["document_starts"].append(np.array([self.sentences]))

    def _append_ends(self, starts: str, before: int, counts: NDArray[np.int64]) -> None:
        """Where each one ends, which is where the next begins, after `before` things that were written already."""
        self.arrays[starts].append(before + np.cumsum(counts))

    def _add_names(self, trees: Sequence[Any]) -> None:
        """Sentence ids, and where documents begin."""
        names, begins = [], []
        for number, tree in enumerate(trees, start=self.sentences):
            assert tree.source is not None  # these trees come from files
            names.append(sentence_id(tree.source))
            if self.boundaries.begins(tree.source, names[-1]):
                begins.append(number)
        spelt = [name.encode() for name in names]
        self._append_ends(
            "sentence_id_starts", self.arrays["sentence_ids"].length, np.array([len(name) for name in spelt])
        )
        self.arrays["sentence_ids"].append(np.frombuffer(b"".join(spelt), np.uint8))
        self.arrays["document_starts"].append(np.array(begins))


def farthest_arcs(heads: Tensor, lengths: Tensor) -> Tensor:
    """(sentences,) the greatest distance of an arc in arc-swift's derivation of each projective tree."""
    nothing = heads.new_zeros(0)
    batch = SentenceBatch(offsets(lengths), nothing, nothing, DependencyColumns(heads))
    distance = Structure.of(batch).distance
    return torch.zeros_like(lengths).scatter_reduce_(0, batch.sentence_of_word, distance, "amax")
