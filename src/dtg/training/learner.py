"""Updates the weights by one step, and scores a whole split.

The loss of a step is a sum over its global batch (all processes, all accumulated batches) divided by how many
predictions that has. How many there are is known only afterwards, so gradients are summed under a divisor known
beforehand, the number of subwords (without one, float16 would overflow), and corrected before they are clipped.
"""

from __future__ import annotations

import copy
import math
from dataclasses import replace
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
from dtg.training.task import FollowsProgress, Integers, LossModule, OpaqueBatch, TrainingSplit


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

    def update(self, step: Step, split: TrainingSplit, wants_stop: bool) -> tuple[Tally, float, bool]:
        """Take one step. Returns the global batch's tally, the gradient's norm, and whether any process wants to stop."""
        processes, rank = self.runtime.processes, self.runtime.rank
        rounds = -(-len(step.batches) // processes)
        pieces = sum(int(split.piece_counts[batch].sum()) for batch in step.batches)
        self.module.train()
        if isinstance(self.model, FollowsProgress):
            self.model.follow(step.number / max(1, self.schedule.steps - 1))
        for optimizer, scales in zip(self.optimizers, self.scales, strict=True):
            for group, scale in zip(optimizer.param_groups, scales, strict=True):
                group["lr"] = self.schedule.rate(step.number) * scale
        total, counts = torch.zeros((), dtype=torch.float64), Tally()
        for turn in range(rounds):
            place = turn * processes + rank
            idle = place >= len(step.batches)  # a process without a batch computes one for nothing: all must take part
            place = 0 if idle else place
            torch.manual_seed(batch_seed(self.config.seed, step.epoch, step.first_batch + place))
            batch = split.batch(step.batches[place], self.runtime.device)
            with self.runtime.forward(self.module, synchronize=turn == rounds - 1):
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
        for parameter in self.parameters:
            if parameter.grad is not None:
                parameter.grad.mul_(pieces / max(1, tally.predicted))
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
        with torch.no_grad():
            for start in range(0, len(batches), processes):
                place = start + rank
                idle = place >= len(batches)
                batch = split.batch(batches[0 if idle else place], self.runtime.device)
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
