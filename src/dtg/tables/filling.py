"""Fills a table with the rows computed for items, in order; an interrupted table is resumed to the byte.

Sentences are handed to the model in groups of fixed size. What a model computes together can shift its numbers in the last
digit, so a resumed run must group as the first one did: it reads past the groups that are in the table, checks that they
are the same sentences, and continues with the next group.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar

from dtg.errors import ResumeError
from dtg.tables.columns import Row
from dtg.tables.files import StreamTable, TableFile
from dtg.tables.items import Item
from dtg.tables.sidecar import ResumePoint

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

Content = TypeVar("Content")
Result = TypeVar("Result")
ADVICE = "Give the same input again, write to another file, or pass --overwrite to start over."


class TableWatcher:
    """Is told how a table grows; subclass it to show progress."""

    def skipped(self, item: Item[object]) -> None:
        """Everything up to this item had been written by an earlier run."""

    def wrote(self, item: Item[object]) -> None:
        """This item's rows have been written."""


def fill(
    table: StreamTable | TableFile,
    items: Iterable[Item[Content]],
    compute: Callable[[Iterator[Item[Content]]], Iterable[Result]],
    rows: Callable[[Item[Content], Result], Sequence[Row]],
    *,
    group: int,
    watcher: TableWatcher | None = None,
) -> None:
    """Write the rows of every item that an earlier run has not written. `compute` gives one result per item, in order."""
    items, digest, watcher = iter(items), hashlib.sha256(), watcher or TableWatcher()
    read_past(items, table.progress, digest, watcher)
    if table.is_finished:
        if next(items, None) is not None:
            raise ResumeError(f"the table is finished, but the input has grown since. {ADVICE}")
        return
    done = table.progress.sentences
    for some in groups(items, group):
        for item, result in paired(some, compute):
            table.write(rows(item, result))
            add(digest, item)
            watcher.wrote(item)
            done += 1
        table.group_done(done, digest.hexdigest())
    table.finish()


def read_past(items: Iterator[Item[object]], progress: ResumePoint, digest: Hash, watcher: TableWatcher) -> None:
    """Skip what is in the table, and raise unless it is what the table was made from."""
    done = list[Item[object]]()
    count = 0
    for item in islice(items, progress.sentences):
        add(digest, item)
        count, done = count + 1, [item]
    if count < progress.sentences or (count and digest.hexdigest() != progress.input_sha256):
        raise ResumeError(
            f"cannot resume: the first {progress.sentences:,} sentences of the input are not those that the table was "
            f"made from.\n{ADVICE}"
        )
    if done:
        watcher.skipped(done[-1])


def groups(items: Iterable[Item[Content]], size: int) -> Iterator[Iterator[Item[Content]]]:
    """Groups of `size` items, each read only when it is needed; use a group up before the next."""
    source = iter(items)
    for first in source:
        yield chain([first], islice(source, size - 1))


def paired(
    items: Iterable[Item[Content]], compute: Callable[[Iterator[Item[Content]]], Iterable[Result]]
) -> Iterator[tuple[Item[Content], Result]]:
    """Each item with its result as soon as that is known, while `compute` may read ahead."""
    waiting = deque[Item[Content]]()

    def given() -> Iterator[Item[Content]]:
        for item in items:
            waiting.append(item)
            yield item

    for result in compute(given()):
        yield waiting.popleft(), result
    assert not waiting, "a result for every item"


def add(digest: Hash, item: Item[object]) -> None:
    digest.update(b"%d\t%d\t" % (item.sentence_id, len(item.written)))
    digest.update(item.written)
