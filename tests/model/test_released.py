"""Released weights: names, sizes, and the numbers of the released formulas, computed the slow way."""

from __future__ import annotations

import pytest
import torch

from dtg import DependencyTree, families
from dtg.errors import ConfigError, InputError
from dtg.model import DecoderModel
from tests.model.naive import naive_score
from tests.model.test_model import sentences

IDS = {"pad": 12, "bos": 13, "eos": 14, "left_arc": 15, "right_arc": 16, "pop_root": 17, "unk": 18}
VOCABULARY, WIDTH, HEADS, HEAD_WIDTH, INNER, LAYERS = 19, 8, 2, 4, 10, 3


def released_weights(seed: int = 0) -> dict[str, torch.Tensor]:
    """A state dict with the design's names and random numbers."""
    generator = torch.Generator().manual_seed(seed)

    def random(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator) * 0.5

    inner = HEADS * HEAD_WIDTH
    weights = {
        "emb.weight": random(VOCABULARY, WIDTH),
        "projection.bias": random(VOCABULARY),
        "r_w_bias": random(HEADS, HEAD_WIDTH),
        "r_r_bias": random(HEADS, HEAD_WIDTH),
        "action_mlp.0.weight": random(WIDTH, WIDTH),
        "action_mlp.0.bias": random(WIDTH),
        "action_mlp.3.weight": random(4, WIDTH),
        "action_mlp.3.bias": random(4),
    }
    for n in range(LAYERS):
        weights |= {
            f"layers.{n}.dec_attn.qkv_net.0.weight": random(3 * inner, WIDTH),
            f"layers.{n}.dec_attn.o_net.weight": random(WIDTH, inner),
            f"layers.{n}.dec_attn.r_net.weight": random(inner, WIDTH),
            f"layers.{n}.dec_attn.layer_norm.weight": random(WIDTH),
            f"layers.{n}.dec_attn.layer_norm.bias": random(WIDTH),
            f"layers.{n}.pos_ff.CoreNet.0.weight": random(INNER, WIDTH),
            f"layers.{n}.pos_ff.CoreNet.0.bias": random(INNER),
            f"layers.{n}.pos_ff.CoreNet.3.weight": random(WIDTH, INNER),
            f"layers.{n}.pos_ff.CoreNet.3.bias": random(WIDTH),
            f"layers.{n}.pos_ff.layer_norm.weight": random(WIDTH),
            f"layers.{n}.pos_ff.layer_norm.bias": random(WIDTH),
        }
    return weights


@pytest.mark.parametrize("representation", families.ARC_REPRESENTATIONS)
@pytest.mark.parametrize("head", ["factored", "joint"])
def test_dtg_equals_the_formulas(head: str, representation: str) -> None:
    model = DecoderModel.from_released(released_weights(), IDS, head=head, arc_representation=representation)  # type: ignore[arg-type]
    assert (model.config.layers, model.config.width, model.config.feedforward) == (LAYERS, WIDTH, INNER)
    double = DecoderModel.from_released(released_weights(), IDS, head=head, arc_representation=representation).double()  # type: ignore[arg-type]
    for tree, pieces in sentences(4, seed=21):
        expected = naive_score(double, tree, pieces)
        assert double.score_ids(pieces, tree.heads) == pytest.approx(expected, rel=1e-9)
        assert model.score_ids(pieces, tree.heads) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("family", ["txl-trans", "txl-tokens"])
def test_transformer_xl_equals_the_formulas(family: str) -> None:
    weights = {name: tensor for name, tensor in released_weights().items() if not name.startswith("action_mlp")}
    model = DecoderModel.from_released(weights, IDS, family=family, head="joint").double()
    for tree, pieces in sentences(4, seed=22):
        assert model.score_ids(pieces, tree.heads) == pytest.approx(naive_score(model, tree, pieces), rel=1e-9)


def test_one_word_by_hand() -> None:
    """<s> x pop_root </s>: three predictions, each "gen" and then an item of the whole vocabulary."""
    model = DecoderModel.from_released(released_weights(), IDS).double()
    rows = model.family.rows(DependencyTree(("x",), (0,)))
    assert [row.predicts for row in rows] == ["GEN(x)", "POPROOT", "<END>"]
    assert rows[2].reads == ("POPROOT", "<ROOT>")
    assert (rows[2].attends, rows[2].relative) == ((0, 1, 2), (0, -1, 0))


def test_what_does_not_fit_is_named() -> None:
    weights = released_weights()
    with pytest.raises(ConfigError, match="ids lacks eos, pop_root"):
        DecoderModel.from_released(weights, {k: v for k, v in IDS.items() if k not in ("eos", "pop_root")})
    with pytest.raises(ConfigError, match="family is 'rnng'; known: dtg, dtg-eager"):
        DecoderModel.from_released(weights, IDS, family="rnng")
    for family in ("dtg-eager", "dtg-swift"):
        with pytest.raises(InputError, match=f"{family} has no pop_root ending; released models of that kind do not"):
            DecoderModel.from_released(weights, IDS, family=family)
    with pytest.raises(ConfigError, match="joint head"):
        DecoderModel.from_released(weights, IDS, family="txl-tokens")
    with pytest.raises(ConfigError, match=r"no 'layers\.1\.dec_attn\.r_net\.weight'"):
        DecoderModel.from_released({k: v for k, v in weights.items() if "1.dec_attn.r_net" not in k}, IDS)
    with pytest.raises(ConfigError, match=r"pop_root \(99\) is not among"):
        DecoderModel.from_released(weights, {**IDS, "pop_root": 99})
    with pytest.raises(ConfigError, match="numbered from 0 without gaps"):
        DecoderModel.from_released({k: v for k, v in weights.items() if "layers.0" not in k}, IDS)


def test_wrappers_of_parallel_training_are_seen_through() -> None:
    wrapped = {f"module.{name}": tensor for name, tensor in released_weights().items()}
    tree, pieces = sentences(1, seed=23)[0]
    plain = DecoderModel.from_released(released_weights(), IDS)
    assert DecoderModel.from_released(wrapped, IDS).score_ids(pieces, tree.heads) == plain.score_ids(pieces, tree.heads)
