"""Heads: hidden vectors of rows that predict in, the log-probability of what each predicts out.

`FactoredHead` first chooses a class (GEN, `<END>`, an operation), then, for GEN, a token. `JointHead` chooses among all
tokens at once. What is illegal is masked before normalising, if the model is constrained. Training asks for the one action
that was taken; a search asks for `choices`: all kinds of action at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from dtg.model.config import ModelConfig
from dtg.model.symbols import NONE, Symbols, Targets
from dtg.transitions import Operation, TransitionSystem
from dtg.transitions.lanes import FeatureTable, legal

ARCS_AND_POP = (Operation.LEFTARC, Operation.RIGHTARC, Operation.POP)
GENERATE, END = 0, 1  # columns of `choices`; the operations follow, in the order of `Symbols.operations`


@dataclass(frozen=True, slots=True)
class Allowed:
    """What rows may predict: (rows, classes) bool for the factored head, (rows, operations and end) for the joint one,
    and (rows,) bool whether the next piece must begin a word."""

    classes: Tensor
    must_start_word: Tensor

    @classmethod
    def of(cls, system: TransitionSystem, features: Tensor, *, joint: bool) -> Allowed:
        """What is legal in states with these features (see `FeatureTable`), in the order that the head has it.

        The text is not known here: probabilities are those of a model that generates.
        """
        table = FeatureTable(features)
        verdicts = legal(system, table)
        operations = [verdicts[code] for code in ARCS_AND_POP if code in verdicts]
        generate, end = verdicts[Operation.GEN], verdicts[Operation.END]
        ordered = [generate, *operations, end] if joint else [generate, end, *operations]
        return cls(torch.cat(ordered, dim=1), table.last[:, 0] != Operation.GEN)


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

    def choices(self, hidden: Tensor, embedding: Tensor, allowed: Allowed | None, starts_word: Tensor | None) -> Tensor:
        """(rows, 2 + operations) log-probabilities of GEN with any piece, `<END>`, and each operation."""
        classes = self.symbols.classes
        columns = [classes[Operation.GEN], classes[Operation.END], *(classes[key] for key in self.symbols.operations)]
        return self.class_log_probabilities(hidden, allowed)[:, columns]

    def forward(
        self, hidden: Tensor, targets: Targets, embedding: Tensor, allowed: Allowed | None, starts_word: Tensor | None
    ) -> Tensor:
        """(rows,) the log-probability of each target."""
        classes = self.class_log_probabilities(hidden, allowed)
        chosen = classes.gather(1, targets.class_[:, None])[:, 0]
        generating = (targets.token != NONE).nonzero()[:, 0]
        must_start = None if allowed is None else allowed.must_start_word[generating]
        tokens = self.token_logits(hidden.index_select(0, generating), embedding, must_start, starts_word)
        loss = functional.cross_entropy(tokens, targets.token[generating], reduction="none")
        return chosen.index_add(0, generating, -loss)

    def token_logits(
        self, hidden: Tensor, embedding: Tensor, must_start: Tensor | None, starts_word: Tensor | None
    ) -> Tensor:
        """(rows, tokens) given GEN, minus infinity where a token is not allowed."""
        tokens = functional.linear(hidden, embedding[: self.symbols.predicted_tokens], self.bias)
        if must_start is not None and starts_word is not None:
            tokens = forbid_continuations(tokens, must_start, starts_word)
        return precise(tokens)

    def pieces(self, hidden: Tensor, embedding: Tensor, allowed: Allowed | None, starts_word: Tensor | None) -> Tensor:
        """(rows, pieces) log-probabilities of each piece, given GEN."""
        must_start = None if allowed is None else allowed.must_start_word
        tokens = self.token_logits(hidden, embedding, must_start, starts_word)
        return tokens.log_softmax(-1)[:, : self.symbols.pieces]


class JointHead(nn.Module):
    """One softmax over pieces and operations, by the tied embeddings."""

    def __init__(self, config: ModelConfig, symbols: Symbols) -> None:
        super().__init__()
        self.symbols = symbols
        self.bias = nn.Parameter(torch.zeros(symbols.predicted_tokens)) if config.output_bias else None

    def logits(self, hidden: Tensor, embedding: Tensor, allowed: Allowed | None, starts_word: Tensor | None) -> Tensor:
        """(rows, tokens) of every token, minus infinity where it is not allowed."""
        logits = functional.linear(hidden, embedding[: self.symbols.predicted_tokens], self.bias)
        if allowed is not None:
            pieces, operations = logits[:, : self.symbols.pieces], logits[:, self.symbols.pieces :]
            may_generate, others = allowed.classes[:, :1], allowed.classes[:, 1:]
            if starts_word is not None:
                pieces = forbid_continuations(pieces, allowed.must_start_word, starts_word)
            pieces = pieces.masked_fill(~may_generate, -torch.inf)
            logits = torch.cat([pieces, operations.masked_fill(~others, -torch.inf)], dim=1)
        return precise(logits)

    def choices(self, hidden: Tensor, embedding: Tensor, allowed: Allowed | None, starts_word: Tensor | None) -> Tensor:
        """(rows, 2 + operations) log-probabilities of GEN with any piece, `<END>`, and each operation."""
        tokens = self.logits(hidden, embedding, allowed, starts_word).log_softmax(-1)
        others = [self.symbols.end_token, *(self.symbols.operation_tokens[key] for key in self.symbols.operations)]
        # In released models these are among the pieces, and so is pop_root.
        no_words = [*others, self.symbols.pop_root_token] if self.symbols.pop_root_token != NONE else others
        words = tokens.index_fill(1, torch.tensor(no_words, device=tokens.device), -torch.inf)
        return torch.cat([words.logsumexp(-1, keepdim=True), tokens[:, others]], dim=1)

    def pieces(self, hidden: Tensor, embedding: Tensor, allowed: Allowed | None, starts_word: Tensor | None) -> Tensor:
        """(rows, pieces) log-probabilities of each piece, given GEN."""
        return self.logits(hidden, embedding, allowed, starts_word)[:, : self.symbols.pieces].log_softmax(-1)

    def forward(
        self, hidden: Tensor, targets: Targets, embedding: Tensor, allowed: Allowed | None, starts_word: Tensor | None
    ) -> Tensor:
        """(rows,) the log-probability of each target."""
        logits = self.logits(hidden, embedding, allowed, starts_word)
        return -functional.cross_entropy(logits, targets.token, reduction="none")


def precise(logits: Tensor) -> Tensor:
    """Probabilities are computed in float32 at least, also where matrices are multiplied in less."""
    return logits.float() if logits.dtype in (torch.bfloat16, torch.float16) else logits


def forbid_continuations(logits: Tensor, must_start_word: Tensor, starts_word: Tensor) -> Tensor:
    """After an arc, a POP or `<ROOT>` no word is open: a piece must begin one. Changes the logits, which are many."""
    return logits.masked_fill_(must_start_word[:, None] & ~starts_word, -torch.inf)
