"""Treebanks as the training loop wants them: a corpus of splits that are counted and put into batches.

A treebank for a parser is small (EWT: 200,000 words), so it is kept in memory: ids of forms, heads and labels.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dtg.errors import InputError
from dtg.parser.config import ParserConfig
from dtg.parser.encoder.subwords import Subwords
from dtg.parser.encoder.vocabulary import Ids, Vocabulary, WordBatch, pad, tags_of
from dtg.trees import DependencyTree, require_projective

NO_LABEL = -1


@dataclass(frozen=True, slots=True)
class TreeBatch:
    """Sentences with their trees; -1 past the end."""

    words: WordBatch
    heads: Tensor  # (batch, longest)
    labels: Tensor  # (batch, longest) NO_LABEL also where a label is not known
    tags: Tensor  # (batch, longest) NO_LABEL also where a tag is not known


class SplitWords:
    """The words of the sentences of one split; each distinct word is spelt once."""

    def __init__(self, sentences: Sequence[Sequence[str]], vocabulary: Vocabulary) -> None:
        forms = {form: row for row, form in enumerate(dict.fromkeys(word for words in sentences for word in words))}
        self._word_ids = np.array([vocabulary.word_id(form) for form in forms])
        self._spelling = pad([vocabulary.spell(form) for form in forms], 0)
        self._forms = [np.array([forms[word] for word in words]) for words in sentences]
        self.counts: Ids = np.array([len(words) for words in sentences], dtype=np.int64)

    def batch(self, indices: Any, device: Any) -> WordBatch:
        """The words of the sentences with these indices, in this order."""
        rows = [self._forms[index] for index in indices]
        present, forms = np.unique(np.concatenate(rows), return_inverse=True)
        rows = np.split(forms, np.cumsum([len(row) for row in rows])[:-1])
        spelling = self._spelling[present]
        spelling = spelling[:, : int((spelling != 0).sum(1).max())]
        return WordBatch.of(rows, self._word_ids[present], spelling, device)


class ParserSplit:
    """The trees of one split by index."""

    def __init__(self, trees: Sequence[DependencyTree], vocabulary: Vocabulary) -> None:
        for tree in trees:
            require_projective(tree)
        self._words = SplitWords([tree.words for tree in trees], vocabulary)
        labels, tags = vocabulary.label_ids, vocabulary.tag_ids
        self._heads = [np.array(tree.heads) for tree in trees]
        # A label of dev that training has not seen cannot be predicted, and is left out of the loss.
        self._labels = [
            np.array([labels.get(label, NO_LABEL) for label in tree.labels or ("",) * len(tree)]) for tree in trees
        ]
        self._tags = [np.array([tags.get(tag, NO_LABEL) for tag in tags_of(tree)]) for tree in trees]
        self.word_counts: Ids = self._words.counts
        self.hash = content_hash(trees)

    def __len__(self) -> int:
        return len(self._heads)

    @property
    def piece_counts(self) -> Ids:
        """How long sentences are for the training loop, which counts subwords; here, words."""
        return self.word_counts

    def batch(self, indices: Any, device: Any) -> TreeBatch:
        """The trees with these indices, in this order."""
        columns = (self._heads, self._labels, self._tags)
        heads, labels, tags = (
            torch.from_numpy(pad([column[index] for index in indices], NO_LABEL)).to(device) for column in columns
        )
        return TreeBatch(self._words.batch(indices, device), heads, labels, tags)


class ParserCorpus:
    """What a parser is trained on. `tokenizer`, as the training loop calls it, is the vocabulary that ids are from."""

    def __init__(self, trees: Mapping[str, Sequence[DependencyTree]], config: ParserConfig) -> None:
        if not trees["train"]:
            raise InputError("there are no training trees; name a treebank that has some.")
        subwords = Subwords.of(config.encoder) if config.is_pretrained else None
        self.tokenizer = Vocabulary.of(trees["train"], config.word_count, subwords)
        self.splits = {name: ParserSplit(some, self.tokenizer) for name, some in trees.items()}
        self.hash = hashlib.sha256("".join(split.hash for split in self.splits.values()).encode()).hexdigest()


def content_hash(trees: Sequence[DependencyTree]) -> str:
    """The same for the same trees in the same order."""
    digest = hashlib.sha256()
    for tree in trees:
        digest.update(repr((tree.words, tree.heads, tree.labels, tags_of(tree))).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
