"""Transformer Grammars and Pushdown Layers as their authors compute them, in numpy, and their weights as dtg's.

The formulas are those of the originals; weights have the originals' shapes and order. `tg_weights` and `pushdown_weights` are
what a user with such weights needs (docs/phrases.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Array = Any  # of float64
Weights = dict[str, Array]


def concatenated_sinusoids(position: int, width: int) -> Array:
    """TG: all sines, then all cosines."""
    angles = position / 10000 ** (np.arange(0, width, 2) / width)
    return np.concatenate([np.sin(angles), np.cos(angles)])


def alternating_sinusoids(position: int, width: int) -> Array:
    """Pushdown: sine, cosine, sine, cosine, ..."""
    angles = position / 10000 ** (np.arange(0, width, 2) / width)
    return np.stack([np.sin(angles), np.cos(angles)], axis=1).reshape(-1)


def reordered(weight: Array) -> Array:
    """A map from alternating sinusoids of j - i as one from concatenated sinusoids of i - j: sines change sign."""
    return np.concatenate([-weight[:, 0::2], weight[:, 1::2]], axis=1)


def normalised(x: Array, scale: Array, shift: Array) -> Array:
    return (x - x.mean()) / np.sqrt(((x - x.mean()) ** 2).mean() + 1e-5) * scale + shift


def gelu_tanh(x: Array) -> Array:
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def log_softmax(x: Array) -> Array:
    return x - x.max() - np.log(np.exp(x - x.max()).sum())


def softmax(x: Array) -> Array:
    return np.exp(log_softmax(x))


def feed_forward(w: Weights, y: Array, activate: Any) -> Array:
    return w["ffn_out"] @ activate(w["ffn_in"] @ y + w["ffn_in_bias"]) + w["ffn_out_bias"]


def tg_log_probabilities(
    weights: Mapping[str, Any], heads: int, tokens: Sequence[int], attends: Sequence[Sequence[int]], relative: Any
) -> list[Array]:
    """(rows, vocabulary): one softmax over subwords and brackets, after every row. Rows read one token each."""
    embedding = weights["embedding"]
    width = embedding.shape[1]
    x = [embedding[token] for token in tokens]
    for w in weights["layers"]:
        size = len(w["query"]) // heads
        q, k, v = ([w[name] @ row for row in x] for name in ("query", "key", "value"))
        after = []
        for i, row in enumerate(x):
            mixed = []
            for h in range(heads):
                part = slice(h * size, (h + 1) * size)
                scores = [
                    (q[i][part] + w["u"][h]) @ k[j][part]
                    + (q[i][part] + w["v"][h]) @ (w["position"] @ concatenated_sinusoids(distance, width))[part]
                    for j, distance in zip(attends[i], relative[i], strict=True)
                ]
                mixed.append(softmax(np.array(scores) / math.sqrt(size)) @ np.array([v[j][part] for j in attends[i]]))
            y = normalised(row + w["output"] @ np.concatenate(mixed) + w["output_bias"], *w["norm1"])
            after.append(normalised(y + feed_forward(w, y, gelu_tanh), *w["norm2"]))
        x = after
    return [log_softmax(embedding @ row + weights["bias"]) for row in x]


def pushdown_log_probabilities(
    weights: Mapping[str, Any], heads: int, tokens: Sequence[int], tape: Sequence[Sequence[int]]
) -> tuple[list[Array], list[Array]]:
    """After every row: of all tokens; and of where the next token is attached, all rows so far and the token itself.

    `tokens` begins with <s>; row r sees rows j <= r at positions j - r, and their depth on the tape after its own token.
    """
    embedding = weights["embedding"]
    width = embedding.shape[1]
    x = [embedding[token] * math.sqrt(width) for token in tokens]
    for w in weights["layers"]:
        size = len(w["query"]) // heads
        q = [w["query"] @ row for row in x]
        # data_to_kv: of each head, the key and then the value.
        kv = [(w["data_to_kv"] @ row).reshape(heads, 2, size) for row in x]
        after = []
        for i, row in enumerate(x):
            mixed = []
            for h in range(heads):
                part = slice(h * size, (h + 1) * size)
                scores = [
                    q[i][part]
                    @ (
                        kv[j][h, 0]
                        + (w["position"] @ alternating_sinusoids(j - i, width))[part]
                        + w["depth"][tape[i][j]]
                    )
                    for j in range(i + 1)
                ]
                mixed.append(
                    softmax(np.array(scores) / math.sqrt(size)) @ np.array([kv[j][h, 1] for j in range(i + 1)])
                )
            y = normalised(row + w["output"] @ np.concatenate(mixed), *w["norm1"])
            after.append(normalised(y + feed_forward(w, y, lambda z: np.maximum(z, 0)), *w["norm2"]))
        x = after
    words = [log_softmax(embedding @ row + weights["bias"]) for row in x]

    a = weights["attachment"]

    def network(name: str, y: Array) -> Array:
        inner = np.maximum(a[f"{name}_in"] @ y + a[f"{name}_in_bias"], 0)
        return a[f"{name}_out"] @ inner + a[f"{name}_out_bias"]

    attached = []
    for r in range(len(tokens) - 1):
        e = embedding[tokens[r + 1]]
        query = network("mlp_query", np.concatenate([a["query"] @ x[r] + a["query_bias"], e]))
        keys = [
            network("mlp_composer", np.concatenate([a["key"] @ x[j] + a["key_bias"], a["depth"][tape[r][j]]]))
            for j in range(r + 1)
        ]
        keys.append(network("mlp_key", np.concatenate([query, e])))
        logits = [
            query @ key + query @ (a["position"] @ alternating_sinusoids(j - (r + 1), width))
            for j, key in enumerate(keys)
        ]
        attached.append(log_softmax(np.array(logits)))
    return words, attached


NEVER = -1e9  # the bias of a token that the original does not have


def shared_weights(layer: int, w: Weights) -> Weights:
    """What layers of both have: output projection, feed-forward, norms."""
    names = {
        "attention.output.weight": "output",
        "feedforward.inner.weight": "ffn_in",
        "feedforward.outer.weight": "ffn_out",
    }
    names |= {"feedforward.inner.bias": "ffn_in_bias", "feedforward.outer.bias": "ffn_out_bias"}
    found = {f"decoder.layers.{layer}.{ours}": w[theirs] for ours, theirs in names.items()}
    for ours, theirs in (("attention_norm", "norm1"), ("feedforward_norm", "norm2")):
        scale, shift = w[theirs]
        found |= {f"decoder.layers.{layer}.{ours}.weight": scale, f"decoder.layers.{layer}.{ours}.bias": shift}
    return found


def tg_weights(original: Mapping[str, Any]) -> Weights:
    """Weights of a Transformer Grammar by dtg's names.

    Its vocabulary is subwords, then `(X` for each label, then `X)` for each, as in dtg. dtg has one token more, <END>: with a
    bias of -1e9 it takes no probability from the others.
    """
    width = original["embedding"].shape[1]
    found = {
        "decoder.embedding.weight": np.concatenate([original["embedding"], np.zeros((1, width))]),
        "head.bias": np.concatenate([original["bias"], [NEVER]]),
    }
    for number, w in enumerate(original["layers"]):
        name = f"decoder.layers.{number}"
        found |= shared_weights(number, w)
        found[f"{name}.attention.queries_keys_values.weight"] = np.concatenate([w["query"], w["key"], w["value"]])
        found[f"{name}.attention.positions.weight"] = w["position"]
        found[f"{name}.attention.output.bias"] = w["output_bias"]
        found |= {f"{name}.biases.content": w["u"], f"{name}.biases.position": w["v"]}
    return found


def pushdown_weights(original: Mapping[str, Any], heads: int, eos: int, depths: int = 63) -> Weights:
    """Weights of a Pushdown model by dtg's names.

    <eos>, an ordinary word of the original, is dtg's <END>, so it moves behind all other tokens. Depths from the original's
    last one on, at which it would fail, share that one.
    """
    order = [token for token in range(len(original["embedding"])) if token != eos] + [eos]

    def deep(table: Array) -> Array:
        return np.concatenate([table, np.repeat(table[-1:], depths - len(table), axis=0)])

    found = {"decoder.embedding.weight": original["embedding"][order], "head.bias": original["bias"][order]}
    for number, w in enumerate(original["layers"]):
        name = f"decoder.layers.{number}.attention"
        found |= shared_weights(number, w)
        width = w["data_to_kv"].shape[1]
        kv = w["data_to_kv"].reshape(heads, 2, -1, width)
        keys, values = kv[:, 0].reshape(-1, width), kv[:, 1].reshape(-1, width)
        found[f"{name}.queries_keys_values.weight"] = np.concatenate([w["query"], keys, values])
        found[f"{name}.positions.weight"] = reordered(w["position"])
        found[f"{name}.channel.weight"] = deep(w["depth"])
    a = original["attachment"]
    for name in ("query", "key"):
        found |= {f"attachment.{name}.weight": a[name], f"attachment.{name}.bias": a[f"{name}_bias"]}
    for ours, theirs in (("query", "mlp_query"), ("self", "mlp_key"), ("key", "mlp_composer")):
        for place, part in ((0, "in"), (2, "out")):
            found[f"attachment.{ours}_network.{place}.weight"] = a[f"{theirs}_{part}"]
            found[f"attachment.{ours}_network.{place}.bias"] = a[f"{theirs}_{part}_bias"]
    found["attachment.positions.weight"] = reordered(a["position"])
    found["attachment.depth.weight"] = deep(a["depth"])
    return found
