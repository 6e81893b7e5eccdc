"""Normalised attention entropy: how evenly a word's row attends to what it sees, 0 for one key alone to 1 for all alike.

Of the last layer, the mean over the heads of each view, as a predictor of retrieval (Oh and Schuler 2022; over the stack of a
syntactic model, Yoshida et al. 2025). Weights are computed once more beside the decoder's own attention, which is not changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor

from dtg.model.cached.cached_keys import CachedKeys, LayerCachedKeys, VisibleRows, cut
from dtg.search.evaluator import Evaluator

ROWS_AT_ONCE = 512


@dataclass(slots=True)
class AttentionWatch:
    """Given to an evaluator, it finds the entropies of the rows that are computed next."""

    found: dict[int, Tensor] = field(default_factory=dict)  # by view: (rows,)

    def __call__(self, keys: CachedKeys, views: Sequence[VisibleRows]) -> WatchedKeys:
        return WatchedKeys(keys, tuple(map(cut, views)), self.found)


@contextmanager
def watched_attention(evaluator: Evaluator, is_wanted: bool) -> Iterator[AttentionWatch]:
    """Watch what the evaluator computes, if that is wanted."""
    watch = AttentionWatch()
    evaluator.watch = watch if is_wanted else None
    try:
        yield watch
    finally:
        evaluator.watch = None


@dataclass(frozen=True, slots=True)
class WatchedKeys:
    """Cached keys whose last layer is watched."""

    keys: CachedKeys
    views: tuple[VisibleRows, ...]
    found: dict[int, Tensor]

    @property
    def span(self) -> tuple[int, int]:
        return self.keys.span

    def of_layer(self, layer: int, last: bool) -> LayerCachedKeys | WatchedLayer:
        of_layer = self.keys.of_layer(layer, last)
        return WatchedLayer(of_layer, self.views, self.found) if last else of_layer


@dataclass(frozen=True, slots=True)
class WatchedLayer:
    """The last layer of them."""

    layer: LayerCachedKeys
    views: tuple[VisibleRows, ...]
    found: dict[int, Tensor]

    @property
    def skip(self) -> int:
        return self.layer.skip

    def queries(self, rows: Tensor) -> Tensor:
        """See `LayerKeys`."""
        return self.layer.queries(rows)

    def attend_to(self, stored: Tensor, content: Tensor, by_position: Tensor, by_channel: Tensor | None) -> Tensor:
        """See `LayerCachedKeys`."""
        keys = self.layer.keys
        lowest = keys.span[0]
        for group in keys.groups[self.layer.layer]:
            heads = slice(group.first, group.stop)
            parts = torch.arange(len(content), device=content.device).split(ROWS_AT_ONCE)
            found = [
                entropies(
                    self.views[group.view],
                    part + self.skip,
                    stored[:, 0, heads],
                    content[part, heads],
                    by_position[heads, part].transpose(0, 1),
                    None if by_channel is None else by_channel[heads, part].transpose(0, 1),
                    lowest,
                )
                for part in parts
            ]
            self.found[group.view] = torch.cat(found)
        return self.layer.attend_to(stored, content, by_position, by_channel)


def entropies(
    view: VisibleRows,
    rows: Tensor,
    keys: Tensor,
    content: Tensor,
    by_position: Tensor,
    by_channel: Tensor | None,
    lowest: int,
) -> Tensor:
    """(rows,) the normalised entropy of the attention of some rows, the mean over the heads of a group.

    `keys` are (cached rows, heads, head width), `content` (rows, heads, head width), and scores by position and channel (rows,
    heads, values), those of positions from `lowest` on.
    """
    count = view.keys[rows]
    key = keys[view.attends[rows].clamp(min=0)]  # (rows, width, heads, head width)
    at = (view.relative[rows] - lowest)[:, None, :].expand(-1, content.shape[1], -1)
    scores = torch.einsum("rhd,rwhd->rhw", content, key) + by_position.gather(-1, at)
    if view.channel is not None and by_channel is not None:
        scores = scores + by_channel.gather(-1, view.channel[rows][:, None, :].expand(-1, content.shape[1], -1))
    unused = torch.arange(scores.shape[2], device=scores.device) >= count[:, None]
    log_weights = scores.double().masked_fill(unused[:, None], -torch.inf).log_softmax(-1)
    entropy = -(log_weights.exp() * log_weights.masked_fill(unused[:, None], 0.0)).sum(-1).mean(1)
    return torch.where(count > 1, entropy / count.clamp(min=2).double().log(), torch.zeros_like(entropy))
