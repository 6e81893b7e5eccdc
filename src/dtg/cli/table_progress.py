"""What is shown while a table grows: sentences, speed and, where the input's size is known, a bar with the time left.

It goes to the error stream, and only if that is a terminal.
"""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

from dtg.cli.training_progress import clock
from dtg.tables.filling import Watcher
from dtg.tables.items import Item


class TableProgress(Watcher):
    """Shows how a table grows; `size` is the number of bytes of the input."""

    def __init__(self, size: int | None, *, shown: bool = True) -> None:
        console = Console(stderr=True)
        columns = (SpinnerColumn(), BarColumn(), TextColumn("{task.description}"))
        self.bar = Progress(*columns, console=console, transient=True, disable=not (shown and console.is_terminal))
        self.task = self.bar.add_task("", total=size)
        self.size = size
        self.began, self.began_at, self.sentences = time.monotonic(), 0, 0

    def __enter__(self) -> TableProgress:
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.stop()

    def skipped(self, item: Item[object]) -> None:
        self.began, self.began_at = time.monotonic(), item.position

    def wrote(self, item: Item[object]) -> None:
        self.sentences += 1
        seconds = max(1e-9, time.monotonic() - self.began)
        shown = f"sentence {item.sentence_id:,}  {self.sentences / seconds:.1f} sentences/s"
        if self.size is not None and item.position > self.began_at:
            left = seconds * (self.size - item.position) / (item.position - self.began_at)
            shown += f"  {clock(left)} left"
        self.bar.update(self.task, description=shown, completed=item.position)
