"""Where processes that share work meet: torch's key-value store, at the address that their launcher gives them.

Under torchrun the launcher itself hosts the store, otherwise the first process does. A process that fails says so there, and
the others end, too; of several that fail, the first tells why. Each leaves a sign of life every few seconds, because a
machine that is switched off says nothing.
"""

from __future__ import annotations

import platform
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

from torch.distributed import DistError, PrefixStore, Store, rendezvous  # type: ignore[attr-defined]  # documented, though

from dtg.errors import PeerError
from dtg.io.processes import Processes, launched

MEETING = timedelta(minutes=10)  # processes of a large job start at different times
ANSWER = timedelta(minutes=2)
BETWEEN_SIGNS, SILENCE = 10.0, 300.0  # seconds
TELLING = 5.0  # seconds in which the first that failed has said why
PREFIX = "dtg"
FAILED, TOLD, LEFT = "failed", "told", "left"


class StoreBoard:
    """A board that is torch's store, with signs of life."""

    def __init__(self, store: Store, rank: int, count: int) -> None:
        self.store, self.rank, self.count = PrefixStore(PREFIX, store), rank, count
        self.ended = threading.Event()
        # The others of whom signs of life are expected: the first watches all, all watch the first.
        self.seen = {other: ("", time.monotonic()) for other in (range(1, count) if rank == 0 else (0,))}
        self.looked = time.monotonic()
        self.thread = threading.Thread(target=self._show_signs, daemon=True)

    def put(self, name: str, value: str) -> None:
        with lost_connections():
            self.store.set(name, value)

    def find(self, name: str) -> str | None:
        with lost_connections():
            return self.store.get(name).decode() if self.store.check([name]) else None

    def add(self, name: str, amount: int) -> int:
        with lost_connections():
            return self.store.add(name, amount)

    def remove(self, name: str) -> None:
        with lost_connections():
            self.store.delete_key(name)

    def check_peers(self) -> None:
        failed = self.find(FAILED)
        if failed is not None and failed != str(self.rank):
            raise PeerError(f"process {failed} of the {self.count} that share the work has failed; it says why.")
        now = time.monotonic()
        if now - self.looked < BETWEEN_SIGNS:
            return
        self.looked = now
        for other, (sign, since) in self.seen.items():
            new = self.find(f"alive/{other}") or ""
            if new != sign:
                self.seen[other] = (new, now)
            elif now - since > SILENCE and self.find(f"{LEFT}/{other}") is None:
                where = f" (on {new.split()[0]})" if new else ""
                raise PeerError(
                    f"process {other} of the {self.count} that share the work{where} has not been heard of for "
                    f"{round((now - since) / 60)} minutes: it was killed, or its machine is down."
                )

    def claim_failure(self) -> bool:
        """Let the others know that this process has failed; whether it is the first."""
        with lost_connections():
            return bool(self.store.compare_set(FAILED, "", str(self.rank)) == str(self.rank).encode())

    def wait_for(self, names: Iterable[str]) -> None:
        """Until all of these are put, or for a few seconds."""
        end = time.monotonic() + TELLING
        while any(self.find(name) is None for name in names) and time.monotonic() < end:
            time.sleep(0.02)

    def leave(self) -> None:
        """Say that this process needs nobody any more. The first waits until all others have, as it may host the store."""
        self.put(f"{LEFT}/{self.rank}", "")
        end = time.monotonic() + SILENCE
        while self.rank == 0 and time.monotonic() < end:
            if self.find(FAILED) is not None or all(self.find(f"{LEFT}/{other}") is not None for other in self.seen):
                return
            time.sleep(0.01)

    def _show_signs(self) -> None:
        number = 0
        while not self.ended.is_set():
            with suppress(RuntimeError, PeerError):  # the main thread meets the same, and reports it
                self.store.set(f"alive/{self.rank}", f"{platform.node()} {number}")
            number += 1
            self.ended.wait(BETWEEN_SIGNS)


@contextmanager
def lost_connections() -> Iterator[None]:
    """Report a store that cannot be reached as what it is: another process, or torchrun on another machine, has ended."""
    try:
        yield
    except DistError as error:
        raise PeerError(
            f"the connection to the other processes is lost: one of them has ended ({str(error).splitlines()[0]})."
        ) from None


def meet(processes: Processes, patience: timedelta = MEETING) -> StoreBoard:
    """Connect to the store that the environment names."""
    try:
        store, _, _ = next(rendezvous("env://", timeout=patience))
        store.set_timeout(ANSWER)
    except (ValueError, RuntimeError) as error:
        raise PeerError(
            f"process {processes.rank} of {processes.count} cannot meet the others: {str(error).splitlines()[0]}\n"
            "Start them with torchrun, which sets MASTER_ADDR and MASTER_PORT; every machine must reach that address."
        ) from None
    return StoreBoard(store, processes.rank, processes.count)


@contextmanager
def joined() -> Iterator[Processes]:
    """The processes that torchrun has started, or this one alone. Where one fails, the others end, too."""
    processes = launched()
    if processes.count == 1:
        yield processes
        return
    board = meet(processes)
    board.thread.start()
    try:
        yield Processes(processes.rank, processes.count, board)
    except BaseException:
        with suppress(PeerError):
            board.claim_failure()
        raise
    else:
        board.leave()
    finally:
        board.ended.set()


@contextmanager
def failing() -> Iterator[bool]:
    """Around what a process that has failed does last: whether it is the one that tells why. In doubt, it is.

    The first that fails tells. The others wait until it has: when they end, the launcher may end the one that is speaking.
    """
    processes = launched()
    board: StoreBoard | None = None
    is_first = True
    if processes.count > 1:
        with suppress(PeerError):
            board = meet(processes, timedelta(seconds=TELLING))
            is_first = board.claim_failure()
    yield is_first
    if board is not None:
        with suppress(PeerError):
            if is_first:
                board.put(TOLD, "")
            else:
                board.wait_for((TOLD,))
            board.put(f"{LEFT}/{processes.rank}", "")
            if processes.is_main:  # which may host the store
                board.wait_for([f"{LEFT}/{rank}" for rank in range(processes.count)])
