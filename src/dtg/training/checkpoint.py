"""Checkpoints: the tensors of model, optimizer and random state, and a JSON state, in folders that are checked by hashes.

    checkpoints/step-00000500/
        model.safetensors  optimizer.safetensors  random.safetensors
        state.json     format_version, state, files: {name: sha256}, sha256: of the rest of this file

A folder is written atomically. One that was altered or cut short later is found by its hashes, and the one before it is
used. Tensors have the names of the model's parameters. Parameters that are sharded over processes (FSDP) are gathered
whole, so a checkpoint does not depend on how many processes wrote it; all processes must call the functions that gather
them together.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.distributed.tensor import DTensor, distribute_tensor

from dtg.errors import CheckpointError
from dtg.io.atomic import remove_folder, replacing_folder
from dtg.io.hashing import file_hash, json_hash
from dtg.io.json_files import FORMAT_VERSION, parse_json

STATE = "state.json"
STEP = re.compile(r"step-[0-9]{1,18}")  # the folder of a checkpoint
Tensors = Mapping[str, Tensor]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint whose files have been checked."""

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
        return sorted((one for one in self.folder.glob("step-*") if STEP.fullmatch(one.name)), key=step_of)

    def path(self, step: int) -> Path:
        return self.folder / step_name(step)

    def write(self, step: int, tensors: Mapping[str, Tensors], state: Mapping[str, Any]) -> Path:
        """Write a checkpoint; then remove the oldest beyond those to be kept."""
        path = self.path(step)
        self.folder.mkdir(parents=True, exist_ok=True)
        with replacing_folder(path) as temporary:
            for name, named in tensors.items():
                save_file(dict(named), temporary / f"{name}.safetensors")
            files = {f"{name}.safetensors": file_hash(temporary / f"{name}.safetensors") for name in tensors}
            content: dict[str, Any] = {"format_version": FORMAT_VERSION, "state": dict(state), "files": files}
            text = json.dumps({**content, "sha256": json_hash(content)}, indent=1, allow_nan=False)
            (temporary / STATE).write_text(text, encoding="utf-8")
        for old in self.folders()[: -self.keep]:
            remove_folder(old)
        return path

    def remove_after(self, step: int) -> None:
        """Remove checkpoints later than the one in use: they are damaged, and would be counted among those kept."""
        for folder in self.folders():
            if step_of(folder) > step:
                remove_folder(folder)

    def newest(self, warn: Callable[[str], None]) -> Checkpoint | None:
        """The newest checkpoint that is intact, None if there are none at all; damaged ones are named in warnings."""
        folders = self.folders()
        for folder in reversed(folders):
            try:
                return read_checkpoint(folder)
            except CheckpointError as error:
                warn(f"{error}\nUsing the checkpoint before it.")
        if folders:
            raise CheckpointError(
                f"none of the {len(folders)} checkpoints in {self.folder} can be used; see the warnings above.\n"
                "Restore one from a copy, or train from scratch into another folder."
            )
        return None


def read_checkpoint(folder: Path) -> Checkpoint:
    """Check every file of a checkpoint against its hash, and give its state."""
    try:
        content = parse_json((folder / STATE).read_text(encoding="utf-8"))
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


def step_name(step: int) -> str:
    """Of the folder for what there was after a step."""
    return f"step-{step:08}"


def step_of(folder: Path) -> int:
    return int(folder.name.removeprefix("step-"))


def model_tensors(model: nn.Module) -> dict[str, Tensor]:
    """Parameters and persistent buffers; a shared one appears under the first of its names."""
    seen: set[int] = set()
    found = {}
    for name, tensor in model.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            found[name] = gathered(tensor)
    return found


def restore_model(model: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Copy tensors into the model they came from, or one like it."""
    names = model.state_dict(keep_vars=True)
    places = {name: place for name, place in names.items() if name in tensors}
    covered = {id(place) for place in places.values()}
    different = set(tensors) - set(names) | {name for name, place in names.items() if id(place) not in covered}
    if different:
        raise CheckpointError(
            f"the saved weights are of another model: they differ in {', '.join(sorted(different)[:5])}."
        )
    with torch.no_grad():
        for name, place in places.items():
            if place.shape != tensors[name].shape:
                raise CheckpointError(
                    f"the saved weights are of another model: {name} is {tuple(tensors[name].shape)}, "
                    f"but {tuple(place.shape)} is needed."
                )
            place.copy_(distributed(tensors[name], place))


def optimizer_tensors(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The optimizer's state of each parameter: `exp_avg/NAME` and so on."""
    found = {}
    for name, parameter in model.named_parameters():
        for key, value in optimizer.state.get(parameter, {}).items():
            found[f"{key}/{name}"] = gathered(value)
    return found


def restore_optimizer(model: nn.Module, optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Restore the optimizer's state; tensors of parameters that another optimizer has are left to it."""
    parameters = dict(model.named_parameters())
    own = {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}
    for full_name, tensor in tensors.items():
        key, name = full_name.split("/", maxsplit=1)
        parameter = parameters[name]
        if id(parameter) not in own:
            continue
        if tensor.shape == parameter.shape and key != "step":
            value = torch.empty_like(parameter, requires_grad=False)
            value.copy_(distributed(tensor, parameter))
        else:  # the count of steps
            value = tensor.clone().to(parameter.device)
        optimizer.state[parameter][key] = value


def random_tensors(device: torch.device) -> dict[str, Tensor]:
    """The state of torch's random number generators, on the CPU and on the device."""
    states = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    return states


def restore_random(tensors: Mapping[str, Tensor], device: torch.device) -> None:
    torch.set_rng_state(tensors["cpu"])
    if device.type == "cuda" and "cuda" in tensors:
        torch.cuda.set_rng_state(tensors["cuda"], device)


def gathered(tensor: Tensor) -> Tensor:
    """The tensor on the CPU, gathered from all processes where it is sharded."""
    tensor = tensor.detach()
    if isinstance(tensor, DTensor):
        tensor = tensor.full_tensor()
    return tensor.cpu().contiguous()


def distributed(tensor: Tensor, like: Tensor) -> Tensor:
    """The tensor on the other's device, sharded as the other is."""
    tensor = tensor.to(like.device)
    if isinstance(like, DTensor):
        return distribute_tensor(tensor, like.device_mesh, like.placements)
    return tensor
