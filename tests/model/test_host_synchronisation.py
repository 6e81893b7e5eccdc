"""Between the embedding and the loss nothing waits for the device: no value of a tensor becomes one of Python's.

On a GPU every such wait stops the queue of kernels. There is none here, so calls are counted on the CPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from dtg.model.batch import prepared
from tests.dependency import DEPENDENCY_FAMILIES
from tests.model.test_last_layer import model_and_batch, padded_keys
from tests.phrase_twins import PHRASE_FAMILIES

# What reads a value, and what has a result whose size depends on values.
WAITING = ("_local_scalar_dense", "nonzero", "masked_select", "unique", "_unique2", "is_nonzero", "equal", "bincount")
IN_PYTHON = ("tolist", "item", "__bool__", "__int__", "__float__", "numpy")


class Waits(TorchDispatchMode):
    """Counts operations that wait."""

    def __init__(self, found: list[str]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.found = found

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        indices = args[1] if name in ("index", "index_put", "index_put_") else ()
        if name in WAITING or any(index is not None and index.dtype == torch.bool for index in indices):
            self.found.append(name)
        return func(*args, **(kwargs or {}))


class PythonWaits(TorchFunctionMode):
    """Counts calls by which values become Python's."""

    def __init__(self, found: list[str]) -> None:
        super().__init__()
        self.found = found

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        if name in IN_PYTHON:
            self.found.append(name)
        return func(*args, **(kwargs or {}))


@contextmanager
def waits() -> Iterator[list[str]]:
    found: list[str] = []
    with PythonWaits(found), Waits(found):
        yield found


def test_waits_are_counted() -> None:
    numbers = torch.arange(4)
    for act in (lambda: int(numbers[0]), numbers.tolist, lambda: bool(numbers.any()), numbers.nonzero):
        with waits() as found:
            act()
        assert found
    with waits() as found:
        _ = numbers[numbers > 1]
    assert found
    with waits() as found:
        _ = numbers + 1
    assert not found


@pytest.mark.parametrize("head", ["factored", "joint"])
@pytest.mark.parametrize("family", [*DEPENDENCY_FAMILIES, *PHRASE_FAMILIES])
def test_nothing_waits_from_the_embedding_to_the_loss(family: str, head: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a GPU, whose sentences are padded."""
    monkeypatch.setattr(prepared, "packed_keys", padded_keys)
    model, batch = model_and_batch(family, head=head)
    (made,) = model.prepare(batch)
    with waits() as found:

        def begin(module: Any, given: Any) -> None:  # Pushdown's attachment head looks tokens up once more
            found.clear()
            hook.remove()

        hook = model.decoder.embedding.register_forward_pre_hook(begin)
        found.append("before")
        total = model.loss(made).total
        at_loss = list(found)
    assert at_loss == [] and float(total.detach()) > 0
