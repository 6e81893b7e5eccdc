"""The spans of a phrase-structure chart as items that `Descent` can split, and the constituents that their splits make.

There are four kinds of items over words i..j (counted from 0), each with the number (kind * words + i) * words + j:

    CHILDREN    splits into SEQUENCE(i, p) and COMPLETE(p + 1, j)
    SEQUENCE    becomes CHILDREN, without a label or with one; of one word, it is over then
    COMPLETE    the same with a label only; a single word may do without one, and is a SEQUENCE
    FURTHER     a label that is not among the best few of these words

A parser has a hundred labels, and of most spans two or three share nearly all the probability. So the first choice is among the
best few and all others together; only those who choose the others look at each of them. The root choice is the label of the
whole sentence.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from dtg.parser.crf.descent import ChartItems, Derivations, Descent, Parts, take
from dtg.parser.crf.eisner import Reduce, finite
from dtg.parser.crf.span_chart import SpanChart, by_last_word, with_or_without

CHILDREN, SEQUENCE, COMPLETE, FURTHER, DONE = range(5)
FEW = 3  # labels that can be chosen at once


@dataclass(frozen=True, slots=True)
class SpanItems(ChartItems):
    """Made from a chart by `of`. The choices of labels are slots: none, the best few, all others, then each label there is."""

    words: int
    labels: int
    few: int
    last_word: Tensor  # (batch,) of each sentence
    best: Tensor  # (batch * words * words * few,) the best labels of each span

    @classmethod
    def of(cls, chart: SpanChart, scores: Tensor, lengths: Tensor, reduce: Reduce) -> SpanItems:
        """The items of a chart that was filled with `reduce`, of (batch, words, words, labels) scores."""
        batch, words, _, labels = scores.shape
        few = min(FEW, labels)
        number = torch.arange(4 * words * words + 1, device=scores.device)
        kind, first = number // (words * words), number // words % words
        best, best_labels = scores.topk(few, dim=3)
        others = scores.scatter(3, best_labels, -torch.inf)
        slots = torch.cat([torch.zeros_like(best[..., :1]), best, reduce(others, 3).unsqueeze(3), others], 3)
        width = slots.shape[3]  # choices of labels of one span
        sequence, complete = by_last_word(chart.starts), by_last_word(complete_by_first(chart))
        # COMPLETE(p + 1, j) by last word j and split p.
        after = torch.cat([complete[:, 1:], torch.zeros_like(complete[:, :1])], 1).transpose(1, 2)
        values = finite(torch.cat([by_last_word(table).flatten(1) for table in item_values(chart, others, reduce)], 1))
        root = scores[:, 0].gather(1, (lengths - 1).view(-1, 1, 1).expand(-1, 1, labels)).squeeze(1)
        span = number % (words * words)
        in_labels = words * words + span * width  # where the slots of a span begin
        zero = words * words  # where zeros begin among the second parts
        return cls(
            batch=batch,
            steps=5 * words,  # words - 1 splits, and twice as many choices of labels, of two steps at most
            done=4 * words * words,
            roots=root - reduce(root, 1).unsqueeze(1),
            counts=by_kind(kind, ((number % words) - first).clamp(min=1), few + 2, few + 1, labels, 1),
            first_split=by_kind(kind, first, 0, 1, few + 2, 0),
            values=torch.cat([values, values.new_zeros(batch, 1)], 1).T.flatten(),
            stride=words * words * (width + 1),
            first_values=torch.cat([sequence.flatten(1), slots.flatten(1)], 1).flatten(),
            first_begin=by_kind(kind, first * words + first, in_labels, in_labels + 1, in_labels + few + 2, zero),
            second_values=torch.cat([after.flatten(1), slots.new_zeros(batch, words * words * width)], 1).flatten(),
            second_begin=by_kind(kind, (number % words) * words + first, zero, zero, zero, zero),
            words=words,
            labels=labels,
            few=few,
            last_word=lengths - 1,
            best=best_labels.flatten(),
        )

    def root_parts(self, root: Tensor) -> Parts:
        """CHILDREN of the whole sentence, whatever its label."""
        last = self.last_word.unsqueeze(1).expand_as(root).flatten()
        return Parts(last, torch.zeros_like(last, dtype=torch.bool), CHILDREN * self.words + last, last > 0)

    def parts(self, item: Tensor, split: Tensor) -> Parts:
        """Split between words p and p + 1, or with one of the slots."""
        size = self.words * self.words
        kind, span = item // size, item % size
        first, last = span // self.words, span % self.words
        is_split, is_done = kind == CHILDREN, kind == DONE
        is_further = ((kind == SEQUENCE) | (kind == COMPLETE)) & (split == self.few + 1)
        right = torch.where(split + 1 < last, COMPLETE, SEQUENCE) * size + (split + 1) * self.words + last
        label_left = torch.where(is_further, FURTHER, CHILDREN) * size + span
        return Parts(
            first=SEQUENCE * size + first * self.words + split,
            has_first=is_split,
            second=torch.where(is_split, right, label_left),
            has_second=(is_split | is_further | (first < last)) & ~is_done,
        )

    def nodes(self, descent: Descent, derivations: Derivations) -> Tensor:
        """(batch, rows of a sentence, nodes, 3) first word, last word (from 1) and label of each constituent, in preorder.

        -1 where there is none.
        """
        rows = derivations.item.shape[0]
        size = self.words * self.words
        sentence = torch.arange(self.batch, device=derivations.item.device).repeat_interleave(rows // self.batch)
        none = size * self.labels  # the codes of constituents are numbers below, in preorder
        codes = list[Tensor]()
        for item, split in descent.decisions(derivations):
            if item is None:
                span, label = take(self.last_word, sentence), split
                has_label = torch.ones_like(split, dtype=torch.bool)
            else:
                kind, span = item // size, item % size
                is_few = ((kind == SEQUENCE) | (kind == COMPLETE)) & (split > 0) & (split <= self.few)
                is_further = kind == FURTHER
                place = (sentence * size + span) * self.few + (split - 1).clamp(0, self.few - 1)
                label = torch.where(is_further, split - (self.few + 2), take(self.best, place))
                has_label = is_few | is_further
            first, last = span // self.words, span % self.words
            code = (first * self.words + self.words - 1 - last) * self.labels + label
            codes.append(torch.where(has_label, code, none))
        most = 2 * self.words - 1  # constituents of a tree; decisions that make none come last
        codes += [torch.full_like(sentence, none)] * (most - len(codes))
        code = torch.stack(codes, 1).sort(1).values[:, :most]
        span, label = code // self.labels, code % self.labels
        found = torch.stack([span // self.words + 1, self.words - span % self.words, label], 2)
        return found.masked_fill((code == none).unsqueeze(2), -1).view(self.batch, -1, most, 3)


def by_kind(kind: Tensor, *values: Tensor | int) -> Tensor:
    """Of each item, the value of its kind."""
    found = torch.zeros_like(kind)
    for number, value in enumerate(values):
        found = torch.where(kind == number, value, found)
    return found


def complete_by_first(chart: SpanChart) -> Tensor:
    """(words, widths, batch) COMPLETE by first word and width."""
    either = chart.starts[:, :1]  # a single word's, with its span or without
    return torch.cat([either, (chart.children + chart.spans)[:, 1:]], 1)


def item_values(chart: SpanChart, others: Tensor, reduce: Reduce) -> list[Tensor]:
    """(words, widths, batch) what the choices of each kind are worth together: splits, labels or none, labels, other labels."""
    further = reduce(others, 3)
    words = further.shape[1]
    first = torch.arange(words, device=further.device).unsqueeze(1)
    last = (first + first.T).clamp(max=words - 1)
    further = further.permute(1, 2, 0)[first, last]
    return [chart.children, with_or_without(chart.spans, reduce), chart.spans, further]
