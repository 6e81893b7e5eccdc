"""Attention in blocks against attention by gathering keys: the same numbers."""

from __future__ import annotations

import pytest
import torch

from benchmarks.attention import gathered_attention
from dtg.families import FAMILIES, pack
from dtg.model.attention import RelativeAttention, encode_positions
from dtg.model.packed_keys import PackedKeys, similar_lengths
from tests.dependency import DEPENDENCY_FAMILIES
from tests.model.test_model import sentences, tiny


@pytest.mark.parametrize("family", [name for name in DEPENDENCY_FAMILIES if len(FAMILIES[name].rule.views) == 1])
def test_blocks_and_gathered_keys_agree(family: str) -> None:
    model = tiny(family)
    some = sentences(12, seed=41)
    batch = model.encode([tree for tree, _ in some], [pieces for _, pieces in some])
    packed = pack(model.family, model.family.system.derive(batch), model.root)
    keys = PackedKeys.of(packed, model.groups)
    attention = model.decoder.layers[0].attention
    assert isinstance(attention, RelativeAttention)
    assert model.decoder.biases is not None
    rows = torch.randn(len(packed), model.config.width, dtype=torch.float64)
    encoded = encode_positions(keys, rows, model.config.width)
    blocks = attention(rows, keys.of_layer(0, last=False), model.decoder.biases, encoded)
    gathered = gathered_attention(attention, rows, packed, model.decoder.biases, keys.positions, encoded)
    assert torch.allclose(blocks, gathered, rtol=1e-10, atol=1e-12)


def test_groups_keep_every_sentence_once_and_similar_ones_together() -> None:
    sizes = [int(n) for n in torch.randint(3, 200, (500,), generator=torch.Generator().manual_seed(0))]
    found = similar_lengths(sizes)
    assert sorted(i for group in found for i in group) == list(range(500))
    places = sum(max(sizes[i] for i in group) * len(group) for group in found)
    assert sum(sizes) / places > 0.9
