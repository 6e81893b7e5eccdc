"""What is shown while models are evaluated: groups and sentences done, speed and time left; at the end a line with the speed.

All of it goes to the error stream: a bar if that is a terminal, otherwise, as in the log of a cluster's job, a line every few
minutes. Of several processes, only the main one shows anything: what it says is of its own share of the work.
"""

from __future__ import annotations

import time
from types import TracebackType

import typer

from dtg.cli.progress import ProgressBar, clock
from dtg.evaluation.processes import Processes
from dtg.evaluation.work import Watcher
from dtg.io.messages import pluralize

SECONDS_BETWEEN_LINES = 120.0


class EvaluationProgress(ProgressBar, Watcher):
    """Shows how far this process is. A row of the work may stand for several sentences, as that of a pair does."""

    def __init__(self, processes: Processes, *, sentences_per_row: int = 1) -> None:
        super().__init__(None, shown=processes.is_main)
        self.processes, self.sentences_per_row = processes, sentences_per_row
        self.groups, self.groups_done, self.sentences = 0, 0, 0
        self.began = self.last = self.told = time.monotonic()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        if error is None and self.processes.is_main:
            typer.echo(f"dtg: {self.summary()}", err=True)

    def begins(self, groups: int) -> None:
        self.groups, self.began = groups, time.monotonic()
        self.told = self.began
        self.bar.update(self.task, total=groups, description=f"0 of {pluralize(groups, 'group')}")

    def finished(self, rows: int) -> None:
        self.groups_done, self.last = self.groups_done + 1, time.monotonic()
        self.sentences += rows * self.sentences_per_row
        left = (self.last - self.began) * (self.groups - self.groups_done) / self.groups_done
        shown = f"{self.groups_done:,} of {pluralize(self.groups, 'group')}  {self.speed}  {clock(left)} left"
        self.bar.update(self.task, completed=self.groups_done, description=shown)
        if self.processes.is_main and not self.on_terminal and self.last - self.told >= SECONDS_BETWEEN_LINES:
            typer.echo(f"dtg: {shown}", err=True)
            self.told = self.last

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
