"""The KV cache: keys and values of rows that later rows may attend to, in every layer, by row number.

Rows are only ever added. A hypothesis is a stack of row numbers, so forking one copies numbers and never keys. What no
hypothesis can see any more is left behind when `compact` moves the rest into a new cache.
"""

from __future__ import annotations

import torch
from torch import Tensor

GROWTH = 1.5
SMALLEST = 256


class KVCache:
    """`table` is (layers, capacity, 2, heads, head width); the first `used` rows are filled.

    Models that attach tokens keep one more vector of each row, in `attachment` (capacity, width).
    """

    def __init__(self, table: Tensor, used: int = 0, attachment: Tensor | None = None) -> None:
        self.table, self.used, self.attachment = table, used, attachment

    @classmethod
    def empty(cls, layers: int, heads: int, head_width: int, attachment_width: int = 0, *, like: Tensor) -> KVCache:
        """Without rows, with the type and device of `like`."""
        attachment = like.new_empty(SMALLEST, attachment_width) if attachment_width else None
        return cls(like.new_empty(layers, SMALLEST, 2, heads, head_width), 0, attachment)

    def reserve(self, count: int) -> int:
        """Make room for that many rows; gives the number of the first."""
        first, self.used = self.used, self.used + count
        layers, capacity, *shape = self.table.shape
        if self.used > capacity:
            table = self.table.new_empty(layers, int(self.used * GROWTH), *shape)
            table[:, :first] = self.table[:, :first]
            self.table = table
            if self.attachment is not None:
                kept = self.attachment.new_empty(table.shape[1], self.attachment.shape[1])
                kept[:first] = self.attachment[:first]
                self.attachment = kept
        return first

    def room(self, layer: int, first: int) -> tuple[Tensor, Tensor]:
        """Where the rows of a layer from `first` on go, and all of that layer's rows."""
        rows = self.table[layer, : self.used]
        return rows[first:], rows

    def compact(self, rows: Tensor, room: int) -> KVCache:
        """A new cache in which these rows come first, in this order, with room for more."""
        layers, _, *shape = self.table.shape
        table = self.table.new_empty(layers, max(SMALLEST, len(rows) + room), *shape)
        attachment = None
        if self.attachment is not None:
            attachment = self.attachment.new_empty(table.shape[1], self.attachment.shape[1])
        found = KVCache(table, 0, attachment)
        found.add(self, rows)
        return found

    def add(self, other: KVCache, rows: Tensor) -> int:
        """Add these rows of another cache; gives the number of the first. Rows that are here already stay as they are."""
        first = self.reserve(len(rows))
        for layer, table in enumerate(self.table):
            torch.index_select(other.table[layer], 0, rows, out=table[first : self.used])
        if self.attachment is not None and other.attachment is not None:
            torch.index_select(other.attachment, 0, rows, out=self.attachment[first : self.used])
        return first
