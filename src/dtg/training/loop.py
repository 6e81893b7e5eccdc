"""The training loop: fits a model to a corpus, and records the run in a folder (recorder.py).

The same inputs give the same numbers: a run that is killed at any moment and resumed ends in the same weights as one that
was never stopped.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from torch import nn

from dtg.errors import DtgError, InputError, TrainingError
from dtg.io.locks import locked_folder
from dtg.training.config import TrainingConfig
from dtg.training.learner import Learner
from dtg.training.recorder import Recorder, RunState, check_fresh, check_same, identity, recorded_precision
from dtg.training.report import DevScore, Reporter, Silence, StepReport
from dtg.training.runtime import Runtime, RuntimeOptions, deterministic
from dtg.training.sampler import Sampler, Step
from dtg.training.schedule import Schedule
from dtg.training.tally import Tally
from dtg.training.task import TrainingCorpus
from dtg.training.trackers import Trackers

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended, or was suspended."""

    step: int
    steps: int
    # "complete", "early" (dev no longer improved), or None: suspended, to be resumed.
    finished: str | None
    best_loss: float | None
    best_step: int | None
    test: Tally | None
    signal: int | None  # that suspended it, if one did
    is_main: bool  # whether this process is the one that reports


def train(
    model: nn.Module,
    corpus: TrainingCorpus,
    config: TrainingConfig,
    out: Path,
    *,
    model_table: Mapping[str, Any],
    options: RuntimeOptions | None = None,
    resume: bool = False,
    max_minutes: float | None = None,
    score_test: bool = False,
    reporter: Reporter | None = None,
    check_corpus: Callable[[], object] | None = None,
) -> Outcome:
    """Train a model from scratch, or resume its training.

    Args:
        model: an `nn.Module` that is a `Trainable`.
        corpus: has splits "train" and "dev", and "test" if that is scored.
        config: how to train.
        out: the run folder.
        model_table: describes the model; a run is resumed only with the same.
        options: precision, sharding, device and trackers.
        resume: continue from the newest checkpoint in `out`, if there is one.
        max_minutes: write a checkpoint and stop after this time.
        score_test: score "test" with the best weights when training is finished.
        reporter: is told what happens.
        check_corpus: is called by the first process before the corpus is read; it raises if that is damaged.

    Returns:
        How the run ended, or where it was suspended.
    """
    check_splits(corpus, score_test)
    options = options or RuntimeOptions()
    recorded = recorded_precision(out) if resume and options.precision == "auto" else None
    runtime = Runtime(options, out, recorded)
    if check_corpus is not None:
        by_first(runtime, check_corpus)
    listener = (reporter or Reporter()) if runtime.is_main else Silence()
    if not resume:
        check_fresh(out)
    if options.precision == "auto":
        listener.note(f"precision: {runtime.options.precision}{' (as before)' if recorded else ''}")
    with ExitStack() as held, Stopper(max_minutes) as stopper, deterministic():
        by_first(runtime, lambda: held.enter_context(locked_folder(out)))  # for all processes of the run
        run = TrainingRun(model, corpus, config, out, model_table, runtime, stopper, listener)
        try:
            run.begin(resume)
            run.train()
            test = run.score_test() if score_test and run.state.finished else None
        finally:
            run.recorder.close()
        runtime.wait()
    state, steps = run.state, run.sampler.plan.steps
    best = (state.best_loss, state.best_step)
    return Outcome(state.step, steps, state.finished, *best, test, stopper.signal, runtime.is_main)


def by_first(runtime: Runtime, act: Callable[[], object]) -> None:
    """Let the first process do something for all. If that fails, it ends with its error, and the others end too."""
    error: DtgError | None = None
    if runtime.is_main:
        try:
            act()
        except DtgError as problem:
            error = problem
    if runtime.sum([float(error is not None)])[0]:
        raise error or TrainingError("the first process of the run cannot begin; it says why.")


