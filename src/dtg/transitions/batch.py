"""Many sentences at once, flat: the words of all of them one after another, and offsets that say where each begins.

Flat means without padding. Trees travel as columns of their own kind, from which a transition system makes derivations;
derivations are laid out the same way.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import Any, Protocol

import torch
from torch import Tensor

from dtg.errors import InputError
from dtg.transitions.action import NOTHING, Action
from dtg.transitions.table import FINISH, GENERATE, ActionTable
from dtg.trees.kinds import Tree
from dtg.trees.phrases.binarization import BinaryTree
from dtg.trees.phrases.constituency import ConstituencyTree, Node
from dtg.trees.tree import DependencyTree


class TreeColumns(Protocol):
    """The trees of a batch as tensors."""

    def trees(self, word_offsets: Tensor) -> list[Any]:
        """The trees again, with numbers for words."""


@dataclass(frozen=True, slots=True)
class DependencyColumns:
    """Dependency trees. Words are numbered within their sentence, as in a `DependencyTree`."""

    heads: Tensor  # (words,)

    @classmethod
    def of(cls, trees: Sequence[DependencyTree], device: torch.device | str) -> DependencyColumns:
        return cls(torch.tensor(list(chain.from_iterable(tree.heads for tree in trees)), device=device))

    def trees(self, word_offsets: Tensor) -> list[DependencyTree]:
        heads = self.heads.tolist()
        sentences = [heads[start:end] for start, end in pairwise(word_offsets.tolist())]
        return [DependencyTree(tuple(str(n + 1) for n in range(len(s))), tuple(s)) for s in sentences]


@dataclass(frozen=True, slots=True)
class ConstituencyColumns:
    """Phrase-structure trees: their nodes in preorder, one sentence after another."""

    label: Tensor  # (nodes,) an index in `names`
    first: Tensor  # (nodes,) the first word, as an index in the batch
    last: Tensor  # (nodes,) the last one
    names: tuple[str, ...]

    @classmethod
    def of(cls, trees: Sequence[ConstituencyTree], device: torch.device | str) -> ConstituencyColumns:
        names = tuple(sorted({node.label for tree in trees for node in tree.nodes}))
        number = {name: place for place, name in enumerate(names)}
        starts = accumulate((len(tree) for tree in trees), initial=0)
        nodes = [
            (number[node.label], start + node.first - 1, start + node.last - 1)
            for tree, start in zip(trees, starts, strict=False)
            for node in tree.nodes
        ]
        label, first, last = torch.tensor(nodes, device=device).view(-1, 3).unbind(1)
        return cls(label, first, last, names)

    def trees(self, word_offsets: Tensor) -> list[ConstituencyTree]:
        bounds: list[int] = word_offsets.tolist()
        nodes: list[list[Node]] = [[] for _ in bounds[1:]]
        for label, first, last in zip(self.label.tolist(), self.first.tolist(), self.last.tolist(), strict=True):
            sentence = bisect_right(bounds, first) - 1
            start = bounds[sentence] - 1
            nodes[sentence].append(Node(self.names[label], first - start, last - start))
        sizes = [end - start for start, end in pairwise(bounds)]
        return [
            ConstituencyTree(tuple(str(n + 1) for n in range(size)), tuple(some))
            for size, some in zip(sizes, nodes, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class BinaryColumns:
    """Unlabelled binary trees: the spans of more than one word, in preorder, one sentence after another."""

    first: Tensor  # (spans,) the first word, as an index in the batch
    last: Tensor  # (spans,) the last one

    @classmethod
    def of(cls, trees: Sequence[BinaryTree], device: torch.device | str) -> BinaryColumns:
        starts = accumulate((len(tree) for tree in trees), initial=0)
        spans = [
            (start + first - 1, start + last - 1)
            for tree, start in zip(trees, starts, strict=False)
            for first, last in tree.spans
        ]
        first, last = torch.tensor(spans, dtype=torch.long, device=device).view(-1, 2).unbind(1)
        return cls(first, last)

    def trees(self, word_offsets: Tensor) -> list[BinaryTree]:
        bounds: list[int] = word_offsets.tolist()
        spans: list[list[tuple[int, int]]] = [[] for _ in bounds[1:]]
        for first, last in zip(self.first.tolist(), self.last.tolist(), strict=True):
            sentence = bisect_right(bounds, first) - 1
            start = bounds[sentence] - 1
            spans[sentence].append((first - start, last - start))
        sizes = [end - start for start, end in pairwise(bounds)]
        return [
            BinaryTree(tuple(str(n + 1) for n in range(size)), tuple(some))
            for size, some in zip(sizes, spans, strict=True)
        ]


# How trees of each type become columns: a new kind of tree is one entry here.
COLUMNS: dict[type, Callable[[Sequence[Any], torch.device | str], TreeColumns]] = {
    DependencyTree: DependencyColumns.of,
    ConstituencyTree: ConstituencyColumns.of,
    BinaryTree: BinaryColumns.of,
}


@dataclass(frozen=True, slots=True)
class SentenceBatch:
    """The subwords of sentences, and their trees where there are any."""

    word_offsets: Tensor  # (sentences + 1,)
    pieces: Tensor  # (pieces,)
    piece_offsets: Tensor  # (words + 1,)
    columns: TreeColumns | None = None  # what derivations are made from; None for words alone

    @classmethod
    def of(
        cls,
        trees: Sequence[Tree],
        pieces: Sequence[Sequence[Sequence[int]]],
        device: torch.device | str = "cpu",
    ) -> SentenceBatch:
        """From trees of one kind and, for each, the subwords of every word."""
        for tree, words in zip(trees, pieces, strict=True):
            check_pieces(tree.words, words)
        columns = COLUMNS[type(trees[0])](trees, device) if trees else None
        return cls.of_words(pieces, device, columns)

    @classmethod
    def of_words(
        cls,
        pieces: Sequence[Sequence[Sequence[int]]],
        device: torch.device | str = "cpu",
        columns: TreeColumns | None = None,
    ) -> SentenceBatch:
        """From the subwords of every word of each sentence."""
        flat = list(chain.from_iterable(pieces))
        return cls(
            word_offsets=offsets(torch.tensor([len(words) for words in pieces], device=device)),
            pieces=torch.tensor(list(chain.from_iterable(flat)), device=device),
            piece_offsets=offsets(torch.tensor([len(word) for word in flat], device=device)),
            columns=columns,
        )

    def trees(self) -> list[Any]:
        """The trees again, with numbers for words."""
        if self.columns is None:
            raise InputError("these sentences have no trees, and a derivation of their trees is asked for.")
        return self.columns.trees(self.word_offsets)

    @property
    def device(self) -> torch.device:
        return self.pieces.device

    @property
    def words(self) -> int:
        """The number of words of all sentences."""
        return self.piece_offsets.shape[0] - 1

    @property
    def piece_counts(self) -> Tensor:
        """(words,) how many subwords each word has."""
        return self.piece_offsets.diff()

    @property
    def sentence_of_word(self) -> Tensor:
        """(words,)"""
        lengths = self.word_offsets.diff()
        return torch.repeat_interleave(torch.arange(lengths.shape[0], device=self.device), lengths)

    @property
    def last_words(self) -> Tensor:
        """(sentences,) the index of each sentence's last word."""
        return self.word_offsets[1:] - 1


