"""One thread that computes, and a bounded queue in front of it.

torch uses all cores for one computation: two at once would only slow each other down. Words come before what is asked
about them, so that typing is not held up. What nobody waits for any more is never begun; what has begun is short (a
word), and ends.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from enum import IntEnum
from functools import partial
from itertools import count
from typing import Any, ParamSpec, TypeVar

MOST_WAITING = 256

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class QueueFullError(Exception):
    """More is asked for than can wait."""


class Priority(IntEnum):
    """What goes first."""

    WORD = 0
    DETAIL = 1


Job = tuple[Priority, int, asyncio.Future[Any], Callable[[], Any]]


class Worker:
    """Runs functions one after another, by priority and then in the order they came. `waiting` counts those not done."""

    def __init__(self, most_waiting: int = MOST_WAITING) -> None:
        self.waiting, self.most_waiting = 0, most_waiting
        self._queue: list[Job] = []
        self._numbers = count()
        self._pump: asyncio.Task[None] | None = None
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="dtg-explore")

    async def run(
        self,
        priority: Priority,
        function: Callable[Parameters, Result],
        *arguments: Parameters.args,
        **options: Parameters.kwargs,
    ) -> Result:
        """What the function gives, once it is its turn. Cancelled while it waits, it is never run."""
        if self.waiting >= self.most_waiting:
            raise QueueFullError(f"{self.waiting} requests are waiting already; try again in a moment.")
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        job: Job = (priority, next(self._numbers), future, partial(function, *arguments, **options))
        heapq.heappush(self._queue, job)
        if self._pump is None:
            self._pump = asyncio.create_task(self._work())
        self.waiting += 1
        try:
            result: Result = await future
            return result
        finally:
            self.waiting -= 1

    async def _work(self) -> None:
        """Run what is in the queue until it is empty."""
        loop = asyncio.get_running_loop()
        try:
            while self._queue:
                _, _, future, function = heapq.heappop(self._queue)
                if future.cancelled():
                    continue
                try:
                    result = await loop.run_in_executor(self._executor, function)
                except Exception as problem:
                    if not future.cancelled():
                        future.set_exception(problem)
                else:
                    if not future.cancelled():
                        future.set_result(result)
        finally:
            self._pump = None

    def close(self) -> None:
        """Stop after what is being computed."""
        self._executor.shutdown(wait=False, cancel_futures=True)
