"""What batched oracles need to know of projective trees, for a whole batch of them without a loop over words.

The *right spine* of a word is the chain word → its last right dependent → that one's last right dependent → ... Whoever
is on it is exactly what arc-eager and arc-swift find on the stack above the word once its subtree has been read.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from dtg.errors import InputError
from dtg.transitions.action import Operation
from dtg.transitions.batch import DependencyColumns, SentenceBatch
from dtg.transitions.table import FINISH, GENERATE, ActionTable


@dataclass(frozen=True, slots=True)
class Structure:
    """Places are positions in the batch, not numbers within a sentence."""

    place: Tensor  # (words,) 0, 1, 2, ...
    head: Tensor  # (words,) place of the head, -1 for <ROOT>
    is_left: Tensor  # (words,) bool: the head is on the right, so that a LEFTARC attaches the word
    right_edge: Tensor  # (words,) place of the last word of its subtree
    spine: Tensor  # (words,) how many words are on its right spine, itself not counted
    passed: Tensor  # (words,) words above its head on the stack when a RIGHTARC attaches the word

    @classmethod
    def of(cls, batch: SentenceBatch) -> Structure:
        head = global_heads(batch)
        place = torch.arange(head.shape[0], device=batch.device)
        is_left = head > place
        right_edge, spine = right_spines(place, head, is_left)
        return cls(place, head, is_left, right_edge, spine, passed_over(place, head, is_left, spine))

    @property
    def distance(self) -> Tensor:
        """(words,) how far down arc-swift's stack the arc reaches that attaches the word."""
        return 1 + torch.where(self.is_left, self.spine, self.passed)


def global_heads(batch: SentenceBatch) -> Tensor:
    """(words,) each word's head as an index in this batch; -1 for `<ROOT>`."""
    if not isinstance(batch.columns, DependencyColumns):
        found = "none" if batch.columns is None else type(batch.columns).__name__
        raise InputError(f"dependency trees are needed to derive arcs; this batch has {found}.")
    heads = batch.columns.heads
    return torch.where(heads > 0, heads - 1 + batch.word_offsets[batch.sentence_of_word], -1)


def right_spines(place: Tensor, head: Tensor, is_left: Tensor) -> tuple[Tensor, Tensor]:
    """Where each word's right spine ends, and how long it is: by doubling, in logarithmically many rounds."""
    on_the_right = ~is_left & (head >= 0)
    jump = place.clone()  # the last right dependent, or the word itself
    jump.scatter_reduce_(0, head[on_the_right], place[on_the_right], "amax")
    steps = (jump != place).long()
    while True:
        further = jump[jump]
        if torch.equal(further, jump):
            return jump, steps
        steps = steps + steps[jump]
        jump = further


def passed_over(place: Tensor, head: Tensor, is_left: Tensor, spine: Tensor) -> Tensor:
    """For a word with its head on the left: the right spine of the head's right dependent just before it, if any."""
    passed = torch.zeros_like(place)
    right = place[~is_left]  # in ascending order
    right = right[torch.argsort(head[right], stable=True)]  # siblings together, still in order
    before, after = right[:-1], right[1:]
    siblings = (head[before] == head[after]) & (head[after] >= 0)
    passed[after] = torch.where(siblings, spine[before] + 1, 0)
    return passed


def ids_of_arcs(tree: Structure, table: ActionTable) -> Tensor:
    """(3, words): for each word the ids of GEN, of the arc that attaches it, and of `<END>`, which only last words come to."""
    ids = torch.full((3, len(tree.place)), FINISH, device=tree.place.device)
    ids[0] = GENERATE
    ids[1] = torch.where(tree.is_left, table.first[Operation.LEFTARC], table.first[Operation.RIGHTARC])
    return ids


def arc_order(tree: Structure, batch: SentenceBatch) -> Tensor:
    """The order of those 3 x words, flattened, in arc-eager and arc-swift.

    A word is generated, takes its left dependents from the nearest to the farthest, goes to its head if that is on the
    left, and, if it is the last, ends the sentence.
    """
    longest = int(batch.word_offsets.diff().max()) if len(batch.word_offsets) > 1 else 0
    span = longest + 2
    generate = tree.place * span
    left = tree.head * span + (tree.head - tree.place)  # nearest first
    right = tree.place * span + longest
    return torch.argsort(torch.cat([generate, torch.where(tree.is_left, left, right), generate + longest + 1]))
