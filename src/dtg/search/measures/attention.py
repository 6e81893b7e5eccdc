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

from dtg.model.attention import HeadGroup, Projected
from dtg.model.cached_keys import CachedKeys, LayerCachedKeys, VisibleRows, cut
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
    def positions(self) -> Tensor:
        return self.keys.positions

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

    def attend(self, projected: Projected) -> Tensor:
        """See `LayerKeys`."""
        mixed = self.layer.attend(projected)
        keys = self.layer.keys
        stored = keys.store(self.layer.layer, projected.keys_values)  # the same once more: the table with the new rows
        lowest = int(keys.positions[0])
        for group in keys.groups[self.layer.layer]:
            view = self.views[group.view]
            some = projected.of_heads(group)
            parts = torch.arange(len(mixed), device=mixed.device).split(ROWS_AT_ONCE)
            found = [entropies(some, view, part, self.skip, stored, group, lowest) for part in parts]
            self.found[group.view] = torch.cat(found)
        return mixed


def entropies(
    projected: Projected, view: VisibleRows, rows: Tensor, skip: int, stored: Tensor, group: HeadGroup, lowest: int
) -> Tensor:
    """(rows,) the normalised entropy of the attention of some rows, the mean over a group of heads."""
    seen = rows + skip
    count = view.keys[seen]
    key = stored[view.attends[seen].clamp(min=0), 0, group.first : group.stop]  # (rows, width, heads, head width)
    content, position = projected.content[rows], projected.position[rows]  # (rows, heads, head width)
    by_position = torch.einsum("rhd,hdp->rhp", position, projected.encoded)
    at = (view.relative[seen] - lowest)[:, None, :].expand(-1, content.shape[1], -1)
    scores = torch.einsum("rhd,rwhd->rhw", content, key) + by_position.gather(-1, at)
    if view.channel is not None and projected.channel is not None:
        values = view.channel[seen][:, None, :].expand(-1, content.shape[1], -1)
        scores = scores + (position @ projected.channel).gather(-1, values)
    unused = torch.arange(scores.shape[2], device=scores.device) >= count[:, None]
    log_weights = scores.double().masked_fill(unused[:, None], -torch.inf).log_softmax(-1)
    entropy = -(log_weights.exp() * log_weights.masked_fill(unused[:, None], 0.0)).sum(-1).mean(1)
    return torch.where(count > 1, entropy / count.clamp(min=2).double().log(), torch.zeros_like(entropy))
