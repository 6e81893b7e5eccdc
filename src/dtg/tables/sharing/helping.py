"""What all processes but the first do for a table: compute groups of its sentences, and store the rows as parts."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from dtg.io.processes import Processes
from dtg.tables.columns import Row
from dtg.tables.filling import compute_part, groups, read_past
from dtg.tables.formats import Encoder
from dtg.tables.items import Item
from dtg.tables.sharing.share import GroupQueue, Share
from dtg.tables.sidecar import Sidecar

Content = TypeVar("Content")
Result = TypeVar("Result")


def help_fill(
    out: Path,
    encoder: Encoder,
    sidecar: Sidecar,
    items: Iterable[Item[Content]],
    compute: Callable[[Iterator[Item[Content]]], Iterable[Result]],
    rows: Callable[[Item[Content], Result], Sequence[Row]],
    *,
    group: int,
    processes: Processes,
) -> None:
    """Compute a share of a table that the first process fills, and return when it is whole.

    Args:
        out: the table.
        encoder: how its rows are written.
        sidecar: what decides the numbers, which must be the same as in the first process.
        items: the sentences, all of them.
        compute: gives one result per item of a group, in order.
        rows: what an item and its result become.
        group: how many items are computed together.
        processes: those that share the work.
    """
    share = Share.join(out, sidecar, processes)
    if share.is_finished:
        return
    items = iter(items)
    read_past(items, share.progress, hashlib.sha256())
    queue = GroupQueue(share)
    for number, some in enumerate(groups(items, group), start=share.first):
        if number != queue.mine:
            deque(some, maxlen=0)  # read past them
            continue
        share.save(compute_part(number, list(some), compute, rows, encoder))
        processes.check_peers()
        queue.advance()
    processes.hear(share.key("end"))
