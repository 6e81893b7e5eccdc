"""The spans of Eisner's chart as items that `Descent` can split, and the heads that their splits set.

A span of kind K over words i..j (counted from 0) has the number (K * words + i) * words + j, and split p is that between
words p and p + 1. The root choice is the root word.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from dtg.parser.crf.descent import ChartItems, Derivations, Descent, Parts, take
from dtg.parser.crf.eisner import LEFT, OPEN, RIGHT, EisnerChart, Reduce, finite

DONE = 3  # a kind over the first word alone, for the item at the bottom of every stack
FIRST_PARTS, SECOND_PARTS = (LEFT, OPEN, RIGHT, DONE), (OPEN, RIGHT, LEFT, DONE)  # of each kind, as in `eisner`


@dataclass(frozen=True, slots=True)
class EisnerItems(ChartItems):
    """Made from a chart by `of`."""

    words: int
    last_word: Tensor  # (batch,) of each sentence
    last: Tensor  # (items,) an item's last word
    first_part: Tensor  # (items,) the number of its first part at split p, less p
    second_part: Tensor  # (items,) the number of its second part at split p, less p * words
    head: Tensor  # (items,) the head that splitting it sets
    dependent: Tensor  # (items,) for which word, less the split; `words` if it sets none

    @classmethod
    def of(cls, chart: EisnerChart, lengths: Tensor, reduce: Reduce) -> EisnerItems:
        """The items of a chart that was filled with `reduce`."""
        words, batch = chart.roots.shape
        done = 3 * words * words
        number = torch.arange(done + 1, device=chart.roots.device)
        kind, first, last = number // (words * words), number // words % words, number % words
        first_kind, second_kind = kind.new_tensor([FIRST_PARTS, SECOND_PARTS])[:, kind]
        return cls(
            batch=batch,
            steps=2 * words,  # an arc takes at most two
            done=done,
            roots=(chart.roots - reduce(chart.roots, 0)).T,
            counts=(last - first).clamp(min=1),
            first_split=first,
            values=_span_values(chart),
            stride=(3 * words + 1) * words,
            first_values=_part_values(chart.starts, 0),
            first_begin=(kind * words + first) * words + first,
            second_values=_part_values(chart.ends, words),
            second_begin=(kind * words + last) * words + first,
            words=words,
            last_word=lengths - 1,
            last=last,
            first_part=(first_kind * words + first) * words + (kind == RIGHT),
            second_part=(second_kind * words + (kind != LEFT)) * words + last,
            head=torch.where(kind == LEFT, last, first) + 1,
            dependent=torch.where(kind < OPEN, (kind == RIGHT).long(), words),
        )

    def root_parts(self, root: Tensor) -> Parts:
        """LEFT(first word, root) and RIGHT(root, last word)."""
        last = self.last_word.unsqueeze(1).expand_as(root).flatten()
        root = torch.minimum(root.flatten(), last)  # beyond the sentence is chosen only by rows that stand for no tree
        left, right = LEFT * self.words * self.words + root, (RIGHT * self.words + root) * self.words + last
        return Parts(left, root > 0, right, root < last)

    def parts(self, item: Tensor, split: Tensor) -> Parts:
        """A span of one word has no split, and what lies beneath an arc between neighbours has only one: both are left out."""
        return Parts(
            first=take(self.first_part, item) + split,
            has_first=take(self.first_split, item) < split,
            second=take(self.second_part, item) + split * self.words,
            has_second=split + 1 < take(self.last, item),
        )

    def heads(self, descent: Descent, derivations: Derivations) -> Tensor:
        """(batch, rows of a sentence, words) the trees of finished derivations; 0 is `<ROOT>`."""
        # One more column takes the splits that set no head.
        heads = self.head.new_full((derivations.item.shape[0], self.words + 1), -1)
        for item, split in descent.decisions(derivations):
            if item is None:
                heads.scatter_(1, split.unsqueeze(1), 0)
            else:
                dependent = (take(self.dependent, item) + split).clamp(max=self.words)
                heads.scatter_(1, dependent.unsqueeze(1), take(self.head, item).unsqueeze(1))
        return heads[:, :-1].view(self.batch, -1, self.words)


def _part_values(table: Tensor, shift: int) -> Tensor:
    """A chart's table by sentence, kind, edge and split p, which in the chart is column p - e + shift of edge e."""
    words = table.shape[1]
    split = torch.arange(words, device=table.device)
    edge = split.unsqueeze(1)
    parts = table[:, edge, (split - edge + shift).clamp(0, words - 1)].flatten(0, 1)
    return torch.cat([parts, torch.zeros_like(parts[:1])]).permute(2, 0, 1).flatten()


def _span_values(chart: EisnerChart) -> Tensor:
    """(items * batch,)"""
    word = torch.arange(chart.roots.shape[0], device=chart.roots.device)
    width = (word - word.unsqueeze(1)).clamp(min=0)
    values = torch.stack([table[word.unsqueeze(1), width] for table in (chart.left, chart.right, chart.open)])
    return finite(torch.cat([values.flatten(), values.new_zeros(values.shape[-1])]))
