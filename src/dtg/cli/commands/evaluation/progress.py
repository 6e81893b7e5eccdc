"""What is shown while models are evaluated: a bar on a terminal; in the log of a cluster's job a line every few minutes.

Of several processes, only the main one shows anything: what it says is of its own share of the work.
"""

from __future__ import annotations

import time

import typer

from dtg.evaluation.progress import BarProgress
from dtg.io.processes import Processes

SECONDS_BETWEEN_LINES = 120.0


class EvaluationProgress(BarProgress):
    """Prints lines where there is no terminal, and the speed at the end."""

    def begins(self, groups: int, processes: Processes) -> None:
        super().begins(groups, processes)
        self.told = self.began

    def finished(self, rows: int) -> None:
        super().finished(rows)
        if self.processes.is_main and not self.is_shown and self.last - self.told >= SECONDS_BETWEEN_LINES:
            typer.echo(f"dtg: {self.state}", err=True)
            self.told = time.monotonic()

    def ends(self) -> None:
        super().ends()
        if self.processes.is_main:
            typer.echo(f"dtg: {self.summary()}", err=True)
