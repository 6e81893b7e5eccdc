"""Progress of a training run on the error stream: dev scores and, on a terminal, a bar with loss, speed and time left."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from dtg.cli.progress import clock
from dtg.training.report import DevScore, Reporter, StepReport
from dtg.training.sampler import Plan

DECAY = 0.95  # of the running mean of the loss, per step


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
        self.loss = loss if self.loss is None else DECAY * self.loss + (1 - DECAY) * loss
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


class ParserReporter(ProgressReporter):
    """For a parser, which predicts trees and not words: it has no perplexities."""

    def scored(self, score: DevScore) -> None:
        best = " (best so far)" if score.improved else ""
        self.say(f"step {score.step:,}: dev {score.tally.loss:.4f} nats per word{best}")
