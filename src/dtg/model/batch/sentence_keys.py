"""Attention among the packed rows of a batch on a CPU: sentence by sentence, without padding and without copies.

The queries of a sentence are multiplied with all of its keys; then each row picks the scores of the few keys that it sees.
The backward pass is written out, because what autograd would record fills and adds whole tables for every small step.
On a GPU, where many small products are slow, sentences are padded and go together (`packed_keys.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from dtg.families import PackedRows, PackedView
from dtg.model.attention import HeadGroups, Projected

SPAN_QUERIES = (
    128  # of a sentence that are multiplied with the keys before them at once: long ones would cost their square
)
# Queries and keys of a product are a multiple of this, so that there are fewer sizes: oneDNN generates code for each. What is
# too many belongs to the sentences that follow. It is given no weight, and what is written there is written again.
MULTIPLE = 8


class Span(NamedTuple):
    """Consecutive queries of a sentence and the rows that any of them may see, and a few beyond these (`MULTIPLE`)."""

    query: int  # the first query
    queries: int
    key: int  # the first row of the sentence
    keys: int
    place: int  # where its scores begin, for each attention head
    is_first: bool  # of its sentence: the one with most keys

    def scores(self, flat: Tensor, heads: int) -> Tensor:
        """(heads, queries, keys) of the table of all scores."""
        size = self.queries * self.keys
        return flat[heads * self.place : heads * (self.place + size)].view(heads, self.queries, self.keys)


@dataclass(frozen=True, slots=True)
class SeenRows:
    """What queries see through one view, keys first: softmax is fastest over a dimension that is not the last."""

    place: Tensor  # (heads x keys x queries,) in the table of all scores; its last entry where a key is not used
    position: Tensor  # (keys, queries) which of the occurring positions; one past the last where a key is not used
    channel: Tensor | None  # (keys, queries)


@dataclass(frozen=True, slots=True)
class Queries:
    """The rows of a batch that have queries, in order."""

    rows: Tensor | None  # (queries,) None: all
    spans: tuple[Span, ...]
    views: dict[tuple[int, int], SeenRows]  # by view and number of heads
    places: int  # scores of an attention head


@dataclass(frozen=True, slots=True)
class SentenceKeys:
    """A batch, sentence by sentence. In the last layer only rows that predict have queries."""

    positions: Tensor
    groups: tuple[HeadGroups, ...]  # of every layer
    everywhere: Queries
    at_the_end: Queries
    padding: float = 0.0

    @classmethod
    def of(cls, packed: PackedRows, groups: tuple[HeadGroups, ...]) -> SentenceKeys:
        """`groups` are the groups of heads of every layer."""
        lowest = min(int(view.relative.min()) for view in packed.views)
        highest = max(int(view.relative.max()) for view in packed.views)
        positions = torch.arange(lowest, highest + 1, device=packed.offsets.device)
        below = {(group.view, group.stop - group.first) for layer in groups[:-1] for group in layer}
        last = {(group.view, group.stop - group.first) for group in groups[-1]}
        predicts = (packed.target >= 0).nonzero()[:, 0]
        chosen = None if len(predicts) == len(packed) else predicts
        everywhere = queries_of(packed, None, below | (last if chosen is None else set()), lowest, len(positions))
        at_the_end = everywhere if chosen is None else queries_of(packed, chosen, last, lowest, len(positions))
        return cls(positions, groups, everywhere, at_the_end)

    def of_layer(self, layer: int, last: bool) -> LayerSentenceKeys:
        """See `Keys`."""
        return LayerSentenceKeys(self.groups[layer], self.at_the_end if last else self.everywhere)


@dataclass(frozen=True, slots=True)
class LayerSentenceKeys:
    """A batch as one layer's groups of heads see it."""

    groups: HeadGroups
    of: Queries

    def queries(self, rows: Tensor) -> Tensor:
        """See `LayerKeys`."""
        return rows if self.of.rows is None else functional.embedding(self.of.rows, rows)

    def attend(self, projected: Projected) -> Tensor:
        """See `LayerKeys`."""
        kind = projected.keys_values.dtype
        parts = []
        for group in self.groups:
            some = projected.of_heads(group)
            seen = self.of.views[group.view, group.stop - group.first]
            channel = None if seen.channel is None or some.channel is None else some.channel.to(kind)
            content, position = some.content.to(kind), some.position.to(kind)
            encoded = some.encoded.to(kind)
            given = (content, position, some.keys_values, encoded, channel, seen, self.of)
            parts.append(SentenceAttention.apply(*given))  # type: ignore[no-untyped-call]
        mixed: Tensor = parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)
        return mixed.flatten(1)


