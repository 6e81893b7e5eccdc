"""The attachment head of Pushdown models: with how many constituents on its left a token is merged.

A pointer: the query is made of the last row and the token, the keys of all rows and of the token itself. Pointing at the
token leaves it alone; pointing at the last token of a constituent merges it with that one and all above it. Keys may know how
deep their row is in three ways: by a network (as published), by a sum (`additive`), or not at all (`plain`).

A key of the network is a function of a row and a depth, W relu(A row + B depth) + b, and only its product with a query is
asked for. So A row is computed once for each row, B depth once for each depth, and the query is multiplied with W: what is left
for each pair of a token and a row is a sum, a ReLU and a dot product. Pairs that cannot be attached are left out.
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
class Attachable:
    """The pairs of a token and a row whose score is asked for, and where scores go."""

    token: Tensor  # (pairs,)
    column: Tensor  # (pairs,) the row's place on its token's tape
    row: Tensor  # (pairs,) the row, among all whose keys are kept
    depth: Tensor  # (pairs,)
    distance: Tensor  # (tokens, rows) of each row from the token
    k: Tensor  # (tokens, rows) how many constituents are merged by pointing at it; limit + 1 where that is no attachment
    alone: Tensor | None  # (tokens,) bool, whether it may be left alone; None: always


@dataclass(frozen=True, slots=True)
class Tape:
    """What tokens may be attached to, in the order of rows."""

    rows: Tensor  # (tokens, rows) which of the kept keys
    depth: Tensor  # (tokens, rows)
    constituent: Tensor  # (tokens, rows) numbered from 1; 0 is <ROOT>
    count: Tensor  # (tokens,) how many of the rows are there

    def attachable(self, limit: int, allowed: Tensor | None) -> Attachable:
        """The pairs to be scored: where (tokens, limit + 1) bool `allowed` says which k are legal, these; else all rows."""
        column = torch.arange(self.rows.shape[1], device=self.rows.device)
        inside = column < self.count[:, None]
        # The last row of a constituent stands for it; counted from the top, it is the k-th.
        following = functional.pad(self.constituent, (0, 1), value=-1)[:, 1:]
        ends = inside & ((following != self.constituent) | (column + 1 == self.count[:, None]))
        top = self.constituent.gather(1, self.count[:, None] - 1)
        k = (top + 1 - self.constituent).clamp(max=limit + 1)  # the token itself would be constituent top + 1
        is_target = ends & (self.constituent > 0) & (k <= limit)
        asked = inside if allowed is None else is_target & allowed.gather(1, k.clamp(max=limit))
        token, place = asked.nonzero(as_tuple=True)
        return Attachable(
            token,
            place,
            self.rows[token, place],
            self.depth[token, place].clamp(max=DEEPEST),
            (self.count[:, None] - column).clamp(min=0),
            torch.where(is_target, k, limit + 1),
            None if allowed is None else allowed[:, 0],
        )


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
        self.kept_width = inner  # of what is kept of a row
        if self.form == "network":
            self.kept_width = joined = inner + depth_width
            self.depth = nn.Embedding(DEEPEST + 1, depth_width)
            self.key_network = nn.Sequential(nn.Linear(joined, joined), nn.ReLU(), nn.Linear(joined, inner))
        elif self.form == "additive":
            self.depth = nn.Embedding(DEEPEST + 1, inner)

    def keys(self, hidden: Tensor) -> Tensor:
        """(rows, kept width) what is kept of a row for tokens to come: its key, or what the network's first map makes of it."""
        found: Tensor = self.key(hidden)
        if self.key_network is None:
            return found
        first = self.key_network[0]
        assert isinstance(first, nn.Linear)
        return functional.linear(found, first.weight[:, : found.shape[1]], first.bias)

    def forward(self, hidden: Tensor, token: Tensor, kept: Tensor, asked: Attachable) -> Tensor:
        """(tokens, limit + 1) log-probabilities by k; minus infinity where there are not as many constituents.

        Args:
            hidden: (tokens, width) of the row before each token.
            token: (tokens, width) its embedding.
            kept: (all rows, kept width) what `keys` made of rows.
            asked: what each token may be attached to.
        """
        query: Tensor = self.query_network(torch.cat([self.query(hidden), token], dim=1))
        own: Tensor = self.self_network(torch.cat([query, token], dim=1))
        distances = torch.arange(asked.distance.shape[1] + 1, device=hidden.device)
        encoded = self.positions(sinusoids(distances, self.width).to(hidden.dtype))
        by_position = query @ encoded.t()  # (tokens, distances)
        of_pairs = self.content_scores(query, kept, asked)
        scores = of_pairs.new_full(asked.distance.shape, -torch.inf).index_put((asked.token, asked.column), of_pairs)
        scores = scores + by_position.gather(1, asked.distance)
        alone = (query * own).sum(1) + by_position[:, 0]
        if asked.alone is not None:
            alone = alone.masked_fill(~asked.alone, -torch.inf)
        found = torch.cat([alone[:, None], scores], dim=1)
        found = (found.float() if found.dtype in (torch.bfloat16, torch.float16) else found).log_softmax(1)
        # What is no attachment goes to an extra column, which is cut off.
        empty = torch.full((len(hidden), self.limit + 2), -torch.inf, dtype=found.dtype, device=hidden.device)
        of_rows = found[:, 1:].masked_fill(asked.k > self.limit, -torch.inf)
        by_k = empty.scatter(1, asked.k, of_rows)[:, : self.limit + 1]
        return torch.cat([found[:, :1], by_k[:, 1:]], dim=1)

    def content_scores(self, query: Tensor, kept: Tensor, asked: Attachable) -> Tensor:
        """(pairs,) how well the keys of rows, knowing how deep they are, fit the queries of tokens."""
        keys = functional.embedding(asked.row, kept)
        if self.key_network is not None and self.depth is not None:
            first, _, last = self.key_network
            assert isinstance(first, nn.Linear) and isinstance(last, nn.Linear)
            by_depth = functional.linear(self.depth.weight, first.weight[:, -self.depth.embedding_dim :])
            keys = (keys + functional.embedding(asked.depth, by_depth)).relu()
            constant = query @ last.bias.to(query.dtype)
            query = query @ last.weight.to(query.dtype)
            return (functional.embedding(asked.token, query) * keys).sum(1) + constant[asked.token]
        if self.depth is not None:
            keys = keys + self.depth(asked.depth)
        return (functional.embedding(asked.token, query) * keys).sum(1)
