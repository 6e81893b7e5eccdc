"""Many sentences at once, flat: trees and pieces in, one long tensor of everything with offsets out.

Flat means without padding: the words of all sentences stand one after another, and `word_offsets` says where each
sentence begins. Derivations are laid out the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import torch
from torch import Tensor

from dtg.errors import InputError
from dtg.transitions.action import Action, Operation
from dtg.trees import DependencyTree


@dataclass(frozen=True, slots=True)
class SentenceBatch:
    """Trees with the pieces of their words. Words are numbered within their sentence, as in a `DependencyTree`."""

    heads: Tensor  # (words,)
    word_offsets: Tensor  # (sentences + 1,)
    pieces: Tensor  # (pieces,)
    piece_offsets: Tensor  # (words + 1,)

    @classmethod
    def of(
        cls,
        trees: Sequence[DependencyTree],
        pieces: Sequence[Sequence[Sequence[int]]],
        device: torch.device | str = "cpu",
    ) -> SentenceBatch:
        """From trees and, for each, the pieces of every word."""
        for tree, words in zip(trees, pieces, strict=True):
            check_pieces(tree, words)
        flat = list(chain.from_iterable(pieces))
        return cls(
            heads=torch.tensor(list(chain.from_iterable(tree.heads for tree in trees)), device=device),
            word_offsets=offsets(torch.tensor([len(tree) for tree in trees], device=device)),
            pieces=torch.tensor(list(chain.from_iterable(flat)), device=device),
            piece_offsets=offsets(torch.tensor([len(word) for word in flat], device=device)),
        )

    def trees(self) -> list[DependencyTree]:
        """The trees again, with numbers for words."""
        heads, bounds = self.heads.tolist(), self.word_offsets.tolist()
        sentences = [heads[start:end] for start, end in pairwise(bounds)]
        return [DependencyTree(tuple(str(n + 1) for n in range(len(s))), tuple(s)) for s in sentences]

    @property
    def device(self) -> torch.device:
        return self.heads.device

    @property
    def piece_counts(self) -> Tensor:
        """(words,) how many pieces each word has."""
        return self.piece_offsets.diff()

    @property
    def sentence_of_word(self) -> Tensor:
        """(words,)"""
        lengths = self.word_offsets.diff()
        return torch.repeat_interleave(torch.arange(lengths.shape[0], device=self.device), lengths)

    @property
    def global_heads(self) -> Tensor:
        """(words,) each word's head as a place in this batch; -1 for `<ROOT>`."""
        return torch.where(self.heads > 0, self.heads - 1 + self.word_offsets[self.sentence_of_word], -1)

    @property
    def last_words(self) -> Tensor:
        """(sentences,) the place of each sentence's last word."""
        return self.word_offsets[1:] - 1


@dataclass(frozen=True, slots=True)
class ActionBatch:
    """The derivations of many sentences, `<END>` included, one after another."""

    operation: Tensor  # (actions,)
    piece: Tensor  # (actions,) what GEN generates; -1 elsewhere
    starts_word: Tensor  # (actions,) bool
    distance: Tensor  # (actions,) 1 where arcs carry none
    offsets: Tensor  # (sentences + 1,)


def expand(batch: SentenceBatch, operation: Tensor, count: Tensor, distance: Tensor | None = None) -> ActionBatch:
    """Derivations from runs of equal operations: (runs,) operations in order, how often each, and at which distance.

    GEN runs are as long as their word has pieces, and there is one for each word, in order.
    """
    device = batch.device
    run = torch.repeat_interleave(torch.arange(operation.shape[0], device=device), count)
    operations = operation[run]
    generates = operations == Operation.GEN
    piece = torch.full_like(operations, -1)
    piece[generates] = batch.pieces
    starts = torch.zeros_like(batch.pieces, dtype=torch.bool)
    starts[batch.piece_offsets[:-1]] = True
    starts_word = torch.zeros_like(generates)
    starts_word[generates] = starts
    ends = (operations == Operation.END).nonzero().squeeze(1) + 1
    distances = torch.ones_like(operations) if distance is None else distance[run]
    return ActionBatch(operations, piece, starts_word, distances, torch.cat([ends.new_zeros(1), ends]))


def expand_actions(batch: SentenceBatch, derivations: Sequence[Sequence[Action]]) -> ActionBatch:
    """Derivations given action by action, each GEN being one word."""
    actions = list(chain.from_iterable(derivations))
    operation = torch.tensor([action.operation for action in actions], device=batch.device)
    distance = torch.tensor([action.distance or 1 for action in actions], device=batch.device)
    count = torch.ones_like(operation)
    count[operation == Operation.GEN] = batch.piece_counts
    return expand(batch, operation, count, distance)


def offsets(lengths: Tensor) -> Tensor:
    """0 and the running total of lengths."""
    return torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])


def check_pieces(tree: DependencyTree, pieces: Sequence[Sequence[object]]) -> None:
    """Raise unless there is at least one piece for each word."""
    if len(pieces) != len(tree):
        raise InputError(f"the sentence has {len(tree)} words, but pieces are given for {len(pieces)}.")
    for number, (word, split) in enumerate(zip(tree.words, pieces, strict=True), start=1):
        if not len(split):
            raise InputError(f"word {number}, {word!r}, has no pieces; every word needs at least one.")