def queries_of(
    packed: PackedRows, chosen: Tensor | None, groups: set[tuple[int, int]], lowest: int, unused: int
) -> Queries:
    """Where these rows, or all, have their scores; `groups` are pairs of a view and a number of heads."""
    offsets: list[int] = packed.offsets.tolist()
    first = packed.offsets if chosen is None else torch.searchsorted(chosen, packed.offsets)
    bounds: list[int] = first.tolist()
    spans: list[Span] = []
    place = 0
    for (key, stop), (query, end) in zip(pairwise(offsets), pairwise(bounds), strict=True):
        # The last span of a sentence comes first. It is given all keys, so that every row has a gradient, and may write
        # beyond the sentence, because what comes there is not computed yet.
        for number, begin in enumerate(reversed(range(query, end, SPAN_QUERIES))):
            until = min(begin + SPAN_QUERIES, end)
            keys = stop - key if number == 0 else 1 + (until - 1 if chosen is None else int(chosen[until - 1])) - key
            queries = rounded(until - begin, bounds[-1] - begin) if number == 0 else until - begin
            keys = rounded(keys, offsets[-1] - key)
            spans.append(Span(begin, queries, key, keys, place, number == 0))
            place += queries * keys
    table = torch.tensor(sorted(spans), device=packed.offsets.device)  # (spans, fields) by query
    span = torch.searchsorted(table[:, 0].contiguous(), torch.arange(bounds[-1], device=table.device), right=True) - 1
    views = {
        (view, heads): seen_rows(packed.views[view], chosen, table[span], heads, place, lowest, unused)
        for view, heads in groups
    }
    return Queries(chosen, tuple(spans), views, place)


