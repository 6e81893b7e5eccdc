"""Attention weights of one sentence, recorded while the decoder computes as it always does.

The decoder is handed keys that write down every layer's softmax weights densely and leave the result itself to
`PackedKeys`: the fast path stays as it is, and what it computes is not changed by being looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn import functional

from dtg.model.attention import Projected
from dtg.model.packed_keys import BlockView, LayerPackedKeys, PackedKeys


@dataclass(frozen=True, slots=True)
class RecordingKeys:
    """The keys of one sentence; `weights` has a (heads, rows, rows) tensor for each layer that has been computed."""

    keys: PackedKeys
    weights: list[Tensor] = field(default_factory=list)

    @property
    def positions(self) -> Tensor:
        return self.keys.positions

    def of_layer(self, layer: int, last: bool) -> RecordingLayerKeys:
        return RecordingLayerKeys(self.keys.of_layer(layer, last), self.weights)


@dataclass(frozen=True, slots=True)
class RecordingLayerKeys:
    """The same within one layer."""

    layer: LayerPackedKeys
    weights: list[Tensor]

    def queries(self, rows: Tensor) -> Tensor:
        """See `LayerKeys`."""
        return self.layer.queries(rows)

    def attend(self, projected: Projected) -> Tensor:
        """See `LayerKeys`."""
        (block,) = self.layer.blocks  # one sentence: its rows are in order
        groups = self.layer.groups
        found = [dense_weights(projected.of_heads(group), block.views[group.view]) for group in groups]
        self.weights.append(torch.cat(found))
        return self.layer.attend(projected)


def dense_weights(projected: Projected, view: BlockView) -> Tensor:
    """(heads, rows, rows) how much each row attends to each other row; 0 where the view hides it."""
    key = projected.keys_values[:, 0].transpose(0, 1)  # (heads, rows, head width)
    content, position = (query.transpose(0, 1) for query in (projected.content, projected.position))
    by_content = content @ key.transpose(1, 2)  # (heads, rows, rows)
    by_position = functional.pad(position @ projected.encoded, (0, 1), value=-torch.inf)
    scores = by_content + by_position.gather(-1, view.index[0].expand_as(by_content))
    if view.channel is not None and projected.channel is not None:
        scores = scores + (position @ projected.channel).gather(-1, view.channel[0].expand_as(by_content))
    return scores.softmax(-1)
