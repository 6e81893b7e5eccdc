"""Updates the weights by one step, and scores a whole split.

The loss of a step is a sum over its global batch (all processes, all accumulated batches) divided by how many
predictions that has. How many there are is known only afterwards, so gradients are summed under a divisor known
beforehand, the number of subwords (without one, float16 would overflow), and corrected before they are clipped. A thread
prepares the next batches, several at once, while the model computes.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from dtg.errors import InputError, TrainingError
from dtg.training.config import TrainingConfig
from dtg.training.optimizers import make_optimizers
from dtg.training.runtime import Runtime
from dtg.training.sampler import Step, batch_seed
from dtg.training.schedule import Schedule
from dtg.training.tally import Tally
from dtg.training.task import FollowsProgress, Integers, LossModule, OpaqueBatch, PreparesBatches, TrainingSplit

IDLE = -1
TOGETHER = 8  # batches that are prepared at once; as many more may be waiting


class Learner:
    """A model with its optimizers, wrapped for the processes at hand."""

    def __init__(self, model: nn.Module, config: TrainingConfig, schedule: Schedule, runtime: Runtime) -> None:
        self.model, self.config, self.schedule, self.runtime = model, config, schedule, runtime
        # A sharded model cannot save itself; the first process keeps a whole one to do it.
        self.spare = copy.deepcopy(model) if runtime.options.fsdp and runtime.is_main else None
        self.module = runtime.wrap(LossModule(model))
        if config.optimizer == "muon" and (runtime.options.fsdp or runtime.scaler is not None):
            raise InputError("optimizer muon goes with precision no or bf16, and with whole weights, not sharded ones.")
        made = make_optimizers(model, config)
        self.scales = [one.scales for one in made]
        self.optimizers: list[Any] = [runtime.accelerator.prepare_optimizer(one.optimizer) for one in made]
        self.parameters: list[Tensor] = [
            parameter for one in made for group in one.optimizer.param_groups for parameter in group["params"]
        ]
        self.skipped = 0  # updates skipped because float16 overflowed

    def places(self, step: Step) -> list[int]:
        """Which batches of a step this process computes. Beyond the last one it computes the first for nothing."""
        processes, rank = self.runtime.processes, self.runtime.rank
        turns = range(-(-len(step.batches) // processes))
        places = [turn * processes + rank for turn in turns]
        return [place if place < len(step.batches) else IDLE for place in places]

    def batches(self, steps: Iterable[Step], split: TrainingSplit) -> Generator[Any]:
        """The batches that `update` takes in these steps, one after another; close it in the end."""
        indices = (step.batches[max(place, 0)] for step in steps for place in self.places(step))
        return batches_in_order(self.model, split, indices, self.runtime.device)

    def update(
        self, step: Step, split: TrainingSplit, wants_stop: bool, batches: Iterator[Any] | None = None
    ) -> tuple[Tally, float, bool]:
        """Take one step, with what `batches` gives next: its batches, which are made here if there is none.

        Returns the global batch's tally, the gradient's norm, and whether any process wants to stop.
        """
        batches = self.batches([step], split) if batches is None else batches
        processes = self.runtime.processes
        places = self.places(step)
        pieces = sum(int(split.piece_counts[batch].sum()) for batch in step.batches)
        self.module.train()
        if isinstance(self.model, FollowsProgress):
            self.model.follow(step.number / max(1, self.schedule.steps - 1))
        for optimizer, scales in zip(self.optimizers, self.scales, strict=True):
            for group, scale in zip(optimizer.param_groups, scales, strict=True):
                group["lr"] = self.schedule.rate(step.number) * scale
        total, counts = torch.zeros((), dtype=torch.float64), Tally()
        for turn, place in enumerate(places, start=1):
            idle = place == IDLE  # all must take part
            torch.manual_seed(batch_seed(self.config.seed, step.epoch, step.first_batch + max(place, 0)))
            batch = next(batches)
            with self.runtime.forward(self.module, synchronize=turn == len(places)):
                loss = self.module(OpaqueBatch(batch))
                weight = 0.0 if idle else processes / pieces  # data parallelism averages over processes
                self.runtime.accelerator.backward(loss.total * weight)
            if not idle:
                total = total.to(loss.total.device) + loss.total.detach().double()
                counts += Tally.counting(loss)
        tally, stop = self.shared(replace(counts, total=total.item()), wants_stop)
        norm = self.finish(step, tally, pieces)
        return tally, norm, stop

    def finish(self, step: Step, tally: Tally, pieces: int) -> float:
        """Divide by the true count, clip, update; returns the gradient's norm before clipping."""
        if not math.isfinite(tally.total):
            raise TrainingError(self.not_finite(step, "loss", tally.total))
        untouched = [name for name, parameter in self.model.named_parameters() if parameter.grad is None]
        if untouched and self.runtime.processes > 1:
            raise TrainingError(f"several processes need every parameter in every loss; missing: {untouched[:5]}.")
        gradients = [parameter.grad for parameter in self.parameters if parameter.grad is not None]
        torch._foreach_mul_(gradients, pieces / max(1, tally.predicted))
        norm = self.runtime.clip(self.parameters, self.config.gradient_norm)
        if not math.isfinite(norm) and self.runtime.scaler is None:
            raise TrainingError(self.not_finite(step, "gradient", norm))
        for optimizer in self.optimizers:
            optimizer.step()
        self.skipped += any(optimizer.step_was_skipped for optimizer in self.optimizers)
        for optimizer in self.optimizers:
            optimizer.zero_grad()
        return norm if math.isfinite(norm) else 0.0

    def not_finite(self, step: Step, what: str, value: float) -> str:
        return (
            f"the {what} at step {step.number + 1:,} is {value}; the weights were not changed by it.\n"
            "A lower peak_rate, a longer warm-up or full precision usually helps. Checkpoints written before are kept."
        )

    def score(self, split: TrainingSplit) -> Tally:
        """The tally of a whole split, without gradients."""
        batches = length_batches(split.piece_counts, self.config)
        processes, rank = self.runtime.processes, self.runtime.rank
        self.module.eval()
        tally = Tally()
        places = [start + rank for start in range(0, len(batches), processes)]
        indices = (batches[place if place < len(batches) else 0] for place in places)
        made = batches_in_order(self.model, split, indices, self.runtime.device)
        with closing(made), torch.no_grad():
            for place, batch in zip(places, made, strict=True):
                idle = place >= len(batches)
                with self.runtime.forward(self.module, synchronize=True):
                    loss = self.module(OpaqueBatch(batch))
                if not idle:
                    tally += replace(Tally.counting(loss), total=float(loss.total))
        return self.shared(tally, False)[0]

    def shared(self, tally: Tally, flag: bool) -> tuple[Tally, bool]:
        """Sum a tally over all processes, and ask whether any raised its flag."""
        numbers = [tally.total, tally.predicted, tally.words, tally.pieces, tally.padded, float(flag)]
        total, predicted, words, pieces, padded, flags = self.runtime.sum(numbers)
        return Tally(total, round(predicted), round(words), round(pieces), padded), flags > 0


