"""Checkpoints that notice damage."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from dtg.errors import CheckpointError
from dtg.training.checkpoint import CheckpointStore, read_checkpoint

TENSORS = {"model": {"w": torch.arange(6.0).view(2, 3)}, "random": {"cpu": torch.arange(9, dtype=torch.uint8)}}


def no_warning(message: str) -> None:
    raise AssertionError(message)


def test_a_checkpoint_comes_back_and_old_ones_go(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path / "checkpoints", keep=2)
    assert store.newest(no_warning) is None
    for step in (5, 10, 100_000_000):
        store.write(step, TENSORS, {"step": step, "loss": 0.1 + 0.2})
    assert [path.name for path in store.folders()] == ["step-00000010", "step-100000000"]
    found = store.newest(no_warning)
    assert found is not None
    assert found.state == {"step": 100_000_000, "loss": 0.1 + 0.2}
    assert torch.equal(found.tensors("model")["w"], TENSORS["model"]["w"])
    assert found.tensors("random")["cpu"].dtype == torch.uint8
    assert json.loads((found.folder / "state.json").read_text())["format_version"] == 1


def cut_weights(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-3])


def alter_weights(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"\x7f")


def lose_random(folder: Path) -> None:
    (folder / "random.safetensors").unlink()


def alter_state(folder: Path) -> None:
    path = folder / "state.json"
    path.write_text(path.read_text().replace('"step": 2', '"step": 1'))


def cut_state(folder: Path) -> None:
    path = folder / "state.json"
    path.write_text(path.read_text()[:-20])


def list_for_state(folder: Path) -> None:
    (folder / "state.json").write_text("[]")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (cut_weights, "model.safetensors was altered or cut short"),
        (alter_weights, "model.safetensors was altered or cut short"),
        (lose_random, "random.safetensors is missing"),
        (alter_state, "state.json was altered"),
        (cut_state, "state.json is missing or cannot be read"),
        (list_for_state, "state.json is missing or cannot be read"),
    ],
)
def test_damage_is_found_and_the_one_before_is_used(
    tmp_path: Path, damage: Callable[[Path], None], message: str
) -> None:
    store = CheckpointStore(tmp_path, keep=2)
    for step in (1, 2):
        store.write(step, TENSORS, {"step": step})
    damage(store.path(2))
    warnings: list[str] = []
    found = store.newest(warnings.append)
    assert found is not None and found.state["step"] == 1
    assert len(warnings) == 1 and message in warnings[0] and "Using the checkpoint before it" in warnings[0]
    damage(store.path(1)) if damage is not alter_state else cut_state(store.path(1))
    with pytest.raises(CheckpointError, match="none of the 2 checkpoints"):
        store.newest(warnings.append)


def test_a_checkpoint_of_another_version(tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path, keep=1)
    path = store.write(1, TENSORS, {}) / "state.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format_version": 99}))
    with pytest.raises(CheckpointError, match="format_version 99; this version of dtg reads 1"):
        read_checkpoint(path.parent)
