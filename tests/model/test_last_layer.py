"""In the last layer only rows that predict have queries and feed-forward: the same numbers and gradients as with all rows."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from dtg.families import FAMILIES, PackedRows, pack
from dtg.model import DecoderModel
from dtg.model.attention import HeadGroups
from dtg.model.batch import prepared, sentence_keys
from dtg.model.batch.sentence_keys import SentenceKeys
from dtg.model.packed_keys import PackedKeys
from dtg.transitions.batch import SentenceBatch
from dtg.transitions.table import GENERATE
from tests.dependency import DEPENDENCY_FAMILIES
from tests.model import test_model, test_phrase_models
from tests.phrase_twins import PHRASE_FAMILIES

MODERN: dict[str, Any] = {
    "norm": "pre",
    "norm_kind": "rms",
    "activation": "swiglu",
    "query_key_norm": True,
    "head_gates": True,
    "shared_position_biases": False,
}
PROFILES: dict[str, dict[str, Any]] = {"default": {}, "modern": MODERN, "joint": {"head": "joint"}}
COMPOSING = ("dtg", "dtg-eager", "dtg-swift", "dtg-hybrid", "tg", "tg-hybrid")  # have rows that predict nothing


def model_and_batch(family: str, **settings: Any) -> tuple[DecoderModel, SentenceBatch]:
    """A small model in float64 and sentences of very different length."""
    if family in DEPENDENCY_FAMILIES:
        model = test_model.tiny(family, distance_limit=60, **settings)
        some: Any = [*test_model.sentences(3, seed=3), *test_model.sentences(2, seed=5, longest=14)]
    else:
        model = test_phrase_models.tiny(family, max_open=90, max_chain=60, **settings)
        some = [
            *test_phrase_models.sentences(model, 3, seed=3),
            *test_phrase_models.sentences(model, 2, seed=4, longest=14),
        ]
    return model, model.encode([tree for tree, _ in some], [pieces for _, pieces in some])


def with_all_rows(model: DecoderModel, batch: SentenceBatch) -> Tensor:
    """The summed log-probability, every row computed in every layer."""
    actions = model.family.system.derive(batch)
    packed = pack(model.family, actions, model.root)
    hidden = model.decoder(*model.symbols.read_rows(packed), PackedKeys.of(packed, model.groups))
    assert len(hidden) == len(packed)
    rows = (packed.target >= 0).nonzero()[:, 0]
    places = packed.target[rows]
    total = model.predict(hidden[rows], model.aims(packed.features[rows], actions, places, True)).sum()
    if model.attachment is not None:
        generates = actions.id[places] == GENERATE
        rows, places = rows[generates], places[generates] + 1
        asked = model.attachable(packed, rows, actions, places, True)
        total = total + model.predict_attachments(hidden, rows, actions, places, asked).sum()
    return total


def padded_keys(packed: PackedRows, groups: tuple[HeadGroups, ...]) -> PackedKeys:
    """As on a GPU."""
    return PackedKeys.of(packed, groups, all_outputs=False)


def gradients(model: DecoderModel, total: Tensor) -> dict[str, Tensor]:
    model.zero_grad()
    total.backward()
    return {name: parameter.grad.clone() for name, parameter in model.named_parameters() if parameter.grad is not None}


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("family", [*DEPENDENCY_FAMILIES, *PHRASE_FAMILIES])
def test_equal_to_all_rows(family: str, profile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, batch = model_and_batch(family, **PROFILES[profile])
    expected = with_all_rows(model, batch)
    expected_gradients = gradients(model, expected)
    monkeypatch.setattr(sentence_keys, "SPAN_QUERIES", 7)  # several spans in a sentence
    for make_keys in (SentenceKeys.of, padded_keys):
        monkeypatch.setattr(prepared, "packed_keys", make_keys)
        found = -model.loss(batch).total
        assert float(found.detach()) == pytest.approx(float(expected.detach()), rel=1e-12)
        found_gradients = gradients(model, found)
        assert found_gradients.keys() == expected_gradients.keys()
        for name, gradient in found_gradients.items():
            assert torch.allclose(gradient, expected_gradients[name], rtol=1e-9, atol=1e-12), name


@pytest.mark.parametrize("family", [*DEPENDENCY_FAMILIES, *PHRASE_FAMILIES])
def test_rows_that_predict_nothing_have_no_output(family: str) -> None:
    assert set(COMPOSING) < set(FAMILIES)
    model, batch = model_and_batch(family)
    packed = pack(model.family, model.family.system.derive(batch), model.root)
    predicting = int((packed.target >= 0).sum())
    assert (predicting < len(packed)) == (family in COMPOSING)
    for keys in (SentenceKeys.of(packed, model.groups), padded_keys(packed, model.groups)):
        assert len(model.decoder(*model.symbols.read_rows(packed), keys)) == predicting


def test_in_half_precision_gradients_are_near(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under autocast the layers compute in bfloat16, the softmax in float32."""
    model, batch = model_and_batch("dtg")
    model = model.float()
    exact = gradients(model, -model.loss(batch).total)
    with torch.autocast("cpu", torch.bfloat16):
        total = -model.loss(batch).total
    for name, gradient in gradients(model, total).items():
        assert gradient.dtype == torch.float32
        assert float((gradient - exact[name]).norm() / exact[name].norm().clamp(min=1e-3)) < 0.1, name
