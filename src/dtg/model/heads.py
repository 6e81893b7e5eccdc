"""Output heads: from the hidden vectors of rows that predict to log-probabilities of actions.

`FactoredHead` first chooses a class (GEN, `<END>`, an operation), then, for GEN, a token. `JointHead` chooses among all
tokens at once. What is illegal is masked before normalising, if the model is constrained. Training asks for the one action
that was taken; a search asks for `choices`: all actions at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from dtg.model.batch.target_softmax import target_log_probability
from dtg.model.config import ModelConfig
from dtg.model.fixed_weight import FixedWeight
from dtg.model.symbols import Symbols, Targets
from dtg.transitions import TransitionSystem
from dtg.transitions.action import NOTHING
from dtg.transitions.lanes import FeatureTable, legal
from dtg.transitions.table import FINISH, GENERATE


@dataclass(frozen=True, slots=True)
class Allowed:
    """What rows may predict."""

    actions: Tensor  # (rows, ids) bool
    must_start_word: Tensor  # (rows,) bool: the next subword must begin a word
    must_continue_word: Tensor | None = None  # (rows,) bool: it must continue one; None: nowhere

    def only(self, rows: Tensor) -> Allowed:
        """Of these rows."""
        goes_on = None if self.must_continue_word is None else self.must_continue_word[rows]
        return Allowed(self.actions[rows], self.must_start_word[rows], goes_on)

    def restrict(self, logits: Tensor, starts_word: Tensor | None) -> Tensor:
        """Rule out subwords that must not come here: after an arc or `<ROOT>` no word is open. Changes the logits."""
        if starts_word is None:
            return logits
        logits = logits.masked_fill_(self.must_start_word[:, None] & ~starts_word, -torch.inf)
        if self.must_continue_word is not None:
            logits = logits.masked_fill_(self.must_continue_word[:, None] & starts_word, -torch.inf)
        return logits

    @classmethod
    def of(cls, system: TransitionSystem, features: Tensor) -> Allowed:
        """What is legal in states with these features (see `FeatureTable`).

        The text is not known here: probabilities are those of a model that generates.
        """
        table = FeatureTable(system.lane_states.feature_names, features)
        return cls(legal(system, table), *system.open_words(table))


@dataclass(frozen=True, slots=True)
class SubwordBlock:
    """Some subwords' output embeddings and biases, which do not change any more."""

    embedding: FixedWeight  # (subwords, width)
    bias: Tensor | None

    @classmethod
    def of(cls, embedding: Tensor, bias: Tensor | None, which: Tensor) -> SubwordBlock:
        """Of those that `which`, (subwords,) bool, names."""
        return cls(FixedWeight(embedding[which]), None if bias is None else bias[which])

    def log_sum(self, hidden: Tensor) -> Tensor:
        """(rows,) the log of the sum of exp(logit) over these subwords."""
        logits = precise(self.embedding(hidden, self.bias))
        highest = logits.amax(1, keepdim=True)
        return logits.sub_(highest).exp_().sum(1).log_() + highest[:, 0]  # in place: the whole vocabulary of many rows


@dataclass(frozen=True, slots=True)
class SplitVocabulary:
    """Subwords that begin a word and those that continue one: a row that may generate only the former asks only for them."""

    starting: SubwordBlock
    continuing: SubwordBlock

    def log_sum(self, hidden: Tensor, allowed: Allowed) -> Tensor:
        """(rows,) over the subwords that each row may generate."""
        return torch.logaddexp(*self.log_sums(hidden, allowed))

    def log_share_of_starting(self, hidden: Tensor, allowed: Allowed) -> Tensor:
        """(rows,) log p(the subword begins a word | GEN)."""
        starting, continuing = self.log_sums(hidden, allowed)
        return starting - torch.logaddexp(starting, continuing)

    def log_sums(self, hidden: Tensor, allowed: Allowed) -> tuple[Tensor, Tensor]:
        """(rows,) over the subwords that begin a word and over the others; minus infinity where these are ruled out."""
        starting = log_sum_of(self.starting, hidden, allowed.must_continue_word)
        return starting, log_sum_of(self.continuing, hidden, allowed.must_start_word)


