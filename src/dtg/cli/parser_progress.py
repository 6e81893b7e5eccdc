"""What `dtg train-parser` shows while it runs: as `dtg train`, in the words of a parser."""

from __future__ import annotations

from dtg.cli.training_progress import ProgressReporter
from dtg.training.report import DevScore


class ParserReporter(ProgressReporter):
    """A parser predicts trees, not words: its perplexities would mean little."""

    def scored(self, score: DevScore) -> None:
        best = " (best so far)" if score.improved else ""
        self.say(f"step {score.step:,}: dev {score.tally.loss:.4f} nats per word{best}")
