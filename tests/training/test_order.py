"""What is read when, and at which rate: sampler and schedule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtg.errors import ConfigError, TrainingError
from dtg.training.sampler import Sampler, batch_seed, permutation
from dtg.training.schedule import Schedule
from tests.training.standin import toy_config


def sampler(counts: Any, per_step: int = 1, **changes: Any) -> Sampler:
    counts = np.asarray(counts)
    return Sampler(counts, counts, toy_config(**changes), per_step)


@settings(max_examples=50)
@given(
    counts=st.lists(st.integers(1, 40), min_size=1, max_size=200),
    per_step=st.integers(1, 5),
    cut=st.sampled_from([{"batch_sentences": 7}, {"batch_pieces": 50}]),
    first=st.integers(0, 60),
)
def test_every_epoch_reads_every_sentence_once(
    counts: list[int], per_step: int, cut: dict[str, int], first: int
) -> None:
    table = {"batch_sentences": None, **cut}
    config = toy_config()
    config = type(config)(**{**config.as_dict(), **table})
    found = Sampler(np.array(counts), np.array(counts), config, per_step)
    steps = list(found.steps_from(0))
    for epoch in range(3):
        read = [index for step in steps if step.epoch == epoch for batch in step.batches for index in batch.tolist()]
        assert sorted(read) == list(range(len(counts)))
    assert [step.number for step in steps] == list(range(found.plan.steps))
    assert found.plan.words == 3 * sum(counts)
    for step in steps:
        for batch in step.batches:
            assert (
                len(batch) <= 7 if "batch_sentences" in cut else len(batch) == 1 or sum(counts[i] for i in batch) <= 50
            )
    later = list(found.steps_from(first))  # resuming gives the same steps
    assert [(s.number, s.epoch, [b.tolist() for b in s.batches]) for s in later] == [
        (s.number, s.epoch, [b.tolist() for b in s.batches]) for s in steps[first:]
    ]


def test_sentences_of_a_batch_are_of_a_length() -> None:
    counts = np.random.default_rng(0).integers(1, 60, size=2000)
    batches = sampler(counts, batch_sentences=20).batches(0)
    padded = sum(len(batch) * counts[batch].max() for batch in batches)
    assert 1 - counts.sum() / padded < 0.03
    means = [counts[batch].mean() for batch in batches]
    assert abs(np.corrcoef(means, range(len(means)))[0, 1]) < 0.4  # but the batches come in any order


def test_the_order_follows_from_seed_and_epoch_alone() -> None:
    counts = [3] * 50
    one, same, other = sampler(counts), sampler(counts), sampler(counts, seed=4)
    assert [b.tolist() for b in one.batches(1)] == [b.tolist() for b in same.batches(1)]
    assert [b.tolist() for b in one.batches(1)] != [b.tolist() for b in one.batches(0)]
    assert [b.tolist() for b in one.batches(1)] != [b.tolist() for b in other.batches(1)]
    assert permutation(8, (3, 0, 0)).tolist() == [0, 4, 7, 1, 5, 6, 3, 2]  # in all versions of numpy
    assert batch_seed(3, 0, 0) != batch_seed(3, 0, 1)


def test_two_processes_read_what_one_reads_in_two_turns() -> None:
    counts = list(range(1, 30))
    assert [b.tolist() for s in sampler(counts, 1).steps_from(0) for b in s.batches] == [
        b.tolist() for s in sampler(counts, 2).steps_from(0) for b in s.batches
    ]


def test_words_fix_the_length() -> None:
    config = toy_config()
    table = {**config.as_dict(), "words": 250}
    del table["epochs"]
    counts = np.full(10, 10)
    plan = Sampler(counts, counts, type(config).from_dict(table), 1).plan
    assert plan.steps_per_epoch == (3, 3, 2)  # batches of 4, 4 and 2 sentences: 40 + 40 or 40 + 20 words reach 50
    assert 250 <= plan.words < 290


def test_no_sentences() -> None:
    with pytest.raises(TrainingError, match="the training split has no sentences"):
        sampler([])


def test_the_rate_rises_and_falls() -> None:
    schedule = Schedule.of(toy_config(peak_rate=1.0, start_rate=0.1, final_rate=0.2, warmup_share=0.1), 101)
    rates = [schedule.rate(step) for step in range(101)]
    assert rates[0] == 0.1
    assert rates[10] == max(rates) == 1.0
    assert rates[5] == pytest.approx(0.55)
    assert rates[55] == pytest.approx(0.6)  # half way down
    assert rates[100] == pytest.approx(0.2)
    assert rates[10:] == sorted(rates[10:], reverse=True)


def test_a_warm_up_longer_than_the_run() -> None:
    config = toy_config()
    table = {**config.as_dict(), "warmup_steps": 8000}
    del table["warmup_share"]
    with pytest.raises(ConfigError, match="the warm-up takes 8,000 steps, but the whole run has only 300"):
        Schedule.of(type(config).from_dict(table), 300)