def rounded(count: int, limit: int) -> int:
    """Up to a multiple, if that many are there."""
    return min(-(-count // MULTIPLE) * MULTIPLE, limit)


def seen_rows(
    view: PackedView, chosen: Tensor | None, spans: Tensor, heads: int, places: int, lowest: int, unused: int
) -> SeenRows:
    """What queries see; (queries, fields) `spans` has the `Span` of each."""
    attends, relative, channel = view.attends, view.relative, view.channel
    if chosen is not None:
        attends, relative = attends.index_select(0, chosen), relative.index_select(0, chosen)
        channel = None if channel is None else channel.index_select(0, chosen)
    attends, is_unused = attends.t().long(), (attends < 0).t()  # (keys, queries)
    query, queries, key, keys, place, _ = spans.t()
    number = torch.arange(len(spans), device=spans.device) - query  # of the query in its span
    within = number * keys + attends - key
    head = torch.arange(heads, device=spans.device)[:, None, None]
    flat = heads * place + head * (queries * keys) + within  # (heads, keys, queries)
    flat = torch.where(is_unused, heads * places, flat)
    position = torch.where(is_unused, unused, relative.t().long() - lowest)
    return SeenRows(flat.flatten(), position, None if channel is None else channel.t().long())


class SentenceAttention(torch.autograd.Function):
    """(queries, heads, head width) what queries attend to, weighted."""

    @staticmethod
    def forward(
        ctx: Any,
        content: Tensor,
        position: Tensor,
        keys_values: Tensor,
        encoded: Tensor,
        channel: Tensor | None,
        seen: SeenRows,
        of: Queries,
    ) -> Tensor:
        with torch.autocast(content.device.type, enabled=False):
            heads = content.shape[1]
            flat = content.new_empty(heads * of.places + 1)
            flat[-1] = 0
            for span in of.spans:
                query, key, _ = parts_of(span, content, keys_values)
                torch.bmm(query, key.transpose(1, 2), out=span.scores(flat, heads))
            scores = flat.index_select(0, seen.place).view(heads, *seen.position.shape)  # (heads, keys, queries)
            by_position = functional.pad(
                encoded.transpose(1, 2) @ position.permute(1, 2, 0), (0, 0, 0, 1), value=-torch.inf
            )
            scores += by_position.gather(1, seen.position.expand_as(scores))
            if channel is not None and seen.channel is not None:
                scores += (channel.t() @ position.permute(1, 2, 0)).gather(1, seen.channel.expand_as(scores))
            weights = scores.softmax(1, dtype=torch.promote_types(scores.dtype, torch.float32)).to(scores.dtype)
            flat.zero_().scatter_(0, seen.place, weights.flatten())
            mixed = torch.empty_like(content, memory_format=torch.contiguous_format)
            for span in of.spans:
                found, _, value = parts_of(span, mixed, keys_values)
                torch.bmm(span.scores(flat, heads), value, out=found)
        ctx.save_for_backward(content, position, keys_values, encoded, channel, weights)
        ctx.seen, ctx.of = seen, of
        return mixed

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        content, position, keys_values, encoded, channel, weights = ctx.saved_tensors
        seen, of = ctx.seen, ctx.of
        heads = content.shape[1]
        of_keys_values = torch.empty_like(keys_values, memory_format=torch.contiguous_format)
        of_content = torch.empty_like(content, memory_format=torch.contiguous_format)
        flat, of_flat = content.new_zeros(heads * of.places + 1), content.new_empty(heads * of.places + 1)
        flat.scatter_(0, seen.place, weights.flatten())
        of_flat[-1] = 0
        for span in of.spans:
            of_mixed, _, value = parts_of(span, grad, keys_values)
            _, _, of_value = parts_of(span, grad, of_keys_values)
            product(span.scores(flat, heads).transpose(1, 2), of_mixed, of_value, adds=not span.is_first)
            torch.bmm(of_mixed, value.transpose(1, 2), out=span.scores(of_flat, heads))
        of_weights = of_flat.index_select(0, seen.place).view_as(weights)
        of_scores = torch._softmax_backward_data(of_weights, weights, 1, weights.dtype)
        of_flat.zero_().scatter_(0, seen.place, of_scores.flatten())
        for span in of.spans:
            query, key, _ = parts_of(span, content, keys_values)
            of_query, of_key, _ = parts_of(span, of_content, of_keys_values)
            torch.bmm(span.scores(of_flat, heads), key, out=of_query)
            product(span.scores(of_flat, heads).transpose(1, 2), query, of_key, adds=not span.is_first)
        by_position = content.new_zeros(heads, encoded.shape[2] + 1, len(content))
        by_position.scatter_add_(1, seen.position.expand_as(of_scores), of_scores)
        by_position = by_position[:, :-1].transpose(1, 2)  # (heads, queries, positions)
        of_position = by_position @ encoded.transpose(1, 2)
        of_encoded = position.permute(1, 2, 0) @ by_position
        of_channel = None
        if channel is not None:
            by_channel = content.new_zeros(heads, channel.shape[1], len(content))
            by_channel = by_channel.scatter_add_(1, seen.channel.expand_as(of_scores), of_scores).transpose(1, 2)
            of_position += by_channel @ channel.t()
            of_channel = (position.permute(1, 2, 0) @ by_channel).sum(0)
        return of_content, of_position.transpose(0, 1), of_keys_values, of_encoded, of_channel, None, None


def parts_of(span: Span, queries: Tensor, keys_values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Each (heads, rows, head width), of the queries, keys and values of a span; what is written there is written in place."""
    query = queries[span.query : span.query + span.queries].transpose(0, 1)
    key, value = keys_values[span.key : span.key + span.keys].permute(1, 2, 0, 3)
    return query, key, value


def product(left: Tensor, right: Tensor, out: Tensor, *, adds: bool) -> None:
    """Put a product of matrices there, or add it to what is there."""
    if adds:
        out.baddbmm_(left, right)
    else:
        torch.bmm(left, right, out=out)
