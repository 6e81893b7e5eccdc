"""When to stop before the end: a signal, or the minutes are up. The step under way is finished first."""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType, TracebackType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopper:
    """Within it SIGINT and SIGTERM only leave a note; a second one does what it always did."""

    def __init__(self, max_minutes: float | None = None) -> None:
        self.deadline = None if max_minutes is None else time.monotonic() + 60 * max_minutes
        self.signal: int | None = None
        self.previous: dict[int, Any] = {}

    @property
    def wanted(self) -> bool:
        return self.signal is not None or (self.deadline is not None and time.monotonic() >= self.deadline)

    def __enter__(self) -> Stopper:
        if threading.current_thread() is threading.main_thread():  # elsewhere Python forbids it
            self.previous = {number: signal.signal(number, self.take) for number in SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self.previous.items():
            signal.signal(number, handler)

    def take(self, number: int, frame: FrameType | None) -> None:
        self.signal = number
        signal.signal(number, self.previous[number])
