"""Checkpoints: named tensors and a JSON state in, folders on disk out, and back again after checking every byte.

    checkpoints/step-00000500/
        model.safetensors  optimizer.safetensors  random.safetensors
        state.json     format_version, state, files: {name: sha256}, sha256: of the rest of this file

A folder appears whole or not at all (folders.py). One that was altered or cut short later is found by its hashes, and
the one before it is used.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file
from torch import Tensor

from dtg.errors import CheckpointError
from dtg.io.files import FORMAT_VERSION
from dtg.training.folders import remove_whole, whole_folder

STATE = "state.json"
Tensors = Mapping[str, Tensor]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One whole checkpoint."""

    folder: Path
    state: Mapping[str, Any]

    def tensors(self, name: str) -> dict[str, Tensor]:
        """The tensors of one file, on the CPU."""
        return load_file(self.folder / f"{name}.safetensors")


class CheckpointStore:
    """The checkpoints of a run, of which the last few are kept."""

    def __init__(self, folder: Path, keep: int) -> None:
        self.folder, self.keep = folder, keep

    def folders(self) -> list[Path]:
        """Oldest first."""
        return sorted(self.folder.glob("step-[0-9]*"), key=step_of)

    def path(self, step: int) -> Path:
        return self.folder / f"step-{step:08}"

    def write(self, step: int, tensors: Mapping[str, Tensors], state: Mapping[str, Any]) -> Path:
        """Write a checkpoint; then remove the oldest beyond those to be kept."""
        path = self.path(step)
        with whole_folder(path) as temporary:
            for name, named in tensors.items():
                save_file(dict(named), temporary / f"{name}.safetensors")
            files = {f"{name}.safetensors": file_hash(temporary / f"{name}.safetensors") for name in tensors}
            content: dict[str, Any] = {"format_version": FORMAT_VERSION, "state": dict(state), "files": files}
            text = json.dumps({**content, "sha256": json_hash(content)}, indent=1, allow_nan=False)
            (temporary / STATE).write_text(text, encoding="utf-8")
        for old in self.folders()[: -self.keep]:
            remove_whole(old)
        return path

    def remove_after(self, step: int) -> None:
        """Remove checkpoints later than the one in use: they were damaged, and would be counted among those kept."""
        for folder in self.folders():
            if step_of(folder) > step:
                remove_whole(folder)

    def newest(self, warn: Callable[[str], None]) -> Checkpoint | None:
        """The newest checkpoint that is whole, None where there is none at all; damaged ones are named in warnings."""
        folders = self.folders()
        for folder in reversed(folders):
            try:
                return read_checkpoint(folder)
            except CheckpointError as error:
                warn(f"{error}\nUsing the checkpoint before it.")
        if folders:
            raise CheckpointError(
                f"none of the {len(folders)} checkpoints in {self.folder} can be used; see the warnings above.\n"
                "Restore one from a copy, or train anew into another folder."
            )
        return None


def read_checkpoint(folder: Path) -> Checkpoint:
    """Check every file of a checkpoint against its hash, and give its state."""
    try:
        content = json.loads((folder / STATE).read_text(encoding="utf-8"))
        claimed = content.pop("sha256")
        version, state, files = content["format_version"], content["state"], content["files"]
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        raise CheckpointError(f"the checkpoint {folder} is damaged: {STATE} is missing or cannot be read.") from None
    if version != FORMAT_VERSION:
        raise CheckpointError(
            f"the checkpoint {folder} has format_version {version}; this version of dtg reads {FORMAT_VERSION}."
        )
    if claimed != json_hash(content):
        raise CheckpointError(f"the checkpoint {folder} is damaged: {STATE} was altered (its sha256 does not fit).")
    for name, expected in files.items():
        if not (folder / name).is_file():
            raise CheckpointError(f"the checkpoint {folder} is damaged: {name} is missing.")
        if file_hash(folder / name) != expected:
            raise CheckpointError(
                f"the checkpoint {folder} is damaged: {name} was altered or cut short (its sha256 does not fit)."
            )
    return Checkpoint(folder, state)


def step_of(folder: Path) -> int:
    return int(folder.name.removeprefix("step-"))


def file_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def json_hash(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
