"""A model computed the slow way: the twins' rows, one row and one key at a time, from the formulas.

It shares nothing with `dtg.model` but the weights and the numbering of symbols.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import torch
from torch import Tensor

from dtg import DependencyTree
from dtg.families import Kind, Row
from dtg.model import DecoderModel, ModelConfig
from dtg.model.decoder import Layer
from dtg.model.heads import FactoredHead
from dtg.transitions import GEN, Action, Operation, TransitionSystem
from tests.twins import TWINS, hybrid_twin


def naive_rows(model: DecoderModel, tree: DependencyTree, pieces: Sequence[Sequence[int]]) -> list[Row]:
    """The twin's rows, with piece ids as words; in released models the last arc is one row that predicts."""
    return rows_of_actions(model, model.family.system.oracle(tree), pieces)


def rows_of_actions(model: DecoderModel, actions: Sequence[Action], pieces: Sequence[Sequence[int]]) -> list[Row]:
    """The same for any derivation, complete or not."""
    names = [[str(piece) for piece in word] for word in pieces]
    config = model.config
    if config.family == "dtg-hybrid":
        return list(hybrid_twin(actions, names, config.arc_representation, config.memory, config.memory_on_compose))
    rows = list(TWINS[config.family](actions, names, config.arc_representation))
    if any(action.operation == Operation.POPROOT for action in actions) and rows[-1].kind == Kind.STACK:
        *kept, composed, predicting = rows
        rows = [*kept, replace(composed, predicts=predicting.predicts)]
    return rows


def token_of(model: DecoderModel, name: str) -> int:
    """The embedding that a word of a row stands for."""
    if name == "<ROOT>":
        return model.root
    if match := re.fullmatch(r"(LEFTARC|RIGHTARC|POPROOT|POP)(2?)(\[\d+\])?", name):
        number = id_of(model, match[1] + (match[3] or ""))
        return model.symbols.second[number] if match[2] else model.symbols.read[number]
    return int(name)


def id_of(model: DecoderModel, name: str) -> int:
    """The number of an action, from what it is called: GEN(..), <END>, LEFTARC, LEFTARC[2], ..."""
    names = ["GEN" if str(action).startswith("GEN") else str(action) for action in model.family.system.table.actions]
    return names.index("GEN" if name.startswith("GEN") else name)


