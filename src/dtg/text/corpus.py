"""A prepared corpus: its tokenizer and its memory-mapped splits, read from a folder that `prepare_corpus` wrote."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from dtg.errors import CorpusError, InputError
from dtg.text.arrays import ARRAYS, DEPENDENCY_ARRAYS, PHRASE_ARRAYS, open_array
from dtg.text.manifest import Manifest, check_files, kind_of, read_manifest
from dtg.text.tokenizer import Tokenizer
from dtg.text.words import ENGLISH
from dtg.transitions.batch import ConstituencyColumns, DependencyColumns, SentenceBatch, TreeColumns
from dtg.trees import ConstituencyTree, DependencyTree, Node
from dtg.trees.kinds import CONSTITUENCY, DEPENDENCY, TreeKind


class Corpus:
    """`splits` by name ("train", "dev", perhaps "test"), the `tokenizer`, and the `manifest` with counts and hashes.

    `kind` is that of the trees, dependency or constituency, and `labels` are those of phrases. `hash` identifies the content:
    the same input and options give the same one.
    """

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder, self.manifest = folder, manifest
        self.hash: str = manifest["hash"]
        self.kind = KINDS[kind_of(manifest)]
        self.labels: tuple[str, ...] = tuple(manifest.get("labels", ()))
        self.tokenizer = Tokenizer.load(folder / manifest["tokenizer"]["file"])
        self.splits: Mapping[str, Split] = MappingProxyType(
            {name: SPLITS[self.kind.name](name, folder, manifest, self.tokenizer) for name in manifest["splits"]}
        )

    @classmethod
    def open(cls, folder: str | Path) -> Corpus:
        """Open a folder after checking that it is complete; large files are checked by size (`verify` checks their hashes)."""
        folder = Path(folder)
        manifest = read_manifest(folder)
        check_files(folder, manifest, thorough=False)
        return cls(folder, manifest)

    def split(self, name: str) -> Split:
        """A split by name, or an error that says which there are."""
        if name not in self.splits:
            raise CorpusError(f"{self.folder} has no split {name!r}; it has {', '.join(self.splits)}.")
        return self.splits[name]

    @property
    def language(self) -> str:
        """Whose rules split raw text into words as those of the corpus are: a language code, or "none"."""
        return self.manifest["options"].get("language") or ENGLISH

    def verify(self) -> None:
        """Check the hash of every file."""
        check_files(self.folder, self.manifest, thorough=True)


class Split(ABC):
    """One split of a prepared corpus: sentences by index, from 0. Only what is asked for is read from disk."""

    arrays: ClassVar[Mapping[str, object]]  # those of its trees

    def __init__(self, name: str, folder: Path, manifest: Manifest, tokenizer: Tokenizer) -> None:
        self.name, self.tokenizer = name, tokenizer
        described = manifest["splits"][name]["arrays"]
        names = (*ARRAYS, *self.arrays)
        self._arrays = {array: open_array(folder / described[array]["file"]) for array in names}

    def __len__(self) -> int:
        return len(self._arrays["sentence_starts"]) - 1

    @cached_property
    def word_counts(self) -> NDArray[np.int64]:
        """(sentences,)"""
        counts: NDArray[np.int64] = np.diff(self._arrays["sentence_starts"])
        return counts

    @cached_property
    def piece_counts(self) -> NDArray[np.int64]:
        """(sentences,) the subwords of all words of each sentence."""
        counts: NDArray[np.int64] = np.diff(self._arrays["word_starts"][self._arrays["sentence_starts"]])
        return counts

    @property
    def document_starts(self) -> NDArray[np.int64]:
        """(documents + 1,) the first sentence of each document, and at the end the number of sentences."""
        return self._arrays["document_starts"]

    def batch(self, indices: Sequence[int] | NDArray[Any], device: torch.device | str = "cpu") -> SentenceBatch:
        """The sentences with these indices, in this order, without padding."""
        sentences = self._checked(indices)
        words, word_offsets = gather(self._arrays["sentence_starts"], sentences)
        pieces, piece_offsets = gather(self._arrays["word_starts"], words)
        return SentenceBatch(
            word_offsets=tensor(word_offsets, device),
            pieces=tensor(self._arrays["pieces"][pieces], device),
            piece_offsets=tensor(piece_offsets, device),
            columns=self._columns(sentences, words, word_offsets, device),
        )

    def pieces(self) -> tuple[NDArray[np.integer], NDArray[np.int64]]:
        """All subwords in order, and where sentences begin among them (sentences + 1,)."""
        starts: NDArray[np.int64] = self._arrays["word_starts"][self._arrays["sentence_starts"]]
        return self._arrays["pieces"], starts

    @abstractmethod
    def tree(self, index: int) -> Any:
        """One sentence as a tree of the corpus's kind, its words decoded from their subwords."""

    @abstractmethod
    def _columns(
        self,
        sentences: NDArray[np.int64],
        words: NDArray[np.int64],
        word_offsets: NDArray[np.int64],
        device: torch.device | str,
    ) -> TreeColumns:
        """The trees of some sentences, whose words are these and begin at these offsets in the batch."""

    def words(self, index: int) -> tuple[str, ...]:
        """The words of one sentence, decoded from their subwords."""
        first, last = self._bounds("sentence_starts", index)
        starts, pieces = self._arrays["word_starts"][first : last + 1].tolist(), self._arrays["pieces"]
        return tuple(self.tokenizer.decode(pieces[a:b].tolist()) for a, b in pairwise(starts))

    def sentence_id(self, index: int) -> str:
        """What the treebank calls the sentence; without a `# sent_id`, the file's name and a number."""
        first, last = self._bounds("sentence_id_starts", index)
        return self._arrays["sentence_ids"][first:last].tobytes().decode()

    def _bounds(self, starts: str, index: int) -> tuple[int, int]:
        self._checked([index])
        first, last = self._arrays[starts][index : index + 2].tolist()
        return first, last

    def _checked(self, indices: Sequence[int] | NDArray[Any]) -> NDArray[np.int64]:
        numbers = np.asarray(indices)
        if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu"):
            raise InputError(f"the indices of sentences are expected as a flat sequence of integers, not {indices!r}.")
        numbers = numbers.astype(np.int64)
        if wrong := numbers[(numbers < 0) | (numbers >= len(self))].tolist():
            raise InputError(f"there is no sentence {wrong[0]} in {self.name}: it has sentences 0 to {len(self) - 1}.")
        return numbers


