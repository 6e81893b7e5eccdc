"""A bar that shows how far an evaluation is, on the error stream of a terminal or in a notebook; gone when it is done."""

from __future__ import annotations

import time

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn
from rich.progress import Progress as RichProgress

from dtg.evaluation.rendering import pluralize
from dtg.evaluation.storage import Progress
from dtg.io.processes import Processes


class BarProgress(Progress):
    """Shows groups and sentences done, speed and time left. A row may stand for several sentences, as that of a pair does."""

    def __init__(self, sentences_per_row: int = 1) -> None:
        self.sentences_per_row = sentences_per_row
        self.processes = Processes()
        self.groups, self.groups_done, self.sentences = 0, 0, 0
        self.began = self.last = time.monotonic()
        self.console = Console(stderr=True)
        columns = (SpinnerColumn(), BarColumn(), TextColumn("{task.description}"))
        self.is_shown = self.console.is_terminal or self.console.is_jupyter
        self.bar = RichProgress(*columns, console=self.console, transient=True, disable=not self.is_shown)

    def begins(self, groups: int, processes: Processes) -> None:
        self.groups, self.processes, self.began = groups, processes, time.monotonic()
        self.last = self.began
        self.bar.disable = not (self.is_shown and processes.is_main)
        self.task = self.bar.add_task(f"0 of {pluralize(groups, 'group')}", total=groups)
        self.bar.start()

    def finished(self, rows: int) -> None:
        self.groups_done, self.last = self.groups_done + 1, time.monotonic()
        self.sentences += rows * self.sentences_per_row
        self.bar.update(self.task, completed=self.groups_done, description=self.state)

    def ends(self) -> None:
        self.bar.stop()

    @property
    def state(self) -> str:
        left = (self.last - self.began) * (self.groups - self.groups_done) / max(1, self.groups_done)
        return f"{self.groups_done:,} of {pluralize(self.groups, 'group')}  {self.speed}  {clock(left)} left"

    @property
    def speed(self) -> str:
        in_a_second = self.sentences / max(1e-9, self.last - self.began)
        return f"{in_a_second:,.1f} sentences/s" if in_a_second >= 1 else f"{60 * in_a_second:.1f} sentences/min"

    def summary(self) -> str:
        """What was done, and how fast; not how long the others were waited for."""
        if not self.groups:
            return "everything had been computed before."
        each = "" if self.processes.count == 1 else f" by the first of {self.processes.count} processes"
        return f"{pluralize(self.sentences, 'sentence')} in {clock(self.last - self.began)}{each}, {self.speed}."


def clock(seconds: float) -> str:
    """Seconds as minutes and seconds, or hours too.

    >>> clock(75), clock(4000)
    ('1:15', '1:06:40')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
