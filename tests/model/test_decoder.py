"""Every choice of the decoder against the naive model, in training, in the trie and in search; and what new models are like."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch

from dtg.language_model import LanguageModel
from dtg.model import DecoderModel, ModelConfig
from dtg.model.attention import RelativeAttention
from dtg.model.decoder import Layer
from dtg.model.norms import RMSNorm
from dtg.scoring.tree_scores import score_derivations
from tests.model.naive import naive_score
from tests.model.test_model import TINY, sentences, tiny
from tests.twins import every_projective_tree

CHOICES: dict[str, dict[str, Any]] = {
    "rms": {"norm_kind": "rms"},
    "pre rms": {"norm": "pre", "norm_kind": "rms"},
    "squared": {"activation": "relu_squared"},
    "swiglu": {"activation": "swiglu"},
    "query-key norm": {"query_key_norm": True},
    "gates": {"head_gates": True},
    "all": {
        "norm": "pre",
        "norm_kind": "rms",
        "activation": "swiglu",
        "query_key_norm": True,
        "zero_outputs": True,
        "head_gates": True,
    },
}
PIECES = [[1], [2, 9], [3]]


@pytest.mark.parametrize("family", ["dtg", "txl-trans", "dtg-hybrid"])
@pytest.mark.parametrize("choice", CHOICES)
def test_training_trie_and_search_equal_the_naive_model(family: str, choice: str) -> None:
    model = tiny(family, **CHOICES[choice])
    some = sentences(3, seed=1)
    batch = model.encode([tree for tree, _ in some], [pieces for _, pieces in some])
    expected = [naive_score(model, tree, pieces, constrained=True) for tree, pieces in some]
    assert model.score_batch(batch).tolist() == pytest.approx(expected, rel=1e-9)
    assert score_derivations(model, batch, constrained=True) == pytest.approx(expected, rel=1e-9)
    state = LanguageModel(model).begin(beam=1000, word_beam=1000)
    for word in PIECES:
        state = state.step_ids(word)
    every = [model.score_ids(PIECES, heads, constrained=True) for heads in every_projective_tree(len(PIECES))]
    assert state.end().log_probability == pytest.approx(math.log(sum(map(math.exp, every))), rel=1e-10)


@pytest.mark.parametrize("choice", CHOICES)
def test_saved_and_loaded(choice: str, tmp_path: Path) -> None:
    model = tiny("dtg", words_start=False, **CHOICES[choice]).float()
    model.save(tmp_path)
    again = DecoderModel.load(tmp_path)
    assert again.config == model.config
    assert again.score_ids(PIECES, [2, 0, 2]) == model.score_ids(PIECES, [2, 0, 2])


@pytest.mark.parametrize("choice", CHOICES)
def test_gradients_in_bfloat16(choice: str) -> None:
    """As it is trained: products in bfloat16, weights in float32."""
    model = tiny("dtg", **CHOICES[choice]).float().train()
    some = sentences(4, seed=8)
    batch = model.encode([tree for tree, _ in some], [pieces for _, pieces in some])
    exact = model.loss(batch).total.item()
    with torch.autocast("cpu", torch.bfloat16):
        loss = model.loss(batch)
    assert loss.total.item() == pytest.approx(exact, rel=0.03)
    loss.total.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and bool(parameter.grad.isfinite().all()), name
        assert bool((parameter.grad != 0).any()), name


def test_choices_are_not_saved_where_they_are_not_made() -> None:
    settings = ModelConfig().to_dict()
    assert not {"norm_kind", "query_key_norm", "zero_outputs", "head_gates"} & set(settings)
    assert ModelConfig.from_dict(settings) == ModelConfig()
    assert ModelConfig(norm_kind="rms").to_dict()["norm_kind"] == "rms"


def test_zero_outputs_leave_all_other_weights_as_they_are() -> None:
    """In a new model of pre-norm a layer then gives what it reads."""
    plain, zero = (DecoderModel.create(ModelConfig(**TINY, norm="pre", zero_outputs=is_on)) for is_on in (False, True))
    for (name, before), (_, now) in zip(plain.named_parameters(), zero.named_parameters(), strict=True):
        if name.endswith(("attention.output.weight", "feedforward.outer.weight")):
            assert not bool(now.any()) and bool(before.any())
        else:
            assert torch.equal(before, now)


def test_swiglu_has_a_gate_for_each_number() -> None:
    model = DecoderModel.create(ModelConfig(**{**TINY, "feedforward": 6, "activation": "swiglu"}))
    (layer, *_) = model.decoder.layers
    assert isinstance(layer, Layer)
    assert layer.feedforward.inner.weight.shape == (12, 8) and layer.feedforward.outer.weight.shape == (8, 6)


def test_matrices_are_the_linear_maps_of_layers() -> None:
    model = DecoderModel.create(ModelConfig(**TINY, head_gates=True))
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    found = sorted(names[id(matrix)] for matrix in model.matrices())
    parts = (
        "attention.output",
        "attention.positions",
        "attention.queries_keys_values",
        "feedforward.inner",
        "feedforward.outer",
    )
    assert found == [f"decoder.layers.{layer}.{part}.weight" for layer in (0, 1) for part in parts]


def test_normalised_queries_and_keys_bound_what_content_adds() -> None:
    """However large the weights are, a key of `head_width` numbers has that squared length, or none at all."""
    model = DecoderModel.create(ModelConfig(**TINY, query_key_norm=True))
    (layer, *_) = model.decoder.layers
    assert isinstance(layer, Layer) and isinstance(layer.attention, RelativeAttention)
    seen = []

    class Keys:
        def queries(self, rows: torch.Tensor) -> torch.Tensor:
            return rows

        def attend(self, projected: Any) -> torch.Tensor:
            seen.append(projected)
            return torch.zeros(5, 8)

    layer.attention(100 * torch.randn(5, 8), Keys(), None, torch.zeros(3, 8))
    (projected,) = seen
    keys = projected.keys_values[:, 0]
    assert torch.allclose(keys.square().sum(-1), torch.full((5, 2), 4.0), rtol=1e-3)
    assert torch.allclose(projected.content.square().sum(-1), torch.full((5, 2), 1.0), rtol=1e-3)


def test_rms_norm_and_its_gradient() -> None:
    norm, plain = RMSNorm(8).double(), torch.nn.RMSNorm(8, eps=1e-5).double()
    with torch.no_grad():
        for one in (norm, plain):
            one.weight.copy_(torch.linspace(0.5, 2.0, 8))
    vectors = torch.randn(3, 2, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True)
    assert torch.allclose(norm(vectors), plain(vectors), rtol=1e-12)
    assert torch.autograd.gradcheck(norm, (vectors,))
    found, expected = (torch.autograd.grad(one(vectors).square().sum(), one.weight)[0] for one in (norm, plain))
    assert torch.allclose(found, expected, rtol=1e-10)
    assert torch.equal(norm.float()(torch.zeros(2, 8, dtype=torch.bfloat16)), torch.zeros(2, 8))