class DependencySplit(Split):
    """A split with dependency trees."""

    arrays = DEPENDENCY_ARRAYS

    def __init__(self, name: str, folder: Path, manifest: Manifest, tokenizer: Tokenizer) -> None:
        super().__init__(name, folder, manifest, tokenizer)
        self._relations: Sequence[str] = manifest["relations"]

    def tree(self, index: int) -> DependencyTree:
        """One sentence with its heads and relations."""
        first, last = self._bounds("sentence_starts", index)
        return DependencyTree(
            self.words(index),
            tuple(self._arrays["heads"][first:last].tolist()),
            tuple(self._relations[relation] for relation in self._arrays["relations"][first:last].tolist()),
        )

    def _columns(
        self,
        sentences: NDArray[np.int64],
        words: NDArray[np.int64],
        word_offsets: NDArray[np.int64],
        device: torch.device | str,
    ) -> DependencyColumns:
        return DependencyColumns(tensor(self._arrays["heads"][words], device))


class PhraseSplit(Split):
    """A split with phrase-structure trees."""

    arrays = PHRASE_ARRAYS

    def __init__(self, name: str, folder: Path, manifest: Manifest, tokenizer: Tokenizer) -> None:
        super().__init__(name, folder, manifest, tokenizer)
        self._labels: tuple[str, ...] = tuple(manifest["labels"])

    def tree(self, index: int) -> ConstituencyTree:
        """One sentence with its phrases; tags are not kept."""
        first, last = self._bounds("node_starts", index)
        names = ("node_label", "node_first", "node_last")
        nodes = zip(*(self._arrays[name][first:last].tolist() for name in names), strict=True)
        return ConstituencyTree(self.words(index), tuple(Node(self._labels[label], a, b) for label, a, b in nodes))

    def _columns(
        self,
        sentences: NDArray[np.int64],
        words: NDArray[np.int64],
        word_offsets: NDArray[np.int64],
        device: torch.device | str,
    ) -> ConstituencyColumns:
        nodes, node_offsets = gather(self._arrays["node_starts"], sentences)
        before = np.repeat(word_offsets[:-1] - 1, np.diff(node_offsets))  # words are counted from 1 on disk
        label, first, last = (
            tensor(self._arrays[name][nodes] + shift, device)
            for name, shift in (("node_label", 0), ("node_first", before), ("node_last", before))
        )
        return ConstituencyColumns(label, first, last, self._labels)


KINDS: dict[str, TreeKind] = {kind.name: kind for kind in (DEPENDENCY, CONSTITUENCY)}
SPLITS: dict[str, type[Split]] = {DEPENDENCY.name: DependencySplit, CONSTITUENCY.name: PhraseSplit}


def gather(starts: NDArray[Any], which: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The indices of everything that belongs to `which`, in order, and where each one's begin among those."""
    first = starts[which]
    counts = starts[which + 1] - first
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    return np.repeat(first - offsets[:-1], counts) + np.arange(offsets[-1]), offsets


def tensor(values: NDArray[Any], device: torch.device | str) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(values, dtype=np.int64)).to(device)
