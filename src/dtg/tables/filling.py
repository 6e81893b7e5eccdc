"""Fills a table with the rows computed for items, in order; an interrupted table is resumed to the byte.

Sentences are handed to the model in groups of fixed size. What a model computes together can shift its numbers in the last
digit, so a resumed run must group as the first one did: it reads past the groups that are in the table, checks that they
are the same sentences, and continues with the next group.

Several processes can share the groups (dtg.tables.sharing). One writes; rows whose turn has not come wait beside the table.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar

from dtg.errors import ResumeError
from dtg.io.processes import ALONE, Processes
from dtg.tables.columns import Row
from dtg.tables.files import StreamTable, TableFile
from dtg.tables.formats import Encoder
from dtg.tables.items import Item
from dtg.tables.sharing.parts import Part
from dtg.tables.sharing.share import GroupQueue, Share
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

    def wrote_group(self, last: Item[object], sentences: int) -> None:
        """The rows of some sentences that another process, or an earlier run, has computed have been written."""


def fill(
    table: StreamTable | TableFile,
    items: Iterable[Item[Content]],
    compute: Callable[[Iterator[Item[Content]]], Iterable[Result]],
    rows: Callable[[Item[Content], Result], Sequence[Row]],
    *,
    group: int,
    watcher: TableWatcher | None = None,
    processes: Processes = ALONE,
) -> None:
    """Write the rows of every item that an earlier run has not written.

    Args:
        table: where rows go.
        items: the sentences.
        compute: gives one result per item of a group, in order.
        rows: what an item and its result become.
        group: how many items are computed together.
        watcher: is told how the table grows.
        processes: those that share the work. This is the first; the others call `help_fill`.
    """
    items, watcher = iter(items), watcher or TableWatcher()
    share = Share.begin(table, group, processes)
    filling = Filling(table, share, watcher)
    if last := read_past(items, table.progress, filling.digest):
        watcher.skipped(last)
    if table.is_finished:
        if next(items, None) is not None:
            raise ResumeError(f"the table is finished, but the input has grown since. {ADVICE}")
        return
    queue = GroupQueue(share)
    for number, some in enumerate(groups(items, group), start=share.first):
        filling.write_ready()
        if number == queue.mine and not filling.waiting:
            filling.write_directly(some, compute, rows)
        else:
            known = list(some)
            waiting = filling.expect(number, known)
            stored = share.stored(number) if number in share.there else None
            is_outdated = stored is not None and stored.input_sha256 != waiting.input_sha256
            if number == queue.mine or is_outdated:
                share.save(compute_part(number, known, compute, rows, table.encoder))
        if number == queue.mine:
            queue.advance()
    filling.write_rest()
    share.clear()
    table.finish()
    share.end()


@dataclass(frozen=True, slots=True)
class ReadGroup:
    """A group of sentences that was read, and is not in the table yet."""

    number: int
    sentences: int
    input_sha256: str
    input_so_far: str  # the hash of everything up to its end
    last: Item[object]


class Filling:
    """A table that grows: which groups were read, and which of them are written."""

    def __init__(self, table: StreamTable | TableFile, share: Share, watcher: TableWatcher) -> None:
        self.table, self.share, self.watcher = table, share, watcher
        self.digest, self.sentences = hashlib.sha256(), table.progress.sentences
        self.waiting = deque[ReadGroup]()

    def write_directly(
        self,
        items: Iterable[Item[Content]],
        compute: Callable[[Iterator[Item[Content]]], Iterable[Result]],
        rows: Callable[[Item[Content], Result], Sequence[Row]],
    ) -> None:
        """Compute a group whose turn it is, and write each sentence's rows as they come."""
        for item, result in paired(items, compute):
            self.table.write(rows(item, result))
            add(self.digest, item)
            self.watcher.wrote(item)
            self.sentences += 1
        self.table.group_done(self.sentences, self.digest.hexdigest())

    def expect(self, number: int, items: Sequence[Item[object]]) -> ReadGroup:
        """A group that will be written when those before it are, and its rows are stored."""
        for item in items:
            add(self.digest, item)
        found = ReadGroup(number, len(items), input_hash(items), self.digest.hexdigest(), items[-1])
        self.waiting.append(found)
        return found

    def write_ready(self) -> None:
        """Write the groups whose rows are stored, up to the first whose are not."""
        while self.waiting and self.share.is_ready(self.waiting[0].number):
            group = self.waiting.popleft()
            part = self.share.fetch(group.number, group.input_sha256)
            self.table.write_encoded(part.content, part.rows)
            self.sentences += group.sentences
            self.table.group_done(self.sentences, group.input_so_far)
            self.share.written(group.number)
            self.watcher.wrote_group(group.last, group.sentences)

    def write_rest(self) -> None:
        """Write all groups, as the other processes finish them."""
        while self.waiting:
            self.share.processes.until(lambda: self.share.is_ready(self.waiting[0].number))
            self.write_ready()


def compute_part(
    number: int,
    items: Sequence[Item[Content]],
    compute: Callable[[Iterator[Item[Content]]], Iterable[Result]],
    rows: Callable[[Item[Content], Result], Sequence[Row]],
    encoder: Encoder,
) -> Part:
    """The rows of a group, as they will stand in the table."""
    found = [row for item, result in paired(items, compute) for row in rows(item, result)]
    return Part(number, len(items), len(found), input_hash(items), encoder.encode(found))


def read_past(items: Iterator[Item[object]], progress: ResumePoint, digest: Hash) -> Item[object] | None:
    """Skip what is in the table, and raise unless it is what the table was made from; the last that was skipped."""
    last, count = None, 0
    for item in islice(items, progress.sentences):
        add(digest, item)
        count, last = count + 1, item
    if count < progress.sentences or (count and digest.hexdigest() != progress.input_sha256):
        raise ResumeError(
            f"cannot resume: the first {progress.sentences:,} sentences of the input are not those that the table was "
            f"made from.\n{ADVICE}"
        )
    return last


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


def input_hash(items: Iterable[Item[object]]) -> str:
    """The hash of some items alone."""
    digest = hashlib.sha256()
    for item in items:
        add(digest, item)
    return digest.hexdigest()
