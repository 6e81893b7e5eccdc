"""Two ways to compute the same attention, forward and backward: `python -m benchmarks.attention`.

Blocks: sentences of similar length side by side, every row against every row, with a mask (what `dtg.model` does).
Gathered: for each row, just the keys and values it attends to, padded to the deepest stack.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from benchmarks.rows import a_batch, best_of
from dtg import families
from dtg.families import PackedRows, pack
from dtg.model import DecoderModel, ModelConfig
from dtg.model.attention import PositionBiases, RelativeAttention, encode_positions
from dtg.model.packed_keys import PackedKeys


def gathered_attention(
    attention: RelativeAttention,
    rows: Tensor,
    packed: PackedRows,
    biases: PositionBiases,
    positions: Tensor,
    encoded: Tensor,
) -> Tensor:
    """The rows' attention through one view, by gathering their keys."""
    (view,) = packed.views
    heads, size = attention.heads, attention.head_width
    query, key, value = attention.queries_keys_values(rows).view(-1, 3, heads, size).unbind(1)  # (rows, heads, size)
    inside = view.attends >= 0
    attended = view.attends.clamp(min=0).long().flatten()
    keys = key.index_select(0, attended).view(*view.attends.shape, heads, size)  # (rows, keys, heads, size)
    values = value.index_select(0, attended).view_as(keys)
    position = attention.positions(encoded).view(-1, heads, size)
    scores = torch.einsum("nhd,nkhd->nhk", query + biases.content, keys)
    by_position = torch.einsum("nhd,phd->nhp", query + biases.position, position)
    index = (view.relative.long() - int(positions[0])).clamp(min=0)[:, None].expand_as(scores)
    scores = (scores + by_position.gather(-1, index)) / math.sqrt(size)
    weights = scores.masked_fill(~inside[:, None], -torch.inf).softmax(-1)
    mixed = torch.einsum("nhk,nkhd->nhd", weights, values)
    output: Tensor = attention.output(mixed.flatten(1))
    return output


def main() -> None:
    print(
        f"{torch.get_num_threads()} threads, torch {torch.__version__}; 32 sentences, one layer, forward and backward"
    )
    print(f"{'family':<12}{'words':>6}{'rows':>7}{'keys':>6}{'blocks':>11}{'gathered':>11}{'ratio':>8}")
    for name in ("dtg", "txl-trans"):
        for mean in (12, 22, 44):
            model = DecoderModel.create(ModelConfig(family=name))
            trees, pieces = a_batch(32, float(mean))
            batch = model.encode(trees, pieces)
            packed = pack(families.get(name), model.family.system.derive(batch), model.root)
            keys = PackedKeys.of(packed, model.groups)
            layer = keys.of_layer(0, last=False)
            attention = model.decoder.layers[0].attention
            biases = model.decoder.biases
            assert isinstance(attention, RelativeAttention)
            assert biases is not None
            rows = torch.randn(len(packed), 256, requires_grad=True)
            encoded = encode_positions(keys, rows, 256)
            blocks = best_of(5, lambda: attention(rows, layer, biases, encoded).sum().backward())  # noqa: B023
            gathered = best_of(
                5,
                lambda: gathered_attention(attention, rows, packed, biases, keys.positions, encoded).sum().backward(),  # noqa: B023
            )
            print(
                f"{name:<12}{mean:>6}{len(packed):>7}{packed.views[0].attends.shape[1]:>6}{1000 * blocks:>8.1f} ms"
                f"{1000 * gathered:>8.1f} ms{gathered / blocks:>8.1f}"
            )


if __name__ == "__main__":
    main()
