"""The processes that share a command's work: who they are, and what they say to each other.

Whoever starts them (torchrun, Slurm) says in the environment how many they are. What they say goes over a key-value store that
all of them reach (rendezvous.py), so that waiting for one another ends when one of them has failed.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from dtg.errors import InputError, PeerError

SHORTEST_PAUSE, LONGEST_PAUSE = 0.002, 0.2  # seconds between two looks
BARRIER, FLAGS = "barrier", "flags"


class Board(Protocol):
    """Where processes leave what the others read. Names are made up by those who use them."""

    def put(self, name: str, value: str) -> None: ...

    def find(self, name: str) -> str | None:
        """What was put there, or None."""

    def add(self, name: str, amount: int) -> int:
        """The sum of what all processes have added so far."""

    def remove(self, name: str) -> None: ...

    def check_peers(self) -> None:
        """Raise a PeerError if another process has failed, or is not heard of any more."""

    def claim_failure(self) -> bool:
        """Let the others know that this process has failed; whether it is the first."""


@dataclass(frozen=True, slots=True)
class Processes:
    """This process among those that share the work. Without a board it is alone, or has not joined the others yet."""

    rank: int = 0
    count: int = 1
    board: Board | None = field(default=None, compare=False, repr=False)
    meetings: list[int] = field(default_factory=lambda: [0], compare=False, repr=False)  # how many there were

    @property
    def is_main(self) -> bool:
        """Whether it is the first, which writes and speaks for all."""
        return self.rank == 0

    def wait(self) -> None:
        """Until all processes have come to the same place."""
        self.sum_over(0)

    def any(self, flag: bool) -> bool:
        """Whether any process has raised its flag; all have to ask."""
        return self.sum_over(int(flag)) > 0

    def sum_over(self, number: int) -> int:
        """The sum of what all processes give; all have to ask, and wait for each other."""
        if self.count == 1:
            return number
        board, meeting = self._joined(), self.meetings[0]
        self.meetings[0] += 1
        board.add(f"{FLAGS}/{meeting}", number)
        board.add(f"{BARRIER}/{meeting}", 1)
        self.until(lambda: board.add(f"{BARRIER}/{meeting}", 0) >= self.count)
        return board.add(f"{FLAGS}/{meeting}", 0)

    def tell(self, name: str, value: Any) -> None:
        """Let the others know something that JSON can hold."""
        if self.count > 1:
            self._joined().put(name, json.dumps(value))

    def hear(self, name: str) -> Any:
        """What another process tells, as soon as it does."""
        self.until(lambda: self.is_told(name))
        found = self._joined().find(name)
        assert found is not None
        return json.loads(found)

    def is_told(self, name: str) -> bool:
        """Whether a process has told it."""
        return self.count > 1 and self._joined().find(name) is not None

    def forget(self, name: str) -> None:
        """Nobody will ask for it any more."""
        if self.count > 1:
            self._joined().remove(name)

    def gather(self, name: str, value: Any) -> list[Any]:
        """What every process gives, by rank; only the first gets it."""
        if self.count == 1:
            return [value]
        self.tell(f"{name}/{self.rank}", value)
        return [self.hear(f"{name}/{rank}") for rank in range(self.count)] if self.is_main else []

    def take(self, name: str) -> int:
        """A number that no other process gets under this name: 0, 1, 2, ..."""
        return self._joined().add(name, 1) - 1

    def check_peers(self) -> None:
        """Raise a PeerError if another process has failed."""
        if self.count > 1:
            self._joined().check_peers()

    def is_first_to_fail(self) -> bool:
        """Whether this process, which has failed, is the first: it tells why."""
        try:
            return self.board is None or self.board.claim_failure()
        except PeerError:
            return True

    def until(self, is_so: Callable[[], bool], seconds: float | None = None) -> bool:
        """Wait until something is so; False if that takes longer than a number of seconds.

        Raises:
            PeerError: another process has failed meanwhile.
        """
        began, pause = time.monotonic(), SHORTEST_PAUSE
        while not is_so():
            self.check_peers()
            if seconds is not None and time.monotonic() - began > seconds:
                return False
            time.sleep(pause)
            pause = min(LONGEST_PAUSE, 1.5 * pause)
        return True

    def _joined(self) -> Board:
        if self.board is None:
            raise PeerError("the processes that share the work have not met.")
        return self.board


ALONE = Processes()


def launched() -> Processes:
    """This process, as it was started; it has not joined the others yet."""
    try:
        rank, count = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    except ValueError as error:
        raise InputError(f"RANK and WORLD_SIZE must be whole numbers, as torchrun sets them: {error}.") from None
    if count > 1 and not 0 <= rank < count:
        raise InputError(f"RANK must be from 0 to WORLD_SIZE - 1, as torchrun sets it; it is {rank} of {count}.")
    return Processes(rank, count) if count > 1 else ALONE


def local_rank() -> int:
    """The number of this process among those on the same machine, which decides its GPU."""
    try:
        return int(os.environ.get("LOCAL_RANK", 0))
    except ValueError as error:
        raise InputError(f"LOCAL_RANK must be a whole number, as torchrun sets it: {error}.") from None
