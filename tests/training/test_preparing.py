"""Batches that a thread prepares, several at once: each is what it would be by itself, and no thread is left behind."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest
import torch

from dtg.errors import InputError
from dtg.families import FAMILIES, PackedRows
from dtg.model import DecoderModel
from dtg.training.learner import TOGETHER, batches_in_order
from tests.model.test_last_layer import model_and_batch
from tests.training.test_decoder_runs import SomeTrees


def assert_equal(found: Any, expected: Any, where: str = "batch") -> None:
    """Field by field, tensors to the bit."""
    assert type(found) is type(expected), where
    if isinstance(found, torch.Tensor):
        assert found.dtype == expected.dtype and torch.equal(found, expected), where
    elif is_dataclass(found):
        if isinstance(found, PackedRows):  # rows that predict nothing have no features
            found, expected = (
                replace(one, features=one.features.masked_fill(one.target[:, None] < 0, 0)) for one in (found, expected)
            )
        for field in fields(found):
            assert_equal(getattr(found, field.name), getattr(expected, field.name), f"{where}.{field.name}")
    elif isinstance(found, (tuple, list)):
        assert len(found) == len(expected), where
        for number, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert_equal(one, other, f"{where}[{number}]")
    elif isinstance(found, dict):
        assert found.keys() == expected.keys(), where
        for key in found:
            assert_equal(found[key], expected[key], f"{where}[{key}]")
    else:
        assert found == expected, where


@pytest.mark.parametrize("family", FAMILIES)
def test_together_and_each_by_itself(family: str) -> None:
    model, batch = model_and_batch(family)
    trees, sentences = batch.trees(), batch.word_offsets.diff().tolist()
    pieces = []
    for word, count in zip(batch.piece_offsets[:-1].tolist(), batch.piece_counts.tolist(), strict=True):
        pieces.append(batch.pieces[word : word + count].tolist())
    by_sentence, first = [], 0
    for count in sentences:
        by_sentence.append(pieces[first : first + count])
        first += count
    sizes = [2, 1, len(trees) - 3]
    found = model.prepare(batch, sizes)
    start = 0
    for size, one in zip(sizes, found, strict=True):
        some = slice(start, start + size)
        (expected,) = model.prepare(model.encode(trees[some], by_sentence[some]))
        assert_equal(one, expected)
        start += size


def groups(count: int) -> Iterator[Any]:
    for number in range(count):
        yield np.array([number % 7, (3 * number) % 11])


def a_model() -> DecoderModel:
    return model_and_batch("dtg")[0]


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("dtg-batches")]


@pytest.mark.parametrize("count", [0, 1, TOGETHER, 2 * TOGETHER + 3])
def test_all_of_them_in_order(count: int) -> None:
    model, split = a_model(), SomeTrees(11, 1)
    found = list(batches_in_order(model, split, groups(count), model.device))
    assert len(found) == count
    for one, indices in zip(found, groups(count), strict=True):
        assert_equal(one, model.prepare(split.batch(indices, "cpu"))[0])
    assert not threads()


def test_the_thread_ends_when_nobody_wants_more() -> None:
    model, split = a_model(), SomeTrees(11, 1)
    batches = batches_in_order(model, split, groups(100), model.device)
    next(batches)
    assert threads()
    batches.close()
    assert not threads()


def test_no_more_than_twice_as_many_wait() -> None:
    model, split, todo = a_model(), SomeTrees(11, 1), groups(100)
    batches = batches_in_order(model, split, todo, model.device)
    next(batches)
    assert len(list(todo)) == 100 - 2 * TOGETHER
    batches.close()


def test_an_error_in_the_thread_is_raised_to_whom_asks() -> None:
    class Broken(SomeTrees):
        def batch(self, indices: Any, device: Any) -> Any:
            raise InputError("there is no sentence 99.")

    with pytest.raises(InputError, match="no sentence 99"):
        next(batches_in_order(a_model(), Broken(3, 1), groups(1), torch.device("cpu")))
    assert not threads()