def log_sum_of(block: SubwordBlock, hidden: Tensor, ruled_out: Tensor | None) -> Tensor:
    """(rows,) over the subwords of a block, which is not asked for rows in which they are ruled out."""
    if ruled_out is None or not bool(ruled_out.any()):
        return block.log_sum(hidden)
    rows = (~ruled_out).nonzero()[:, 0]
    found = torch.full((len(hidden),), -torch.inf, dtype=precise(hidden[:0]).dtype, device=hidden.device)
    return found.index_copy(0, rows, block.log_sum(hidden[rows])) if len(rows) else found


class FactoredHead(nn.Module):
    """p(class) by a small network, p(token | GEN) by the tied embeddings."""

    def __init__(self, config: ModelConfig, symbols: Symbols) -> None:
        super().__init__()
        self.symbols = symbols
        self.inner = nn.Linear(config.width, config.width)
        self.outer = nn.Linear(config.width, symbols.class_count)
        self.bias = nn.Parameter(torch.zeros(symbols.predicted_tokens)) if config.output_bias else None
        # Actions that the class does not tell apart from GEN: their token does. Only released models have any.
        self.spelt = [number for number, token in enumerate(symbols.target) if token != NOTHING]

    def class_log_probabilities(self, hidden: Tensor, allowed: Allowed | None) -> Tensor:
        logits: Tensor = self.outer(functional.relu(self.inner(hidden)))
        if allowed is not None:  # the classes of constrained models are the actions, by id
            logits = logits.masked_fill(~allowed.actions[:, : self.symbols.choices], -torch.inf)
        return precise(logits).log_softmax(-1)

    def choices(
        self,
        hidden: Tensor,
        embedding: Tensor,
        allowed: Allowed | None,
        starts_word: Tensor | None,
        *,
        endings: bool = True,
    ) -> Tensor:
        """(rows, choices) log-probabilities of the actions that this head chooses among, GEN standing for any subword.

        Without `endings`, what ends a sentence need not be right: released models spell it like a word, which costs a softmax.
        """
        found = self.class_log_probabilities(hidden, allowed)
        if self.symbols.released:
            found = found[:, self.symbols.on(hidden.device).classes[:-1]]
        if self.spelt and endings:
            tokens = self.pieces(hidden, embedding, allowed, starts_word)
            found[:, self.spelt] += tokens[:, self.symbols.on(hidden.device).target[self.spelt]]
        return found

    def forward(
        self, hidden: Tensor, targets: Targets, embedding: Tensor, allowed: Allowed | None, starts_word: Tensor | None
    ) -> Tensor:
        """(rows,) the log-probability of each target."""
        classes = self.class_log_probabilities(hidden, allowed)
        chosen = classes.gather(1, targets.class_[:, None])[:, 0]
        generating = targets.generating
        weight = embedding[: self.symbols.predicted_tokens]
        constants, which = self.constants(None if allowed is None else allowed.only(generating), starts_word, weight)
        asking = functional.embedding(generating, hidden)
        tokens = target_log_probability(asking, weight, targets.token[generating], self.bias, constants, which)
        return chosen.index_add(0, generating, tokens)

    def constants(
        self, allowed: Allowed | None, starts_word: Tensor | None, like: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """(kinds, tokens) what is added to logits beside the bias, and (rows,) which of it: see `Allowed.restrict`."""
        free = torch.zeros(len(like), dtype=like.dtype, device=like.device)
        if allowed is None or starts_word is None:
            return free[None], None
        kinds = [free, free.masked_fill(~starts_word, -torch.inf), free.masked_fill(starts_word, -torch.inf)]
        which = allowed.must_start_word.long()
        if allowed.must_continue_word is not None:
            which = which.masked_fill(allowed.must_continue_word, 2)
        return torch.stack(kinds), which

    def split_vocabulary(self, embedding: Tensor, starts_word: Tensor | None) -> SplitVocabulary | None:
        """For `subword_log_probability`; None where subwords are not told apart, or share their softmax with others."""
        if starts_word is None or self.symbols.released or self.symbols.predicted_tokens != len(starts_word):
            return None
        if bool(starts_word.all()) or not bool(starts_word.any()):
            return None
        tokens = embedding[: self.symbols.predicted_tokens]
        return SplitVocabulary(*(SubwordBlock.of(tokens, self.bias, which) for which in (starts_word, ~starts_word)))

    def subword_log_probability(
        self,
        hidden: Tensor,
        piece: Tensor,
        embedding: Tensor,
        allowed: Allowed,
        starts_word: Tensor,
        vocabulary: SplitVocabulary,
    ) -> Tensor:
        """(rows,) log p(GEN and this subword): what `forward` gives, without writing down the whole vocabulary of each row."""
        generates = self.class_log_probabilities(hidden, allowed)[:, GENERATE]
        logit = precise(
            (hidden * embedding[piece]).sum(1)
            if self.bias is None
            else (hidden * embedding[piece]).sum(1) + self.bias[piece]
        )
        begins = starts_word[piece]
        ruled_out = allowed.must_start_word & ~begins
        if allowed.must_continue_word is not None:
            ruled_out |= allowed.must_continue_word & begins
        found = generates + logit - vocabulary.log_sum(hidden, allowed)
        return found.masked_fill(ruled_out, -torch.inf)

    def token_logits(
        self, hidden: Tensor, embedding: Tensor, allowed: Allowed | None, starts_word: Tensor | None
    ) -> Tensor:
        """(rows, tokens) given GEN, minus infinity where a token is not allowed."""
        tokens = functional.linear(hidden, embedding[: self.symbols.predicted_tokens], self.bias)
        return precise(tokens if allowed is None else allowed.restrict(tokens, starts_word))

    def pieces(self, hidden: Tensor, embedding: Tensor, allowed: Allowed | None, starts_word: Tensor | None) -> Tensor:
        """(rows, subwords) log-probabilities of each subword, given GEN."""
        tokens = self.token_logits(hidden, embedding, allowed, starts_word)
        return tokens.log_softmax(-1)[:, : self.symbols.pieces]


class JointHead(nn.Module):
    """One softmax over subwords and operations, by the tied embeddings."""

    def __init__(self, config: ModelConfig, symbols: Symbols) -> None:
        super().__init__()
        self.symbols = symbols
        self.bias = nn.Parameter(torch.zeros(symbols.predicted_tokens)) if config.output_bias else None

    def logits(self, hidden: Tensor, embedding: Tensor, allowed: Allowed | None, starts_word: Tensor | None) -> Tensor:
        """(rows, tokens) of every token, minus infinity where it is not allowed."""
        logits = functional.linear(hidden, embedding[: self.symbols.predicted_tokens], self.bias)
        if allowed is not None:  # behind the subwords, the operations by id, then <END>
            pieces, others = logits[:, : self.symbols.pieces], logits[:, self.symbols.pieces :]
            may = allowed.actions
            pieces = allowed.restrict(pieces, starts_word).masked_fill(~may[:, :1], -torch.inf)
            may_not = ~torch.cat([may[:, FINISH + 1 : self.symbols.choices], may[:, FINISH : FINISH + 1]], dim=1)
            logits = torch.cat([pieces, others.masked_fill(may_not, -torch.inf)], dim=1)
        return precise(logits)

    def choices(
        self,
        hidden: Tensor,
        embedding: Tensor,
        allowed: Allowed | None,
        starts_word: Tensor | None,
        *,
        endings: bool = True,
    ) -> Tensor:
        """(rows, choices) log-probabilities, GEN standing for any subword; see `FactoredHead.choices`."""
        tokens = self.logits(hidden, embedding, allowed, starts_word).log_softmax(-1)
        known = self.symbols.on(tokens.device)
        words = tokens.index_fill(1, known.not_words, -torch.inf).logsumexp(-1, keepdim=True)
        return torch.cat([words, tokens[:, known.target[GENERATE + 1 : self.symbols.choices]]], dim=1)

    def pieces(self, hidden: Tensor, embedding: Tensor, allowed: Allowed | None, starts_word: Tensor | None) -> Tensor:
        """(rows, subwords) log-probabilities of each subword, given GEN."""
        return self.logits(hidden, embedding, allowed, starts_word)[:, : self.symbols.pieces].log_softmax(-1)

    def forward(
        self, hidden: Tensor, targets: Targets, embedding: Tensor, allowed: Allowed | None, starts_word: Tensor | None
    ) -> Tensor:
        """(rows,) the log-probability of each target."""
        logits = self.logits(hidden, embedding, allowed, starts_word)
        return -functional.cross_entropy(logits, targets.token, reduction="none")


Head = FactoredHead | JointHead


def precise(logits: Tensor) -> Tensor:
    """Probabilities are computed in float32 at least, also where matrices are multiplied in less."""
    return logits.float() if logits.dtype in (torch.bfloat16, torch.float16) else logits
