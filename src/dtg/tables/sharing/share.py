"""Who computes which groups of a table's sentences: each process takes the next one when it is free.

Every process reads the whole input, which is quick, and computes what it has taken. So nothing has to be known of the input
before, and a slow process, or a group of long sentences, holds nobody up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

from dtg.errors import InputError
from dtg.io.processes import Processes
from dtg.io.settings import describe_changes
from dtg.tables.files import StreamTable, TableFile
from dtg.tables.sharing.parts import Part, PartFolder
from dtg.tables.sidecar import ResumePoint, Sidecar

SECONDS_TO_APPEAR = 120.0  # until a file that one machine has written is seen by another


@dataclass(frozen=True, slots=True)
class Share:
    """What the processes that fill a table agree on."""

    name: str  # of the table
    processes: Processes
    progress: ResumePoint
    first: int  # the group that comes after what is in the table
    there: frozenset[int]  # groups that are parts already
    parts: PartFolder | None  # none where rows go to a stream
    is_finished: bool

    @classmethod
    def begin(cls, table: StreamTable | TableFile, group: int, processes: Processes) -> Share:
        """For the process that writes; it tells the others."""
        first = -(-table.progress.sentences // group)
        if isinstance(table, StreamTable):
            return cls("", processes, table.progress, first, frozenset(), None, False)
        name, parts = table.paths.out.name, PartFolder(table.paths.parts)
        there = [] if table.is_finished else parts.keep_from(first)
        share = cls(name, processes, table.progress, first, frozenset(there), parts, table.is_finished)
        about = {
            "settings": comparable(table.sidecar),
            "progress": asdict(table.progress),
            "first": first,
            "there": there,
            "parts": parts.path.name,
            "is_finished": table.is_finished,
        }
        processes.tell(share.key("begin"), about)
        return share

    @classmethod
    def join(cls, out: Path, sidecar: Sidecar, processes: Processes) -> Share:
        """For the others: what the first has told."""
        about: dict[str, Any] = processes.hear(f"{out.name}/begin")
        if differing := describe_changes(about["settings"], comparable(sidecar)):
            raise InputError(
                f"process {processes.rank} of {processes.count} would compute otherwise than the first.\n{differing}"
                "Every machine needs the same version of dtg, the same models and the same files."
            )
        progress = ResumePoint(**about["progress"])
        parts = PartFolder(out.with_name(about["parts"]))
        there = frozenset(about["there"])
        return cls(out.name, processes, progress, about["first"], there, parts, about["is_finished"])

    def key(self, what: object) -> str:
        """The name of what the processes tell each other of this table."""
        return f"{self.name}/{what}"

    def numbers(self) -> Iterator[int]:
        """The groups for this process to compute, each taken from the others when it is asked for."""
        taken = count() if self.processes.count == 1 else iter(lambda: self.processes.take(self.key("next")), None)
        return (self.first + number for number in taken if self.first + number not in self.there)

    def save(self, part: Part) -> None:
        """Store rows whose turn has not come, and say so."""
        assert self.parts is not None
        self.parts.save(part)
        self.processes.tell(self.key(part.group), self.processes.rank)

    def is_ready(self, group: int) -> bool:
        """Whether the rows of a group are stored."""
        return group in self.there or self.processes.is_told(self.key(group))

    def stored(self, group: int) -> Part | None:
        """The rows of a group, if they are there and whole."""
        return None if self.parts is None else self.parts.read(group)

    def fetch(self, group: int, input_sha256: str) -> Part:
        """The rows of a group that is ready, made of the sentences with this hash."""
        assert self.parts is not None
        self.processes.until(lambda: self.stored(group) is not None, SECONDS_TO_APPEAR)
        part = self.stored(group)
        if part is None:
            raise InputError(
                f"{self.parts.file(group)} is not there, or damaged, though it was written. "
                "Processes on several machines need a folder that all of them see."
            )
        if part.input_sha256 != input_sha256:
            raise InputError(
                "the processes that share the work have read different sentences. "
                "The input must be the same file for all of them, and not change meanwhile."
            )
        return part

    def written(self, group: int) -> None:
        """The rows of a group are in the table."""
        assert self.parts is not None
        self.parts.remove(group)
        self.processes.forget(self.key(group))

    def clear(self) -> None:
        """No part is needed any more."""
        if self.parts is not None:
            self.parts.clear()

    def end(self) -> None:
        """The table is finished: the others can go."""
        self.processes.tell(self.key("end"), True)


class GroupQueue:
    """The group that this process computes next; nobody else will."""

    def __init__(self, share: Share) -> None:
        self.numbers = share.numbers()
        self.mine = next(self.numbers)

    def advance(self) -> None:
        """Take another: the last is computed."""
        self.mine = next(self.numbers)


def comparable(sidecar: Sidecar) -> dict[str, Any]:
    """What decides the numbers; of a device, its kind, because processes on one machine have a GPU each."""
    settings = dict(sidecar.settings)
    return settings | {"device": str(settings["device"]).partition(":")[0]} if "device" in settings else settings
