"""The attachment head of Pushdown models: with how many constituents on its left a token is merged.

A pointer: the query is made of the last row and the token, the keys of all rows and of the token itself. Pointing at the
token leaves it alone; pointing at the last token of a constituent merges it with that one and all above it. Keys may know how
deep their row is in three ways: by a network (as published, which costs a network row for each pair of rows), by a sum
(`additive`), or not at all (`plain`).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from dtg.families.pushdown import DEEPEST
from dtg.model.config import ModelConfig
from dtg.model.positions import sinusoids


@dataclass(frozen=True, slots=True)
class Tape:
    """What a token may be attached to, in the order of rows."""

    keys: Tensor  # (tokens, rows, 2 width) of earlier rows, by `AttachmentHead.keys`
    depth: Tensor  # (tokens, rows)
    constituent: Tensor  # (tokens, rows) numbered from 1; 0 is <ROOT>
    count: Tensor  # (tokens,) how many of the rows are there


class AttachmentHead(nn.Module):
    """log p(ATTACH(k)) of a token, for every k up to the limit."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        width, inner = config.width, 2 * config.width
        depth_width = max(1, width // config.attention_heads)
        self.width, self.form, self.limit = width, config.attachment, config.attach_limit
        self.query = nn.Linear(width, inner)
        self.key = nn.Linear(width, inner)
        self.query_network = nn.Sequential(nn.Linear(inner + width, inner), nn.ReLU(), nn.Linear(inner, inner))
        self.self_network = nn.Sequential(nn.Linear(inner + width, inner), nn.ReLU(), nn.Linear(inner, inner))
        self.positions = nn.Linear(width, inner, bias=False)
        self.depth = self.key_network = None
        if self.form == "network":
            joined = inner + depth_width
            self.depth = nn.Embedding(DEEPEST + 1, depth_width)
            self.key_network = nn.Sequential(nn.Linear(joined, joined), nn.ReLU(), nn.Linear(joined, inner))
        elif self.form == "additive":
            self.depth = nn.Embedding(DEEPEST + 1, inner)

    def keys(self, hidden: Tensor) -> Tensor:
        """(rows, 2 width) what is kept of a row for tokens to come."""
        found: Tensor = self.key(hidden)
        return found

    def forward(self, hidden: Tensor, token: Tensor, tape: Tape, allowed: Tensor | None) -> Tensor:
        """(tokens, limit + 1) log-probabilities by k; minus infinity where there are not as many constituents.

        Args:
            hidden: (tokens, width) of the row before each token.
            token: (tokens, width) its embedding.
            tape: what it may be attached to.
            allowed: (tokens, limit + 1) bool, which k are legal; None normalises over all rows, closed and open.
        """
        query: Tensor = self.query_network(torch.cat([self.query(hidden), token], dim=1))
        own: Tensor = self.self_network(torch.cat([query, token], dim=1))
        rows = tape.keys.shape[1]
        column = torch.arange(rows, device=hidden.device)
        distance = (tape.count[:, None] - column).clamp(min=0)  # of each row from the token
        encoded = self.positions(sinusoids(torch.arange(rows + 1, device=hidden.device), self.width).to(hidden.dtype))
        by_position = query @ encoded.t()  # (tokens, distances)
        scores = torch.einsum("tw,trw->tr", query, self.with_depth(tape)) + by_position.gather(1, distance)
        inside = column < tape.count[:, None]
        # The last row of a constituent stands for it; counted from the top, it is the k-th.
        following = functional.pad(tape.constituent, (0, 1), value=-1)[:, 1:]
        ends = inside & ((following != tape.constituent) | (column + 1 == tape.count[:, None]))
        top = tape.constituent.gather(1, (tape.count[:, None] - 1))
        k = (top + 1 - tape.constituent).clamp(max=self.limit + 1)  # the token itself would be constituent top + 1
        is_target = ends & (tape.constituent > 0) & (k <= self.limit)
        scores = scores.masked_fill(~inside, -torch.inf)
        alone = (query * own).sum(1) + by_position[:, 0]
        if allowed is not None:
            scores = scores.masked_fill(~(is_target & allowed.gather(1, k.clamp(max=self.limit))), -torch.inf)
            alone = alone.masked_fill(~allowed[:, 0], -torch.inf)
        found = torch.cat([alone[:, None], scores], dim=1)
        found = (found.float() if found.dtype in (torch.bfloat16, torch.float16) else found).log_softmax(1)
        empty = torch.full((len(hidden), self.limit + 2), -torch.inf, dtype=found.dtype, device=hidden.device)
        places = torch.where(
            is_target, k, self.limit + 1
        )  # what is no target goes to an extra column, which is cut off
        by_k = empty.scatter(1, places, found[:, 1:].masked_fill(~is_target, -torch.inf))[:, : self.limit + 1]
        return torch.cat([found[:, :1], by_k[:, 1:]], dim=1)

    def with_depth(self, tape: Tape) -> Tensor:
        """(tokens, rows, 2 width) the keys, knowing how deep their rows are."""
        if self.depth is None:
            return tape.keys
        depth: Tensor = self.depth(tape.depth.clamp(max=DEEPEST))
        if self.key_network is None:
            return tape.keys + depth
        found: Tensor = self.key_network(torch.cat([tape.keys, depth], dim=2))
        return found
