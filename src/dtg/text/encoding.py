"""Encodes a stream of trees as the arrays of one split, a few thousand sentences in memory at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from dtg.text.arrays import ARRAYS, ArrayWriter, growing
from dtg.text.documents import DocumentBoundaries, sentence_id
from dtg.text.tokenizer import Tokenizer
from dtg.transitions.arc_swift import DEFAULT_LIMIT
from dtg.transitions.batch import DependencyColumns, SentenceBatch, offsets
from dtg.transitions.structure import Structure
from dtg.trees import DependencyTree

SENTENCES_AT_ONCE = 2_000


@dataclass(slots=True)
class EncodingReport:
    """Counts that grow while a split is encoded."""

    pieces: int = 0  # subwords
    documents: int = 0
    arc_swift_limit: int = DEFAULT_LIMIT
    beyond_arc_swift_limit: int = 0  # sentences with an arc farther than that
    farthest_arc_swift: int = 0  # the distance of the farthest arc


def encode_split(
    trees: Iterable[DependencyTree], folder: Path, tokenizer: Tokenizer, relations: dict[str, int]
) -> EncodingReport:
    """Write the arrays of a split into `folder`; `relations` grows by those not seen before."""
    report, stream = EncodingReport(), iter(trees)
    with growing(folder, ARRAYS) as arrays:
        encoder = SplitEncoder(arrays, tokenizer, relations, report)
        while chunk := list(islice(stream, SENTENCES_AT_ONCE)):
            encoder.add(chunk)
        encoder.finish()
    return report


class SplitEncoder:
    """Appends chunks of trees to the arrays of a split."""

    def __init__(
        self,
        arrays: dict[str, ArrayWriter],
        tokenizer: Tokenizer,
        relations: dict[str, int],
        report: EncodingReport,
    ) -> None:
        self.arrays, self.tokenizer, self.relations, self.report = arrays, tokenizer, relations, report
        self.boundaries, self.sentences = DocumentBoundaries(), 0
        for name in ("word_starts", "sentence_starts", "sentence_id_starts"):
            arrays[name].append(np.zeros(1))

    def add(self, trees: Sequence[DependencyTree]) -> None:
        """Encode and write some sentences."""
        pieces = self.tokenizer.encode_all([word for tree in trees for word in tree.words])
        heads = np.fromiter(chain.from_iterable(tree.heads for tree in trees), np.int64)
        lengths = np.array([len(tree) for tree in trees])
        self._append_ends("word_starts", "pieces", np.array([len(word) for word in pieces]))
        self._append_ends("sentence_starts", "heads", lengths)
        self.arrays["pieces"].append(np.fromiter(chain.from_iterable(pieces), np.int64))
        self.arrays["heads"].append(heads)
        self.arrays["relations"].append(
            np.array([self._relation(label) for tree in trees for label in tree.labels or ()])
        )
        self._add_names(trees)
        self._measure_arcs(heads, lengths)
        self.sentences += len(trees)
        self.report.pieces = self.arrays["pieces"].length

    def finish(self) -> None:
        """Close the last document."""
        self.report.documents = self.arrays["document_starts"].length
        self.arrays["document_starts"].append(np.array([self.sentences]))

    def _append_ends(self, starts: str, things: str, counts: NDArray[np.int64]) -> None:
        """Where each one ends, which is where the next begins; called before the things themselves are written."""
        self.arrays[starts].append(self.arrays[things].length + np.cumsum(counts))

    def _relation(self, label: str) -> int:
        return self.relations.setdefault(label, len(self.relations))

    def _add_names(self, trees: Sequence[DependencyTree]) -> None:
        """Sentence ids, and where documents begin."""
        names, begins = [], []
        for number, tree in enumerate(trees, start=self.sentences):
            assert tree.source is not None  # these trees come from files
            names.append(sentence_id(tree.source))
            if self.boundaries.begins(tree.source, names[-1]):
                begins.append(number)
        spelt = [name.encode() for name in names]
        self._append_ends("sentence_id_starts", "sentence_ids", np.array([len(name) for name in spelt]))
        self.arrays["sentence_ids"].append(np.frombuffer(b"".join(spelt), np.uint8))
        self.arrays["document_starts"].append(np.array(begins))

    def _measure_arcs(self, heads: NDArray[np.int64], lengths: NDArray[np.int64]) -> None:
        """Count the sentences that arc-swift cannot derive within its limit."""
        farthest = farthest_arcs(torch.from_numpy(heads), torch.from_numpy(lengths))
        self.report.beyond_arc_swift_limit += int((farthest > self.report.arc_swift_limit).sum())
        self.report.farthest_arc_swift = max(self.report.farthest_arc_swift, int(farthest.max()))


def farthest_arcs(heads: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """(sentences,) the greatest distance of an arc in arc-swift's derivation of each projective tree."""
    nothing = heads.new_zeros(0)
    batch = SentenceBatch(offsets(lengths), nothing, nothing, DependencyColumns(heads))
    distance = Structure.of(batch).distance
    return torch.zeros_like(lengths).scatter_reduce_(0, batch.sentence_of_word, distance, "amax")
