"""Heads: hidden vectors of rows that predict in, the log-probability of what each predicts out.

`FactoredHead` first chooses a class (GEN, `<END>`, an operation), then, for GEN, a token. `JointHead` chooses among all
tokens at once. What is illegal is masked before normalising, if the model is constrained.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from dtg.model.config import ModelConfig
from dtg.model.symbols import NONE, Symbols, Targets


@dataclass(frozen=True, slots=True)
class Allowed:
    """What rows may predict: (rows, classes) bool for the factored head, (rows, operations and end) for the joint one,
    and (rows,) bool whether the next piece must begin a word."""

    classes: Tensor
    must_start_word: Tensor


class FactoredHead(nn.Module):
    """p(class) by a small network, p(token | GEN) by the tied embeddings."""

    def __init__(self, config: ModelConfig, symbols: Symbols) -> None:
        super().__init__()
        self.symbols = symbols
        self.inner = nn.Linear(config.width, config.width)
        self.outer = nn.Linear(config.width, symbols.class_count)
        self.bias = nn.Parameter(torch.zeros(symbols.predicted_tokens)) if config.output_bias else None

    def class_log_probabilities(self, hidden: Tensor, allowed: Allowed | None) -> Tensor:
        logits: Tensor = self.outer(functional.relu(self.inner(hidden)))
        if allowed is not None:
            logits = logits.masked_fill(~allowed.classes, -torch.inf)
        return precise(logits).log_softmax(-1)

    def forward(
        self, hidden: Tensor, targets: Targets, embedding: Tensor, allowed: Allowed | None, starts_word: Tensor | None
    ) -> Tensor:
        """(rows,) the log-probability of each target."""
        classes = self.class_log_probabilities(hidden, allowed)
        chosen = classes.gather(1, targets.class_[:, None])[:, 0]
        generating = (targets.token != NONE).nonzero()[:, 0]
        tokens = functional.linear(
            hidden.index_select(0, generating), embedding[: self.symbols.predicted_tokens], self.bias
        )
        if allowed is not None and starts_word is not None:
            tokens = forbid_continuations(tokens, allowed.must_start_word[generating], starts_word)
        loss = functional.cross_entropy(precise(tokens), targets.token[generating], reduction="none")
        return chosen.index_add(0, generating, -loss)


class JointHead(nn.Module):
    """One softmax over pieces and operations, by the tied embeddings."""

    def __init__(self, config: ModelConfig, symbols: Symbols) -> None:
        super().__init__()
        self.symbols = symbols
        self.bias = nn.Parameter(torch.zeros(symbols.predicted_tokens)) if config.output_bias else None

    def forward(
        self, hidden: Tensor, targets: Targets, embedding: Tensor, allowed: Allowed | None, starts_word: Tensor | None
    ) -> Tensor:
        """(rows,) the log-probability of each target."""
        logits = functional.linear(hidden, embedding[: self.symbols.predicted_tokens], self.bias)
        if allowed is not None:
            pieces, operations = logits[:, : self.symbols.pieces], logits[:, self.symbols.pieces :]
            may_generate, others = allowed.classes[:, :1], allowed.classes[:, 1:]
            if starts_word is not None:
                pieces = forbid_continuations(pieces, allowed.must_start_word, starts_word)
            pieces = pieces.masked_fill(~may_generate, -torch.inf)
            logits = torch.cat([pieces, operations.masked_fill(~others, -torch.inf)], dim=1)
        return -functional.cross_entropy(precise(logits), targets.token, reduction="none")


def precise(logits: Tensor) -> Tensor:
    """Probabilities are computed in float32 at least, also where matrices are multiplied in less."""
    return logits.float() if logits.dtype in (torch.bfloat16, torch.float16) else logits


def forbid_continuations(logits: Tensor, must_start_word: Tensor, starts_word: Tensor) -> Tensor:
    """After an arc, a POP or `<ROOT>` no word is open: a piece must begin one."""
    return logits.masked_fill(must_start_word[:, None] & ~starts_word, -torch.inf)
