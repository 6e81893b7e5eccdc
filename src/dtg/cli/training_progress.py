"""What `dtg train` shows while it runs: a bar with loss, perplexity, speed and time left; dev scores as lines above it.

All of it goes to the error stream. Where that is no terminal there is no bar, and dev scores come as plain lines.
"""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from dtg.training.report import DevScore, Reporter, StepReport
from dtg.training.sampler import Plan

FORGET = 0.95  # how much of the running mean each step leaves
DAY, HOUR, MINUTE = 86_400, 3_600, 60


class ProgressReporter(Reporter):
    """Shows a run on the terminal."""

    def __init__(self) -> None:
        self.console = Console(stderr=True, highlight=False)
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[shown]}"))
        self.bar = Progress(*columns, console=self.console, disable=not self.console.is_terminal)
        self.task: TaskID | None = None
        self.plan: Plan | None = None
        self.loss: float | None = None
        self.began, self.words_before = 0.0, 0

    def __enter__(self) -> ProgressReporter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.stop()

    def started(self, plan: Plan, step: int, words: int) -> None:
        self.plan, self.began, self.words_before = plan, time.monotonic(), words
        self.say(f"dtg: {plan.steps:,} steps over {plan.words:,} words; starting at step {step:,}")
        self.bar.start()
        self.task = self.bar.add_task("training", total=plan.steps, completed=step, shown="")

    def stepped(self, progress: StepReport) -> None:
        assert self.plan is not None and self.task is not None
        loss = progress.tally.loss
        self.loss = loss if self.loss is None else FORGET * self.loss + (1 - FORGET) * loss
        speed = (progress.words - self.words_before) / max(1e-9, time.monotonic() - self.began)
        shown = (
            f"loss {self.loss:.3f}  perplexity {progress.tally.word_perplexity:,.1f}/word  {speed:,.0f} words/s  "
            f"{clock((self.plan.words - progress.words) / max(speed, 1e-9))} left"
        )
        self.bar.update(
            self.task,
            completed=progress.step,
            shown=shown,
            description=f"epoch {progress.epoch + 1} step {progress.step:,}",
        )

    def scored(self, score: DevScore) -> None:
        tally = score.tally
        self.say(
            f"step {score.step:,}: dev {tally.loss:.4f} nats per prediction, perplexity {tally.word_perplexity:,.2f} per word, "
            f"{tally.piece_perplexity:,.2f} per piece{' (best so far)' if score.improved else ''}"
        )

    def note(self, message: str) -> None:
        self.say(f"dtg: {message}")

    def warn(self, message: str) -> None:
        self.say("dtg: warning: " + message.replace("\n", "\n     "))

    def say(self, line: str) -> None:
        self.console.print(line, markup=False, soft_wrap=True)


def clock(seconds: float) -> str:
    """A length of time, as one reads it."""
    whole = round(min(seconds, 100 * DAY))
    if whole >= DAY:
        return f"{whole // DAY} d {whole % DAY // HOUR} h"
    if whole >= HOUR:
        return f"{whole // HOUR} h {whole % HOUR // MINUTE:02} min"
    return f"{whole // MINUTE}:{whole % MINUTE:02}"
