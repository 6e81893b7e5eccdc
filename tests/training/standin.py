"""A model and a corpus of a few lines each, to train in a second; and a program that trains them, to be killed.

python -m tests.training.standin OUT [--resume] [--die-at N] [--doomed-rename N] [--pause S] [--accumulate N] ...
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional

from dtg.io import atomic
from dtg.losses import BatchLoss
from dtg.training import Outcome, Reporter, RuntimeOptions, TrainingConfig, train
from dtg.training.report import StepReport
from dtg.training.task import Integers

VOCABULARY, WIDTH = 40, 16
TABLE: dict[str, Any] = {
    "seed": 3, "batch_sentences": 4, "epochs": 3, "peak_rate": 1e-2, "start_rate": 1e-4, "final_rate": 1e-4,
    "warmup_share": 0.1, "log_every": 2, "dev_every": 5, "checkpoint_every": 4, "keep": 2,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ToyBatch:
    pieces: Tensor  # (sentences, longest), -1 where there is none
    words: int


class ToySplit:
    def __init__(self, seed: int, sentences: int, longest: int = 9) -> None:
        numbers = np.random.default_rng(seed)
        lengths = numbers.integers(2, longest, size=sentences)
        self.sentences = [numbers.integers(0, VOCABULARY, size=length) // 2 for length in lengths]

    def __len__(self) -> int:
        return len(self.sentences)

    @property
    def piece_counts(self) -> Integers:
        return np.array([len(sentence) for sentence in self.sentences])

    @property
    def word_counts(self) -> Integers:
        return (self.piece_counts + 1) // 2

    def batch(self, indices: Any, device: Any) -> ToyBatch:
        chosen = [torch.from_numpy(self.sentences[index]) for index in indices]
        pieces = nn.utils.rnn.pad_sequence(chosen, batch_first=True, padding_value=-1)
        return ToyBatch(pieces.to(device), int(self.word_counts[indices].sum()))


class ToyTokenizer:
    def __init__(self, name: str) -> None:
        self.hash = name


class ToyCorpus:
    def __init__(self, name: str = "corpus", vocabulary: str = "pieces", sentences: int = 42) -> None:
        self.hash, self.tokenizer = name, ToyTokenizer(vocabulary)
        self.splits: Mapping[str, ToySplit] = {
            "train": ToySplit(1, sentences), "dev": ToySplit(2, 11), "test": ToySplit(3, 7)
        }  # fmt: skip


class ToyModel(nn.Module):
    """Guesses each piece from the one before."""

    def __init__(self, seed: int = 0, dropout: float = 0.2, poison_after: int | None = None) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.embedding = nn.Embedding(VOCABULARY, WIDTH)
            self.layers = nn.ModuleList(nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU()) for _ in range(2))
        self.dropout = nn.Dropout(dropout)
        self.poison_after, self.calls = poison_after, 0

    def loss(self, batch: ToyBatch) -> BatchLoss:
        read, wanted = batch.pieces[:, :-1], batch.pieces[:, 1:]
        hidden = self.embedding(read.clamp(min=0))  # (sentences, longest - 1, width)
        for layer in self.layers:
            hidden = hidden + self.dropout(layer(hidden))
        logits = hidden @ self.embedding.weight.T
        total = functional.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=-1, reduction="sum")
        self.calls += self.training
        if self.poison_after is not None and self.calls > self.poison_after:
            total = total * float("nan")
        predicted = int((wanted >= 0).sum())
        padding = 1 - predicted / wanted.numel()
        return BatchLoss(total, predicted, batch.words, int((batch.pieces >= 0).sum()), padding)

    def parameter_groups(self, learning_rate: float) -> list[dict[str, Any]]:
        rest = list(self.layers.parameters())
        return [{"params": [self.embedding.weight], "scale": 2.0}, {"params": rest, "scale": 1.0}]

    def save(self, folder: Path) -> None:
        (folder / "config.json").write_text("{}")
        save_file(self.state_dict(), folder / "model.safetensors")


def toy_config(**changes: Any) -> TrainingConfig:
    return TrainingConfig.from_dict({**TABLE, **changes})


def toy_train(out: Path, model: nn.Module | None = None, corpus: ToyCorpus | None = None, **more: Any) -> Outcome:
    """Train in this process, on the CPU."""
    changes = {name: more.pop(name) for name in list(more) if name in TrainingConfig.__slots__}
    more.setdefault("options", RuntimeOptions(device="cpu"))
    return train(
        model or ToyModel(), corpus or ToyCorpus(), toy_config(**changes), out, model_table={"width": WIDTH}, **more
    )


def last_weights(out: Path) -> dict[str, Tensor]:
    return load_file(sorted((out / "checkpoints").glob("step-*"))[-1] / "model.safetensors")


def log_without_times(out: Path) -> list[dict[str, Any]]:
    records = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    return [{name: value for name, value in record.items() if name != "time"} for record in records]


def assert_same(one: Path, other: Path) -> None:
    """Weights bit for bit, and logs but for the times."""
    mine, theirs = last_weights(one), last_weights(other)
    assert mine.keys() == theirs.keys()
    assert all(torch.equal(mine[name], theirs[name]) for name in mine)
    assert log_without_times(one) == log_without_times(other)
    best = Path("best", "model.safetensors")
    assert (one / best).read_bytes() == (other / best).read_bytes()


class Slow(Reporter):
    """Gives a murderer time, or stops by itself at a step."""

    def __init__(self, pause: float, die_at: int | None, signal_at: int | None) -> None:
        self.pause, self.die_at, self.signal_at = pause, die_at, signal_at

    def stepped(self, progress: StepReport) -> None:
        time.sleep(self.pause)
        if progress.step == self.die_at:
            os.kill(os.getpid(), signal.SIGKILL)
        if progress.step == self.signal_at:
            os.kill(os.getpid(), signal.SIGTERM)

    def warn(self, message: str) -> None:
        sys.stderr.write(f"warning: {message}\n")


def die_before_rename(number: int) -> None:
    """Kill this process when the Nth folder lies ready under its temporary name."""
    rename, seen = atomic.put_in_place, [0]

    def doomed(temporary: Path, path: Path) -> None:
        seen[0] += 1
        if seen[0] == number:
            os.kill(os.getpid(), signal.SIGKILL)
        rename(temporary, path)

    atomic.put_in_place = doomed


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--fsdp", action="store_true")
    parser.add_argument("--precision", default="no")
    parser.add_argument("--pause", type=float, default=0.0)
    parser.add_argument("--die-at", type=int)
    parser.add_argument("--signal-at", type=int)
    parser.add_argument("--doomed-rename", type=int)
    parser.add_argument("--accumulate", type=int, default=1)
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    if given.doomed_rename:
        die_before_rename(given.doomed_rename)
    outcome = toy_train(
        given.out,
        accumulate=given.accumulate,
        resume=given.resume,
        reporter=Slow(given.pause, given.die_at, given.signal_at),
        options=RuntimeOptions(given.precision, given.fsdp, "cpu"),
    )
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
    sys.exit(0 if outcome.finished else 3)


if __name__ == "__main__":
    main()
