"""One thread that computes, and a bounded queue in front of it.

torch uses all cores for one computation: two at once would only slow each other down. What nobody waits for any more
is taken out of the queue; what has begun is short (a word), and ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

MOST_WAITING = 256

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class QueueFullError(Exception):
    """More is asked for than can wait."""


class Worker:
    """Runs functions one after another. `waiting` counts those that are not done."""

    def __init__(self, most_waiting: int = MOST_WAITING) -> None:
        self.waiting, self.most_waiting = 0, most_waiting
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="dtg-explore")

    async def run(
        self, function: Callable[Parameters, Result], *arguments: Parameters.args, **options: Parameters.kwargs
    ) -> Result:
        """What the function gives, once it is its turn. Cancelled while it waits, it is never run."""
        if self.waiting >= self.most_waiting:
            raise QueueFullError(f"{self.waiting} requests are waiting already; try again in a moment.")
        self.waiting += 1
        try:
            return await asyncio.wrap_future(self._executor.submit(function, *arguments, **options))
        finally:
            self.waiting -= 1

    def close(self) -> None:
        """Stop after what is being computed."""
        self._executor.shutdown(wait=False, cancel_futures=True)
