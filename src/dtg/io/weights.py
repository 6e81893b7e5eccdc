"""Weights into networks: checked by name, shape, dtype and value before a network takes memory; and how much it would take."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import nn
from torch.overrides import TorchFunctionMode

from dtg.environment import total_memory
from dtg.errors import CheckpointError, ConfigError, NotFiniteError
from dtg.io.json_files import CONFIG, WEIGHTS

Network = TypeVar("Network", bound=nn.Module)
FLOATS = {
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "F32": torch.float32,
    "F64": torch.float64,
}  # as safetensors say
DRAWING = frozenset({torch.Tensor.normal_, torch.Tensor.uniform_})
TOO_LARGE = (RuntimeError, OverflowError, TypeError)  # what torch raises for sizes beyond 64 bits


def load_network(build: Callable[[], Network], folder: Path, *, verify: bool = True) -> Network:
    """A network with the weights of a folder.

    Args:
        build: makes it. It is called twice: first without memory, to see whether the weights are its weights.
        folder: what `save_weights` wrote to.
        verify: check that all weights are finite.
    """
    path = folder / WEIGHTS
    try:
        check_header(shapes_of(build), path)
        weights = load_file(path)
        if verify:
            check_finite(weights, path)
        network = build()
        network.load_state_dict(weights)
    except ConfigError as error:
        raise CheckpointError(f"cannot load {folder / CONFIG}: {error}") from None
    except (OSError, SafetensorError, RuntimeError) as error:
        raise CheckpointError(f"cannot load {path}: {error}") from None
    return network


class WithoutDrawing(TorchFunctionMode):
    """Weights stay as they are allocated: to draw numbers that are not there, torch would import its compiler first."""

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = kwargs or {}
        if function in DRAWING or getattr(function, "__module__", None) == nn.init.__name__:
            return args[0] if args else given["tensor"]
        return function(*args, **given)


def shapes_of(build: Callable[[], nn.Module]) -> dict[str, torch.Tensor]:
    """The weights of a network without their numbers: no memory is taken for them."""
    with torch.device("meta"), WithoutDrawing():
        try:
            return dict(build().state_dict())
        except TOO_LARGE as error:
            raise ConfigError(
                f"there cannot be a network of these sizes ({str(error).splitlines()[0]}). Make them smaller."
            ) from None


def check_header(expected: Mapping[str, torch.Tensor], path: Path) -> None:
    """Raise unless a file has exactly these weights, as numbers that networks compute with. Only its header is read."""
    with safe_open(path, framework="pt") as weights:
        found: dict[str, tuple[tuple[int, ...], str]] = {
            name: (tuple(part.get_shape()), part.get_dtype())
            for name in weights.keys()  # noqa: SIM118 - it is no mapping
            for part in [weights.get_slice(name)]
        }
    if differing := sorted(set(expected) ^ set(found)):
        whose = (
            "config.json does not describe" if differing[0] in found else "config.json describes, and the file lacks"
        )
        raise CheckpointError(f"cannot load {path}: {whose} {', '.join(differing[:3])}.")
    for name, tensor in expected.items():
        shape, kind = found[name]
        if shape != tuple(tensor.shape):
            raise CheckpointError(
                f"cannot load {path}: {name} has the shape {shape}, and config.json says {tuple(tensor.shape)}."
            )
        if tensor.is_floating_point() and kind not in FLOATS:
            raise CheckpointError(
                f"cannot load {path}: {name} is of the type {kind}; {', '.join(FLOATS)} are expected. Save the model again."
            )


def check_finite(weights: Mapping[str, torch.Tensor], path: Path) -> None:
    """Raise if any number is NaN or infinite."""
    for name, tensor in weights.items():
        # The extremes are NaN if any number is; they are found in a fiftieth of the time that asking each takes.
        if tensor.is_floating_point() and tensor.numel():
            extremes = tensor.aminmax()
            if not (math.isfinite(float(extremes.min)) and math.isfinite(float(extremes.max))):
                raise NotFiniteError(f"{name} in {path}", "NaN or infinite")


def check_fits_memory(build: Callable[[], nn.Module]) -> None:
    """Raise if the weights of a network would not fit into this machine's memory; none of it is taken to find out."""
    tensors = shapes_of(build).values()
    needed = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
    there = total_memory()
    if there is not None and needed > there:
        count = sum(tensor.numel() for tensor in tensors)
        raise ConfigError(
            f"a network of these sizes has {count:,} parameters, which need {needed / 2**30:,.0f} GiB; this machine has "
            f"{there / 2**30:,.0f} GiB. Make it smaller: fewer layers, less width, a smaller vocabulary."
        )


def weights_hash(module: nn.Module) -> str:
    """What identifies a model that is not in a folder."""
    digest = hashlib.sha256()
    for name, values in module.state_dict().items():
        digest.update(f"{name} {values.dtype} {tuple(values.shape)}\n".encode())
        digest.update(values.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
