"""Phrase-structure treebanks as the training loop wants them: words, constituents with joint labels, tags."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dtg.errors import InputError
from dtg.parser.config import ParserConfig
from dtg.parser.data import NO_LABEL, SplitWords
from dtg.parser.encoder.subwords import Subwords
from dtg.parser.encoder.vocabulary import Ids, Vocabulary, WordBatch, pad
from dtg.trees import ConstituencyTree
from dtg.trees.phrases.binarization import JOIN, escaped, separated
from dtg.trees.phrases.nodes import Node

Constituent = tuple[int, int, str]  # first word, last word, joint label


@dataclass(frozen=True, slots=True)
class PhraseBatch:
    """Sentences with their constituents."""

    words: WordBatch
    nodes: Tensor  # (batch, most, 3) first word, last word, label (-1 if training has not seen it); -1 past the last
    tags: Tensor  # (batch, longest) NO_LABEL past the end, and where a tag is not known


class PhraseSplit:
    """The trees of one split by index."""

    def __init__(self, trees: Sequence[ConstituencyTree], vocabulary: Vocabulary) -> None:
        self._words = SplitWords([tree.words for tree in trees], vocabulary)
        labels, tags = vocabulary.label_ids, vocabulary.tag_ids
        # A label of dev that training has not seen cannot be predicted: its constituent may have any.
        self._nodes = [
            np.array([(first, last, labels.get(label, NO_LABEL)) for first, last, label in constituents(tree)])
            for tree in trees
        ]
        self._tags = [
            np.array([tags.get(tag, NO_LABEL) for tag in tree.tags or ("",) * len(tree)], dtype=np.int64)
            for tree in trees
        ]
        self.word_counts: Ids = self._words.counts
        self.hash = content_hash(trees)

    def __len__(self) -> int:
        return len(self._nodes)

    @property
    def piece_counts(self) -> Ids:
        """How long sentences are for the training loop, which counts subwords; here, words."""
        return self.word_counts

    def batch(self, indices: Any, device: Any) -> PhraseBatch:
        """The trees with these indices, in this order."""
        nodes = np.full((len(indices), max(len(self._nodes[index]) for index in indices), 3), -1, dtype=np.int64)
        for row, index in enumerate(indices):
            nodes[row, : len(self._nodes[index])] = self._nodes[index]
        tags = torch.from_numpy(pad([self._tags[index] for index in indices], NO_LABEL)).to(device)
        return PhraseBatch(self._words.batch(indices, device), torch.from_numpy(nodes).to(device), tags)


class PhraseCorpus:
    """What a span parser is trained on. `tokenizer`, as the training loop calls it, is the vocabulary that ids are from."""

    def __init__(self, trees: Mapping[str, Sequence[ConstituencyTree]], config: ParserConfig) -> None:
        if not trees["train"]:
            raise InputError("there are no training trees; name a treebank that has some.")
        subwords = Subwords.of(config.encoder) if config.is_pretrained else None
        labels, tags = Counter[str](), set[str]()
        for tree in trees["train"]:
            labels.update(label for _, _, label in constituents(tree))
            tags.update(tree.tags or ())
        known = sorted(label for label, count in labels.items() if count >= config.label_count)
        if not known:
            raise InputError(
                f"no label occurs {config.label_count} times in the training trees. Set label_count = 1, or add trees."
            )
        words = (tree.words for tree in trees["train"])
        self.tokenizer = Vocabulary.of_words(words, config.word_count, known, sorted(tags), subwords)
        self.rare_labels = len(labels) - len(known)
        self.splits = {name: PhraseSplit(some, self.tokenizer) for name, some in trees.items()}
        self.hash = hashlib.sha256("".join(split.hash for split in self.splits.values()).encode()).hexdigest()


def constituents(tree: ConstituencyTree) -> list[Constituent]:
    """The spans of a tree in preorder, a chain of nodes over the same words as one, with their labels joined: `S+VP`."""
    chains = dict[tuple[int, int], list[str]]()
    for node in tree.nodes:
        chains.setdefault((node.first, node.last), []).append(escaped(node.label))
    return [(first, last, JOIN.join(labels)) for (first, last), labels in chains.items()]


def nodes_of(found: Sequence[Constituent]) -> tuple[Node, ...]:
    """The way back: constituents in preorder as the nodes of a tree."""
    return tuple(Node(label, first, last) for first, last, joint in found for label in separated(joint))


def content_hash(trees: Sequence[ConstituencyTree]) -> str:
    """The same for the same trees in the same order."""
    digest = hashlib.sha256()
    for tree in trees:
        digest.update(repr((tree.words, tree.key, tree.tags)).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