def sinusoid(position: int, width: int) -> Tensor:
    angles = [position / 10000 ** (2 * i / width) for i in range(width // 2)]
    return torch.tensor([math.sin(a) for a in angles] + [math.cos(a) for a in angles], dtype=torch.float64)


def norm(module: torch.nn.Module, x: Tensor) -> Tensor:
    if isinstance(module, torch.nn.RMSNorm):
        return x / (x.pow(2).mean() + 1e-5).sqrt() * module.weight
    assert isinstance(module, torch.nn.LayerNorm)
    centred = x - x.mean()
    return centred / (centred.pow(2).mean() + 1e-5).sqrt() * module.weight + module.bias


def activation(name: str, x: Tensor) -> Tensor:
    if name == "swiglu":
        gate, value = x[: len(x) // 2], x[len(x) // 2 :]
        return gate / (1 + torch.exp(-gate)) * value
    if name == "gelu":
        return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))
    assert name in ("relu", "relu_squared")
    return x.clamp(min=0) ** (2 if name == "relu_squared" else 1)


def seen_by_head(config: ModelConfig, row: Row, layer: int, head: int) -> list[tuple[int, int]]:
    """The rows that a head of a layer sees, and where; the last heads of hybrids are memory heads in some of the layers."""
    attends, relative = row.attends, row.relative
    in_half = {"all": True, "lower": layer < config.layers // 2, "upper": layer >= config.layers // 2}
    heads = config.attention_heads
    if row.views and in_half[config.memory_layers]:
        stack_heads = config.view_heads[0] if config.view_heads else heads - heads // 2
        view = row.views[head >= stack_heads]
        attends, relative = view.attends, view.relative
    return list(zip(attends, relative, strict=True))


def hidden_vectors(model: DecoderModel, rows: Sequence[Row]) -> list[Tensor]:
    """The decoder, row by row."""
    config, decoder = model.config, model.decoder
    vectors = [
        sum((decoder.embedding.weight[token_of(model, n)] for n in r.reads), torch.zeros(config.width)) for r in rows
    ]
    vectors = [v.double() for v in vectors]
    for number, layer in enumerate(decoder.layers):
        assert isinstance(layer, Layer)
        biases = decoder.biases or layer.biases
        assert biases is not None
        heads, size = config.attention_heads, config.head_width

        inputs = [norm(layer.attention_norm, x) if config.norm == "pre" else x for x in vectors]
        projected = [layer.attention.queries_keys_values.weight @ x for x in inputs]
        parts = [p.view(3, heads, size) for p in projected]
        if layer.attention.query_norm is not None and layer.attention.key_norm is not None:
            norms = (layer.attention.query_norm, layer.attention.key_norm)
            for part in parts:
                for kind, h in product((0, 1), range(heads)):
                    part[kind, h] = norm(norms[kind], part[kind, h].clone())
        after = []
        for row, x in zip(rows, vectors, strict=True):
            mixed = []
            for h in range(heads):
                query = parts[row.index][0, h]
                scores, seen = [], seen_by_head(config, row, number, h)
                for key, relative in seen:
                    place = (layer.attention.positions.weight @ sinusoid(relative, config.width)).view(heads, size)[h]
                    content = (query + biases.content[h]) @ parts[key][1, h]
                    scores.append((content + (query + biases.position[h]) @ place) / math.sqrt(size))
                weights = torch.stack(scores).softmax(0)
                found = weights @ torch.stack([parts[key][2, h] for key, _ in seen])
                if layer.attention.gates is not None:
                    gates = layer.attention.gates
                    found = found * 2 / (1 + torch.exp(-(gates.weight[h] @ inputs[row.index] + gates.bias[h])))
                mixed.append(found)
            attended = x + layer.attention.output.weight @ torch.cat(mixed)
            if config.norm == "post":
                attended = norm(layer.attention_norm, attended)
            into = norm(layer.feedforward_norm, attended) if config.norm == "pre" else attended
            inner = layer.feedforward.inner.weight @ into + layer.feedforward.inner.bias
            inner = activation(config.activation, inner)
            out = attended + layer.feedforward.outer.weight @ inner + layer.feedforward.outer.bias
            after.append(norm(layer.feedforward_norm, out) if config.norm == "post" else out)
        vectors = after
    return [norm(decoder.final_norm, x) for x in vectors] if config.norm == "pre" else vectors


@torch.no_grad()
def naive_score(
    model: DecoderModel, tree: DependencyTree, pieces: Sequence[Sequence[int]], *, constrained: bool = False
) -> float:
    """log p(x, y), prediction by prediction."""
    system = model.family.system
    return naive_derivation_score(model, system, system.oracle(tree), pieces, constrained=constrained)


@torch.no_grad()
def naive_derivation_score(
    model: DecoderModel,
    system: TransitionSystem,
    derivation: Sequence[Action],
    pieces: Sequence[Sequence[int]],
    *,
    constrained: bool = False,
) -> float:
    """The log-probability of a derivation, which need not be complete."""
    rows = rows_of_actions(model, derivation, pieces)
    hidden = hidden_vectors(model, rows)
    state, total, open_word = system.initial(), 0.0, False
    actions = iter(derivation)
    pending: Iterator[int] = iter(())
    words = iter(pieces)
    for row in rows:
        if row.predicts is None:
            continue
        legal = {id_of(model, str(action)) for action in system.legal(state)} if constrained else None
        total += float(naive_prediction(model, hidden[row.index], row.predicts, legal, open_word))
        piece = next(pending, None)
        if piece is not None:
            continue  # a piece that goes on with its word
        action: Action = next(actions)
        if action.operation == Operation.GEN:
            pending = iter(next(words)[1:])
            action = GEN(action.word)
        state = system.apply(state, action)
        open_word = action.operation == Operation.GEN
    return total


def naive_prediction(
    model: DecoderModel, hidden: Tensor, predicts: str, legal: set[int] | None, open_word: bool
) -> Tensor:
    """The log-probability of one prediction, both heads, from the definition; `legal` has the numbers of actions."""
    symbols, head = model.symbols, model.head
    number = id_of(model, predicts)
    generate = id_of(model, "GEN")
    token = int(predicts[4:-1]) if number == generate else symbols.target[number]
    embedding = model.decoder.embedding.weight[: symbols.predicted_tokens].double()
    logits = embedding @ hidden + (head.bias if head.bias is not None else 0.0)
    illegal = [] if legal is None else [one for one in range(len(symbols.target)) if one not in legal]
    if legal is not None and not open_word and model.starts_word is not None:
        logits[: symbols.pieces][~model.starts_word] = -math.inf
    if not isinstance(head, FactoredHead):
        for one in illegal:
            if one == generate:
                logits[: symbols.pieces] = -math.inf
            else:
                logits[symbols.target[one]] = -math.inf
    result = torch.zeros((), dtype=torch.float64)
    if token >= 0:
        result = result + logits.log_softmax(0)[token]
    if isinstance(head, FactoredHead):
        classes = head.outer.weight @ (head.inner.weight @ hidden + head.inner.bias).relu() + head.outer.bias
        for one in illegal:
            classes[symbols.classes[one]] = -math.inf
        result = result + classes.log_softmax(0)[symbols.classes[number]]
    return result
