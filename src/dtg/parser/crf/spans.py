"""The spans of a chart by number, and what there is to know of each: the tables behind `Descent`.

A span of kind K over words i..j (counted from 0) has the number (K * words + i) * words + j. One more number, of a kind DONE
over the first word, lies beneath every stack: it has one choice, which changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from dtg.parser.crf.chart import LEFT, OPEN, RIGHT, Chart
from dtg.parser.crf.partition import finite

DONE = 3
FIRST_PARTS, SECOND_PARTS = (LEFT, OPEN, RIGHT, DONE), (OPEN, RIGHT, LEFT, DONE)  # of each kind, as in `chart`


@dataclass(frozen=True, slots=True)
class Spans:
    """What is known of a span by its number; parts and values also by sentence."""

    words: int
    done: int  # the number of the span beneath all
    count: Tensor  # (spans,) how many choices each has
    place: Tensor  # (spans,) its first place, which is its first word
    last: Tensor  # (spans,) its last word
    first_part: Tensor  # (spans,) the number of its first part at place p, less p
    second_part: Tensor  # (spans,) the number of its second part at place p, less p * words
    head: Tensor  # (spans,) the head that splitting it sets
    dependent: Tensor  # (spans,) for which word, less the place; `words` if it sets none
    stride: int  # how many parts a sentence has
    first: Tensor  # (batch * stride,) the values of first parts, place after place
    first_begin: Tensor  # (spans,) where a span's begin among those of sentence 0
    second: Tensor  # (batch * stride,) the values of second parts, place after place
    second_begin: Tensor  # (spans,)
    values: Tensor  # (spans * batch,) of the spans themselves

    @classmethod
    def of(cls, chart: Chart) -> Spans:
        words = chart.roots.shape[0]
        done = 3 * words * words
        number = torch.arange(done + 1, device=chart.roots.device)
        kind, first, last = number // (words * words), number // words % words, number % words
        first_kind, second_kind = kind.new_tensor([FIRST_PARTS, SECOND_PARTS])[:, kind]
        return cls(
            words=words,
            done=done,
            count=(last - first).clamp(min=1),
            place=first,
            last=last,
            first_part=(first_kind * words + first) * words + (kind == RIGHT),
            second_part=(second_kind * words + (kind != LEFT)) * words + last,
            head=torch.where(kind == LEFT, last, first) + 1,
            dependent=torch.where(kind < OPEN, (kind == RIGHT).long(), words),
            stride=(3 * words + 1) * words,
            first=_part_values(chart.starts, 0),
            first_begin=(kind * words + first) * words + first,
            second=_part_values(chart.ends, words),
            second_begin=(kind * words + last) * words + first,
            values=_span_values(chart),
        )

    def number(self, kind: int, first: Tensor, last: Tensor) -> Tensor:
        return (kind * self.words + first) * self.words + last

    def arc(self, span: Tensor, place: Tensor) -> tuple[Tensor, Tensor]:
        """The dependent, counted from 0, and the head, counted from 1, of splitting spans; `words` for no dependent."""
        return (take(self.dependent, span) + place).clamp(max=self.words), take(self.head, span)


def take(table: Tensor, index: Tensor) -> Tensor:
    """table[index] of one dimension, three times as fast."""
    return table.index_select(0, index)


def _part_values(table: Tensor, shift: int) -> Tensor:
    """A chart's table by sentence, kind, edge and place: place p of edge e stands there at split p - e + shift."""
    words = table.shape[1]
    place = torch.arange(words, device=table.device)
    edge = place.unsqueeze(1)
    parts = table[:, edge, (place - edge + shift).clamp(0, words - 1)].flatten(0, 1)
    return torch.cat([parts, torch.zeros_like(parts[:1])]).permute(2, 0, 1).flatten()


def _span_values(chart: Chart) -> Tensor:
    word = torch.arange(chart.roots.shape[0], device=chart.roots.device)
    width = (word - word.unsqueeze(1)).clamp(min=0)
    values = torch.stack([table[word.unsqueeze(1), width] for table in (chart.left, chart.right, chart.open)])
    return finite(torch.cat([values.flatten(), values.new_zeros(values.shape[-1])]))
