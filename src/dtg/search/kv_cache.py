"""Keys and values of rows that later rows may attend to, in every layer, by row number. Rows are only ever added.

A hypothesis is a stack of row numbers, so forking one copies numbers and never keys. What no hypothesis needs any more is
left behind when `keep` moves the rest into a new arena.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

GROWTH = 1.5
SMALLEST = 256


class Arena:
    """`table` is (layers, capacity, 2, heads, head width); the first `used` rows are filled."""

    def __init__(self, table: Tensor, used: int = 0) -> None:
        self.table, self.used = table, used

    @classmethod
    def empty(cls, layers: int, heads: int, head_width: int, *, like: Tensor) -> Arena:
        """Without rows, with the type and device of `like`."""
        return cls(like.new_empty(layers, SMALLEST, 2, heads, head_width))

    def reserve(self, count: int) -> int:
        """Make room for that many rows; gives the number of the first."""
        first, self.used = self.used, self.used + count
        layers, capacity, *shape = self.table.shape
        if self.used > capacity:
            table = self.table.new_empty(layers, int(self.used * GROWTH), *shape)
            table[:, :first] = self.table[:, :first]
            self.table = table
        return first

    def put(self, layer: int, first: int, keys_values: Tensor) -> Tensor:
        """Fill rows of a layer, and give all of that layer's rows."""
        rows = self.table[layer, : self.used]
        rows[first : first + len(keys_values)] = keys_values
        return rows

    def keep(self, rows: Tensor, room: int) -> Arena:
        """A new arena in which these rows come first, in this order, with room for more."""
        layers, _, *shape = self.table.shape
        table = self.table.new_empty(layers, max(SMALLEST, len(rows) + room), *shape)
        for layer in range(layers):
            torch.index_select(self.table[layer], 0, rows, out=table[layer, : len(rows)])
        return Arena(table, len(rows))

    @classmethod
    def join(cls, arenas: Sequence[Arena]) -> Arena:
        """The rows of several arenas one after another."""
        return cls(
            torch.cat([arena.table[:, : arena.used] for arena in arenas], dim=1), sum(arena.used for arena in arenas)
        )
