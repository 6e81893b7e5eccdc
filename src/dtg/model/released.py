"""Reads the weights of the authors' released code into the terms of `DecoderModel`.

Sizes are read off the tensors. What the design lists of names is renamed to ours; a missing name raises.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from dtg.errors import ConfigError
from dtg.families import FAMILIES, ArcRepresentation
from dtg.model.config import HeadName, ModelConfig

NEEDED_IDS = ("pad", "bos", "eos", "left_arc", "right_arc", "pop_root")
WHOLE = {
    "decoder.embedding.weight": "emb.weight",
    "head.bias": "projection.bias",
    "decoder.biases.content": "r_w_bias",
    "decoder.biases.position": "r_r_bias",
}
FACTORED = {
    "head.inner.weight": "action_mlp.0.weight",
    "head.inner.bias": "action_mlp.0.bias",
    "head.outer.weight": "action_mlp.3.weight",
    "head.outer.bias": "action_mlp.3.bias",
}
LAYER = {
    "attention.queries_keys_values.weight": "dec_attn.qkv_net.0.weight",
    "attention.output.weight": "dec_attn.o_net.weight",
    "attention.positions.weight": "dec_attn.r_net.weight",
    "attention_norm.weight": "dec_attn.layer_norm.weight",
    "attention_norm.bias": "dec_attn.layer_norm.bias",
    "feedforward.inner.weight": "pos_ff.CoreNet.0.weight",
    "feedforward.inner.bias": "pos_ff.CoreNet.0.bias",
    "feedforward.outer.weight": "pos_ff.CoreNet.3.weight",
    "feedforward.outer.bias": "pos_ff.CoreNet.3.bias",
    "feedforward_norm.weight": "pos_ff.layer_norm.weight",
    "feedforward_norm.bias": "pos_ff.layer_norm.bias",
}


@dataclass(frozen=True, slots=True)
class ReleasedModel:
    """A released model in our terms: its configuration, its weights by our names, and the ids of what is not a word."""

    config: ModelConfig
    weights: dict[str, Tensor]
    ids: dict[str, int]


def read_released(
    state_dict: Mapping[str, Tensor],
    ids: Mapping[str, int],
    family: str,
    head: HeadName,
    arc_representation: ArcRepresentation,
) -> ReleasedModel:
    """See `DecoderModel.from_released`."""
    if missing := [name for name in NEEDED_IDS if name not in ids]:
        raise ConfigError(f"ids lacks {', '.join(missing)}; it must map {', '.join(NEEDED_IDS)} to vocabulary ids.")
    if family in FAMILIES and not FAMILIES[family].rule.has_compose_rows and head != "joint":
        raise ConfigError(f"released {family} models have the joint head; pass head='joint'.")
    weights = {name.removeprefix("module."): tensor for name, tensor in state_dict.items()}
    config = read_config(weights, family, head, arc_representation)
    if outside := [f"{name} ({ids[name]})" for name in NEEDED_IDS if not 0 <= ids[name] < config.vocabulary]:
        raise ConfigError(f"the vocabulary has {config.vocabulary} items, which {', '.join(outside)} is not among.")
    names = dict(WHOLE) | (FACTORED if head == "factored" else {})
    for layer in range(config.layers):
        names |= {f"decoder.layers.{layer}.{ours}": f"layers.{layer}.{theirs}" for ours, theirs in LAYER.items()}
    return ReleasedModel(
        config,
        {ours: found(weights, theirs) for ours, theirs in names.items()},
        {name: int(ids[name]) for name in NEEDED_IDS},
    )


def read_config(
    weights: Mapping[str, Tensor], family: str, head: HeadName, arc_representation: ArcRepresentation
) -> ModelConfig:
    """The sizes, from the tensors' shapes."""
    vocabulary, width = found(weights, "emb.weight").shape
    attention_heads, head_width = found(weights, "r_w_bias").shape
    layers = {int(match[1]) for name in weights if (match := re.match(r"layers\.(\d+)\.", name))}
    if layers != set(range(len(layers))):
        raise ConfigError(f"the state dict has layers {sorted(layers)}; they must be numbered from 0 without gaps.")
    has_trees = family not in FAMILIES or FAMILIES[family].system.kind is not None
    return ModelConfig(
        family=family,
        vocabulary=vocabulary,
        layers=len(layers),
        width=width,
        attention_heads=attention_heads,
        head_width=head_width,
        feedforward=found(weights, "layers.0.pos_ff.CoreNet.0.weight").shape[0],
        head=head,
        arc_representation=arc_representation,
        constrained=False,
        end="pop_root" if has_trees else "arc",
    )


def found(weights: Mapping[str, Tensor], name: str) -> Tensor:
    if name not in weights:
        raise ConfigError(f"the state dict has no {name!r}; is it a released DTG model's?")
    return weights[name]
