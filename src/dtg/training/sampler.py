"""Decides which sentences are in which batch, and which batches are in which step.

The order of an epoch follows from (seed, epoch) alone: shuffle, sort by length within pools of a few hundred batches so
that a batch has sentences of similar length, cut, shuffle the batches. A step takes the next `batches_per_step` of them,
however many processes share the work; the last step of an epoch takes what is left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dtg.errors import TrainingError
from dtg.training.config import TrainingConfig
from dtg.training.task import Integers

POOL = 256  # batches
MOST_EPOCHS = 100_000  # planning more would take long, and training would never end
SENTENCES_PER_BATCH = 64  # assumed for the size of a pool where batches are cut by subwords


@dataclass(frozen=True, slots=True)
class Step:
    """The batches of one update of the weights."""

    number: int  # counted from 0 through the whole run
    epoch: int
    first_batch: int  # of the epoch's batches
    batches: tuple[Integers, ...]  # indices of sentences
    ends_epoch: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """How long a run is, known before it begins."""

    steps_per_epoch: tuple[int, ...]  # the last epoch may be cut short, where words are counted
    words: int
    batches_per_step: int

    @property
    def steps(self) -> int:
        return sum(self.steps_per_epoch)


class Sampler:
    """The order in which a split is read."""

    def __init__(
        self, piece_counts: Integers, word_counts: Integers, config: TrainingConfig, batches_per_step: int
    ) -> None:
        if not len(piece_counts):
            raise TrainingError("the training split has no sentences; prepare a corpus that has some.")
        self.piece_counts, self.word_counts = np.asarray(piece_counts), np.asarray(word_counts)
        self.config, self.batches_per_step = config, batches_per_step
        self.plan = self.make_plan()

    def make_plan(self) -> Plan:
        """Count the steps of every epoch, up to the words or epochs asked for."""
        asked = self.config.epochs or (self.config.words or 0) / max(1, int(self.word_counts.sum()))
        if asked > MOST_EPOCHS:
            raise TrainingError(
                f"the corpus would be read {asked:,.0f} times; at most {MOST_EPOCHS:,} are allowed. Set epochs or words lower."
            )
        steps, words, epoch = [], 0, 0
        while (epoch < self.config.epochs) if self.config.epochs else (words < (self.config.words or 0)):
            per_step = [sum(int(self.word_counts[batch].sum()) for batch in group) for group in self.groups(epoch)]
            totals = words + np.cumsum(per_step)
            taken = len(per_step)
            if self.config.words is not None:
                taken = min(taken, int(np.searchsorted(totals, self.config.words)) + 1)
            steps.append(taken)
            words = int(totals[taken - 1])
            epoch += 1
        return Plan(tuple(steps), words, self.batches_per_step)

    def steps_from(self, first: int) -> Iterator[Step]:
        """The steps of the run, from one of them on."""
        number = 0
        for epoch, count in enumerate(self.plan.steps_per_epoch):
            if number + count > first:
                for place, group in enumerate(self.groups(epoch)[:count]):
                    if number + place >= first:
                        start = place * self.batches_per_step
                        yield Step(number + place, epoch, start, tuple(group), place == count - 1)
            number += count

    def groups(self, epoch: int) -> list[list[Integers]]:
        """An epoch's batches, as many together as a step takes."""
        batches = self.batches(epoch)
        size = self.batches_per_step
        return [batches[start : start + size] for start in range(0, len(batches), size)]

    def batches(self, epoch: int) -> list[Integers]:
        """An epoch's batches, in order."""
        by_sentences = self.config.batch_sentences
        pool = POOL * (by_sentences or SENTENCES_PER_BATCH)
        shuffled = permutation(len(self.piece_counts), (self.config.seed, epoch, 0))
        found: list[Integers] = []
        for start in range(0, len(shuffled), pool):
            members = shuffled[start : start + pool]
            members = members[np.argsort(self.piece_counts[members], kind="stable")]
            found += cut_by_count(members, by_sentences) if by_sentences else self.cut_by_pieces(members)
        return [found[place] for place in permutation(len(found), (self.config.seed, epoch, 1))]

    def cut_by_pieces(self, members: Integers) -> list[Integers]:
        """Cut batches of at most batch_pieces subwords; a longer sentence is a batch of its own."""
        assert self.config.batch_pieces is not None
        totals = np.cumsum(self.piece_counts[members])
        start, before, found = 0, 0, []
        while start < len(members):
            end = max(start + 1, int(np.searchsorted(totals, before + self.config.batch_pieces, side="right")))
            found.append(members[start:end])
            start, before = end, int(totals[end - 1])
        return found


def cut_by_count(members: Integers, size: int) -> list[Integers]:
    return [members[start : start + size] for start in range(0, len(members), size)]


def permutation(length: int, seed: tuple[int, ...]) -> Integers:
    """A random order that newer versions of numpy will not change: only the raw stream of a bit generator is stable."""
    keys = np.random.PCG64(np.random.SeedSequence(seed)).random_raw(length)
    return np.argsort(keys, kind="stable")


def batch_seed(seed: int, epoch: int, batch: int) -> int:
    """The seed of everything random in one batch, whichever process computes it."""
    return int(np.random.SeedSequence((seed, epoch, 2, batch)).generate_state(1, np.uint64)[0])
