"""What is shown while a table grows: sentences, speed and, where the input's size is known, a bar with the time left.

It goes to the error stream, and only if that is a terminal.
"""

from __future__ import annotations

import time

from dtg.cli.progress_bar import ProgressBar
from dtg.cli.training_progress import clock
from dtg.tables.filling import TableWatcher
from dtg.tables.items import Item


class TableProgress(ProgressBar, TableWatcher):
    """Shows how a table grows; `size` is the number of bytes of the input."""

    def __init__(self, size: int | None, *, shown: bool = True) -> None:
        super().__init__(size, shown=shown)
        self.size = size
        self.began, self.began_at, self.sentences = time.monotonic(), 0, 0

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