def length_batches(piece_counts: Integers, config: TrainingConfig) -> list[Integers]:
    """A split's sentences by length, in batches about as large as those of training."""
    order = np.argsort(piece_counts, kind="stable")
    if config.batch_sentences is not None:
        size = config.batch_sentences
        return [order[start : start + size] for start in range(0, len(order), size)]
    assert config.batch_pieces is not None
    marks = np.cumsum(piece_counts[order]) // config.batch_pieces
    return np.split(order, np.flatnonzero(np.diff(marks)) + 1)


def batches_in_order(
    model: Any, split: TrainingSplit, indices: Iterable[Integers], device: torch.device
) -> Generator[Any]:
    """What `model.loss` takes, for each of these sets of sentences.

    A model that prepares its batches gets them from a thread, which ends with this iterator: close it. Others get theirs
    when they are asked for. What is prepared together makes no difference to a batch, so a run that is resumed in the middle
    gives the same numbers.
    """
    if not isinstance(model, PreparesBatches):
        for some in indices:
            yield split.batch(some, device)
        return
    todo = iter(indices)

    def prepare(groups: list[Integers]) -> list[Any]:
        together = split.batch(np.concatenate(groups), torch.device("cpu"))
        return model.prepare(together, [len(group) for group in groups])

    with ThreadPoolExecutor(1, thread_name_prefix="dtg-batches") as thread:
        groups = list(islice(todo, TOGETHER))
        pending = thread.submit(prepare, groups) if groups else None
        while pending is not None:
            ready = pending.result()
            groups = list(islice(todo, TOGETHER))
            pending = thread.submit(prepare, groups) if groups else None
            yield from ready
