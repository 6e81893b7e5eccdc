"""Phrase-structure models computed the slow way: the twins' rows, one row, one head and one key at a time, from the formulas.

It shares nothing with `dtg.model` but the weights and the numbering of symbols.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from dtg.families import Row
from dtg.model import DecoderModel
from dtg.model.decoder import Layer
from dtg.model.heads import FactoredHead
from tests.model.naive import norm, seen_by_head, sinusoid
from tests.phrase_twins import ROWS, Move, moves_of, named, tg_hybrid_rows


def id_of(model: DecoderModel, name: str) -> int:
    names = [str(action) for action in model.family.system.table.actions]
    return names.index("GEN" if name.startswith("GEN") else name)


def token_of(model: DecoderModel, name: str) -> int:
    """The embedding that what a row reads stands for; subwords are called by their number."""
    if name == "<ROOT>":
        return model.root
    if name.startswith(("NT(", "REDUCE")):
        second = name.startswith("REDUCE2")
        number = id_of(model, name.replace("REDUCE2", "REDUCE"))
        return (model.symbols.second if second else model.symbols.read)[number]
    return int(name)


def keys_of(model: DecoderModel, row: Row, layer: int, head: int) -> list[tuple[int, int, int | None]]:
    """What a head of a row sees: the row of each key, its relative position, and its depth on the tape."""
    if model.config.family == "tg-hybrid":
        return [(key, relative, None) for key, relative in seen_by_head(model.config, row, layer, head)]
    if model.config.family == "plm-mask":
        before, phrase, _ = model.config.view_heads or (1, 1, 0)
        view = row.views[0 if head < before else 1 if head < before + phrase else 2]
        return [(key, relative, None) for key, relative in zip(view.attends, view.relative, strict=True)]
    depths = row.views[0].channel if row.views else None
    return [
        (key, relative, None if depths is None else depths[place])
        for place, (key, relative) in enumerate(zip(row.attends, row.relative, strict=True))
    ]


def activation(name: str, x: Tensor) -> Tensor:
    if name == "relu":
        return x.clamp(min=0)
    if name == "gelu":
        return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))
    return x * 0.5 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def linear(module: nn.Linear, x: Tensor) -> Tensor:
    return module.weight @ x if module.bias is None else module.weight @ x + module.bias


def network(module: nn.Sequential, x: Tensor) -> Tensor:
    inner, _, outer = module
    assert isinstance(inner, nn.Linear) and isinstance(outer, nn.Linear)
    return linear(outer, linear(inner, x).clamp(min=0))


def hidden_vectors(model: DecoderModel, rows: Sequence[Row]) -> list[Tensor]:
    """The decoder, row by row."""
    config, decoder = model.config, model.decoder
    size, width = config.head_width, config.width
    scale = math.sqrt(width) if config.embedding_scale else 1.0
    vectors = [decoder.embedding.weight[token_of(model, row.reads[0])] * scale for row in rows]
    for number, layer in enumerate(decoder.layers):
        assert isinstance(layer, Layer)
        attention, biases = layer.attention, decoder.biases or layer.biases
        inputs = [norm(layer.attention_norm, x) if config.norm == "pre" else x for x in vectors]
        parts = [(attention.queries_keys_values.weight @ x).view(3, -1, size) for x in inputs]
        after = []
        for row, x in zip(rows, vectors, strict=True):
            mixed = []
            for head in range(config.attention_heads):
                query, scores, values = parts[row.index][0, head], [], []
                for key, relative, depth in keys_of(model, row, number, head):
                    u = 0.0 if biases is None else biases.content[head]
                    v = 0.0 if biases is None else biases.position[head]
                    place = (attention.positions.weight @ sinusoid(relative, width)).view(-1, size)[head]
                    if depth is not None:
                        assert attention.channel is not None
                        place = place + attention.channel.weight[depth]
                    scores.append(((query + u) @ parts[key][1, head] + (query + v) @ place) / math.sqrt(size))
                    values.append(parts[key][2, head])
                mixed.append(torch.stack(scores).softmax(0) @ torch.stack(values))
            y = x + linear(attention.output, torch.cat(mixed))
            y = norm(layer.attention_norm, y) if config.norm == "post" else y
            into = norm(layer.feedforward_norm, y) if config.norm == "pre" else y
            inner = activation(config.activation, linear(layer.feedforward.inner, into))
            out = y + linear(layer.feedforward.outer, inner)
            after.append(norm(layer.feedforward_norm, out) if config.norm == "post" else out)
        vectors = after
    return [norm(decoder.final_norm, x) for x in vectors] if config.norm == "pre" else vectors


@dataclass
class Plain:
    """The state of a derivation of an unknown text, and what may follow, in plain words."""

    model: DecoderModel
    open: list[str] = field(default_factory=list)  # labels
    chain: int = 0
    last: str = ""
    stack: list[int] = field(default_factory=list)  # of constituents: their last token
    tokens: int = 0
    subwords: int = 0  # of the word
    word: str = "over"  # or "open": it may be continued, or "unfinished": it must be

    def take(self, move: Move) -> None:
        operation, argument = move
        if operation == "NT":
            self.open.append(argument)
        elif operation == "REDUCE":
            self.open.pop()
        elif operation == "GEN":
            self.tokens += 1
            starts = self.model.starts_word is None or bool(self.model.starts_word[int(argument)])
            self.subwords = 1 if starts else self.subwords + 1
        elif operation == "ATTACH":
            del self.stack[len(self.stack) - argument :]
            self.stack.append(self.tokens)
            self.word = "over" if argument else "open" if self.subwords == 1 else "unfinished"
        self.chain = self.chain + 1 if operation == "NT" else 0
        self.last = operation

    @property
    def legal(self) -> set[str]:
        """What the output head may choose, by name."""
        config = self.model.config
        if config.family == "pushdown":
            ends = len(self.stack) == 1 and self.word != "unfinished"
            return {"GEN", "<END>"} if ends else {"GEN"}
        system: Any = self.model.family.system
        found = set[str]()
        if self.open:
            found.add("GEN")
        if (self.open or not self.last) and len(self.open) < config.max_open and self.chain < config.max_chain:
            found |= {f"NT({label})" for label in config.labels}
        if self.open and self.last != "NT":
            found.add(named(("REDUCE", self.open[-1]), system.typed_closing))
        if self.last and not self.open:
            found.add("<END>")
        return found

    @property
    def subwords_allowed(self) -> Tensor:
        """(vocabulary,) bool"""
        starts = self.model.starts_word
        if starts is None:
            return torch.ones(self.model.config.vocabulary, dtype=torch.bool)
        if self.model.config.family == "pushdown":
            return {"over": starts, "unfinished": ~starts, "open": starts | ~starts}[self.word]
        return starts | (torch.ones_like(starts) if self.last == "GEN" else torch.zeros_like(starts))

    @property
    def attachments(self) -> list[int]:
        """k that are legal for the token that was just generated."""
        found = [k for k in range(len(self.stack) + 1) if k == 0 or k >= max(1, self.subwords - 1)]
        return [k for k in found if len(self.stack) + 1 - k <= self.model.config.attach_limit]


def prediction(model: DecoderModel, hidden: Tensor, move: Move, state: Plain | None) -> Tensor:
    """The log-probability of a move other than ATTACH, both heads, from the definition; `state` where it is constrained."""
    symbols, head = model.symbols, model.head
    names = [str(action) for action in model.family.system.table.actions][: symbols.choices]
    logits = model.decoder.embedding.weight[: symbols.predicted_tokens] @ hidden
    logits = logits + (0.0 if head.bias is None else head.bias)
    name = named(move, getattr(model.family.system, "typed_closing", False))
    number = id_of(model, name)
    token = int(move[1]) if move[0] == "GEN" else symbols.target[number]
    if state is not None:
        logits[: symbols.pieces][~state.subwords_allowed] = -math.inf
    illegal = [] if state is None else [one for one in names if one not in state.legal]
    if not isinstance(head, FactoredHead):
        for one in illegal:
            if one == "GEN":
                logits[: symbols.pieces] = -math.inf
            else:
                logits[symbols.target[id_of(model, one)]] = -math.inf
        return logits.log_softmax(0)[token]
    classes = linear(head.outer, linear(head.inner, hidden).clamp(min=0))
    for one in illegal:
        classes[id_of(model, one)] = -math.inf
    found = classes.log_softmax(0)[number]
    return found + logits.log_softmax(0)[token] if move[0] == "GEN" else found


def attachment(
    model: DecoderModel, hidden: Sequence[Tensor], depths: Sequence[int], piece: int, k: int, state: Plain, free: bool
) -> Tensor:
    """log p(ATTACH(k)) of a token: a pointer to itself or to one of the rows so far, the last token of a constituent."""
    head, config = model.attachment, model.config
    assert head is not None
    e = model.decoder.embedding.weight[piece]
    query = network(head.query_network, torch.cat([linear(head.query, hidden[-1]), e]))
    scores = []
    for row, h in enumerate(hidden):
        key = linear(head.key, h)
        if config.attachment == "network":
            assert head.depth is not None and head.key_network is not None
            key = network(head.key_network, torch.cat([key, head.depth.weight[depths[row]]]))
        elif config.attachment == "additive":
            assert head.depth is not None
            key = key + head.depth.weight[depths[row]]
        position = head.positions.weight @ sinusoid(len(hidden) - row, config.width)
        scores.append(query @ key + query @ position)
    own = network(head.self_network, torch.cat([query, e]))
    scores.append(query @ own + query @ (head.positions.weight @ sinusoid(0, config.width)))
    logits = torch.stack(scores)
    targets = {0: len(hidden), **{one: state.stack[-one] for one in range(1, len(state.stack) + 1)}}
    if not free:
        allowed = [targets[one] for one in state.attachments]
        logits[[row for row in range(len(logits)) if row not in allowed]] = -math.inf
    return logits.log_softmax(0)[targets[k]]


@torch.no_grad()
def naive_scores(
    model: DecoderModel, tree: Any, pieces: Sequence[Sequence[int]], *, constrained: bool
) -> list[tuple[Move, float]]:
    """The log-probability of every action of a tree, in order."""
    moves = moves_of(tree, [[str(piece) for piece in word] for word in pieces])
    return naive_move_scores(model, moves, constrained=constrained)


@torch.no_grad()
def naive_move_scores(model: DecoderModel, moves: Sequence[Move], *, constrained: bool) -> list[tuple[Move, float]]:
    """The same for a derivation given as moves."""
    typed = getattr(model.family.system, "typed_closing", False)
    if model.config.family == "tg-hybrid":
        rows = tg_hybrid_rows(moves, typed, model.config.memory, model.config.memory_on_compose)
    else:
        rows = ROWS[model.config.family](moves, typed)
    hidden = hidden_vectors(model, rows)
    predicting = iter([row for row in rows if row.predicts is not None])
    state, found = Plain(model), []
    row, piece = rows[0], 0
    for move in moves:
        if move[0] == "ATTACH":
            depths = row.views[0].channel or ()
            score = attachment(model, hidden[: row.index + 1], depths, piece, move[1], state, free=not constrained)
        else:
            row = next(predicting)
            score = prediction(model, hidden[row.index], move, state if constrained else None)
        piece = int(move[1]) if move[0] == "GEN" else piece
        state.take(move)
        found.append((move, float(score)))
    return found


def naive_score(model: DecoderModel, tree: Any, pieces: Sequence[Sequence[int]], *, constrained: bool) -> float:
    """log p(x, y)."""
    return sum(score for _, score in naive_scores(model, tree, pieces, constrained=constrained))