@dataclass(frozen=True, slots=True)
class ActionBatch:
    """The derivations of many sentences, `<END>` included, one after another."""

    id: Tensor  # (actions,) in the system's `ActionTable`
    piece: Tensor  # (actions,) what GEN generates; NOTHING elsewhere
    starts_word: Tensor  # (actions,) bool
    offsets: Tensor  # (sentences + 1,)


def expand(batch: SentenceBatch, ids: Tensor, count: Tensor) -> ActionBatch:
    """Derivations from runs of equal actions: (runs,) their ids in order, and how often each.

    GEN runs are as long as their word has subwords, and there is one for each word, in order.
    """
    device = batch.device
    run = torch.repeat_interleave(torch.arange(ids.shape[0], device=device), count)
    actions = ids[run]
    generates = actions == GENERATE
    piece = torch.full_like(actions, NOTHING)
    piece[generates] = batch.pieces
    starts = torch.zeros_like(batch.pieces, dtype=torch.bool)
    starts[batch.piece_offsets[:-1]] = True
    starts_word = torch.zeros_like(generates)
    starts_word[generates] = starts
    ends = (actions == FINISH).nonzero().squeeze(1) + 1
    return ActionBatch(actions, piece, starts_word, torch.cat([ends.new_zeros(1), ends]))


def expand_actions(table: ActionTable, batch: SentenceBatch, derivations: Sequence[Sequence[Action]]) -> ActionBatch:
    """Derivations given action by action, each GEN being one word."""
    ids = torch.tensor([table.id_of(action) for action in chain.from_iterable(derivations)], device=batch.device)
    count = torch.ones_like(ids)
    count[ids == GENERATE] = batch.piece_counts
    return expand(batch, ids, count)


def offsets(lengths: Tensor) -> Tensor:
    """0 and the running total of lengths."""
    return torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])


def check_pieces(words: Sequence[str], pieces: Sequence[Sequence[object]]) -> None:
    """Raise unless there is at least one subword for each word."""
    if len(pieces) != len(words):
        raise InputError(f"the sentence has {len(words)} words, but pieces are given for {len(pieces)}.")
    for number, (word, split) in enumerate(zip(words, pieces, strict=True), start=1):
        if not len(split):
            raise InputError(f"word {number}, {word!r}, has no pieces; every word needs at least one.")