class Stopper:
    """Notes when to stop before the end: a signal (SIGINT, SIGTERM), or the time is up. The step under way is finished first.

    A second signal has its usual effect.
    """

    def __init__(self, max_minutes: float | None = None) -> None:
        self.deadline = None if max_minutes is None else time.monotonic() + 60 * max_minutes
        self.signal: int | None = None
        self.previous: dict[int, Any] = {}

    @property
    def wanted(self) -> bool:
        return self.signal is not None or (self.deadline is not None and time.monotonic() >= self.deadline)

    def __enter__(self) -> Stopper:
        if threading.current_thread() is threading.main_thread():  # elsewhere Python forbids it
            self.previous = {number: signal.signal(number, self.handle) for number in SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self.previous.items():
            signal.signal(number, handler)

    def handle(self, number: int, frame: FrameType | None) -> None:
        self.signal = number
        signal.signal(number, self.previous[number])


class TrainingRun:
    """One run, as one process sees it."""

    def __init__(
        self,
        model: nn.Module,
        corpus: TrainingCorpus,
        config: TrainingConfig,
        out: Path,
        model_table: Mapping[str, Any],
        runtime: Runtime,
        stopper: Stopper,
        reporter: Reporter,
    ) -> None:
        self.corpus, self.config, self.runtime = corpus, config, runtime
        self.stopper, self.reporter = stopper, reporter
        split = corpus.splits["train"]
        self.sampler = Sampler(split.piece_counts, split.word_counts, config, config.accumulate * runtime.processes)
        schedule = Schedule.of(config, self.sampler.plan.steps)
        self.identity = identity(model_table, config, corpus, self.sampler.plan, schedule, runtime.options.precision)
        self.learner = Learner(model, config, schedule, runtime)
        trackers = Trackers(runtime.accelerator, out, reporter.warn)
        self.recorder = Recorder(out, config.keep, runtime.is_main, reporter, trackers)
        self.state = RunState()

    def begin(self, resume: bool) -> None:
        """Find out where to start. Nothing is written before it is clear that this run may write here."""
        out, store = self.recorder.out, self.recorder.store
        if not resume:
            check_fresh(out)
        else:
            checkpoint = store.newest(self.reporter.warn)
            if checkpoint is None:
                self.reporter.note(f"{out} has no checkpoint yet; starting from the beginning.")
            else:
                check_same(checkpoint.state["run"], self.identity, out)
                self.state = self.recorder.restore(checkpoint, self.learner)
                self.learner.skipped = self.state.skipped
        self.runtime.wait()  # all have looked before the first one writes
        self.recorder.open(self.identity, self.state)
        self.reporter.started(self.sampler.plan, self.state.step, self.state.words)

    def train(self) -> None:
        """Take steps until the end, or until dev no longer improves, or until asked to stop."""
        state = self.state
        if state.finished:
            self.reporter.note(f"the run was finished at step {state.step:,}; there is nothing left to train.")
            self.recorder.draw(at_end=True)  # it may have been killed before that
            return
        begun = time.monotonic() - state.seconds
        split = self.corpus.splits["train"]
        with closing(self.learner.batches(self.sampler.steps_from(state.step), split)) as batches:
            self.take_steps(split, batches, begun)
        self.recorder.draw(at_end=True)

    def take_steps(self, split: Any, batches: Iterator[Any], begun: float) -> None:
        """Steps from where the run is, with these batches."""
        state = self.state
        for step in self.sampler.steps_from(state.step):
            started = time.monotonic()
            tally, norm, stop = self.learner.update(step, split, self.stopper.wanted, batches)
            state.step, state.epoch, state.skipped = step.number + 1, step.epoch, self.learner.skipped
            state.words += tally.words
            state.window += tally
            state.window_seconds += time.monotonic() - started
            state.seconds = time.monotonic() - begun
            rate = self.learner.schedule.rate(step.number)
            self.reporter.stepped(StepReport(state.step, state.epoch, state.words, tally, rate, norm, state.seconds))
            is_last = state.step == self.sampler.plan.steps
            if is_last or state.step % self.config.log_every == 0:
                self.log_training(rate, norm)
            if is_last or self.wants_dev(step):
                self.score_dev()
                state.seconds = time.monotonic() - begun
                if 0 < self.config.patience <= state.waited:
                    state.finished = "early"
            if is_last:
                state.finished = "complete"
            if self.config.save_every and state.step % self.config.save_every == 0:
                self.recorder.save(self.learner, state.step)
            if stop or state.finished or state.step % self.config.checkpoint_every == 0:
                self.recorder.checkpoint(self.learner, state, self.identity)
            if stop or state.finished:
                break

    def wants_dev(self, step: Step) -> bool:
        """Whether dev is scored after this step: every `dev_every` steps, or after every epoch."""
        return self.state.step % self.config.dev_every == 0 if self.config.dev_every else step.ends_epoch

    def score_dev(self) -> None:
        """Score dev; save the model if it is the best so far."""
        state = self.state
        tally = self.learner.score(self.corpus.splits["dev"])
        improved = state.best_loss is None or tally.loss < state.best_loss
        if improved:
            state.best_loss, state.best_step, state.waited = tally.loss, state.step, 0
            self.recorder.best(self.learner)
        else:
            state.waited += 1
        self.recorder.write("dev", {**self.place(), **tally.summary(), "best": improved, **self.clock()})
        self.reporter.scored(DevScore(state.step, tally, improved))
        self.recorder.draw()

    def score_test(self) -> Tally:
        """Score the test set with the weights that were best on dev."""
        self.recorder.restore_best(self.learner)
        tally = self.learner.score(self.corpus.splits["test"])
        self.recorder.write("test", {"best_step": self.state.best_step, **tally.summary()})
        return tally

    def log_training(self, rate: float, norm: float) -> None:
        """Log the steps since the last line."""
        state = self.state
        speed = {"words_per_second": round(state.window.words / max(state.window_seconds, 1e-9), 1)}
        scores = {**state.window.summary(), "rate": rate, "gradient_norm": norm, "skipped": state.skipped}
        self.recorder.write("train", {**self.place(), **scores, **self.clock(speed)})
        state.window, state.window_seconds = Tally(), 0.0

    def place(self) -> dict[str, int]:
        return {"step": self.state.step, "epoch": self.state.epoch + 1, "words": self.state.words}

    def clock(self, speed: Mapping[str, float] | None = None) -> dict[str, dict[str, float]]:
        """All that may differ between two equal runs."""
        return {"time": {"seconds": round(self.state.seconds, 3), **(speed or {})}}


def check_splits(corpus: TrainingCorpus, score_test: bool) -> None:
    """Raise unless the corpus has the splits that will be read."""
    for name, needed in (("train", True), ("dev", True), ("test", score_test)):
        if needed and (name not in corpus.splits or not len(corpus.splits[name])):
            raise InputError(f"the corpus has no {name} sentences; prepare it again with files for {name}.")
