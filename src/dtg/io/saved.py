"""Trained language models and parsers on disk: folders with config.json, model.safetensors and more. No pickle."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from math import prod
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import nn

from dtg.errors import CheckpointError
from dtg.io.atomic import replacing
from dtg.io.json_files import CONFIG, FORMAT_VERSION, WEIGHTS, read_json


def save_weights(module: nn.Module, folder: Path) -> None:
    """Write all parameters and buffers, atomically."""
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in module.state_dict().items()}
    with replacing(folder / WEIGHTS) as temporary:
        save_file(weights, temporary, metadata={"format_version": str(FORMAT_VERSION)})


def load_weights(module: nn.Module, folder: Path) -> None:
    """Read what `save_weights` wrote into a module of the same shape."""
    try:
        module.load_state_dict(load_file(folder / WEIGHTS))
    except (OSError, SafetensorError, RuntimeError) as error:
        raise CheckpointError(f"cannot load {folder / WEIGHTS}: {error}") from None


def count_parameters(folder: Path) -> int:
    """How many numbers the weights of a folder are; only their shapes are read."""
    try:
        with safe_open(folder / WEIGHTS, framework="pt") as weights:
            names: list[str] = weights.keys()
            return sum(prod(weights.get_slice(name).get_shape()) for name in names)
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"cannot read {folder / WEIGHTS}: {error}") from None


def write_config(content: Mapping[str, Any], folder: Path) -> None:
    """Write config.json. It comes last: a folder that has it is complete."""
    with replacing(folder / CONFIG) as temporary:
        text = json.dumps({"format_version": FORMAT_VERSION, **content}, indent=2)
        temporary.write_text(text + "\n", encoding="utf-8")


def read_saved_config(folder: Path, missing: str) -> Any:
    """What config.json holds, whatever it is; `missing` is the message where there is none."""
    if not (folder / CONFIG).is_file():
        raise CheckpointError(missing)
    return read_json(folder / CONFIG, error=CheckpointError)


def check_config(content: Any, folder: Path, keys: Iterable[str], whose: str) -> dict[str, Any]:
    """The content, if it has these keys and a version that this dtg reads."""
    path, keys = folder / CONFIG, {"format_version", *keys}
    if not isinstance(content, dict) or set(content) != keys:
        raise CheckpointError(f"{path} is not a {whose}: it must have {', '.join(sorted(keys))} and nothing else.")
    if content["format_version"] != FORMAT_VERSION:
        version = content["format_version"]
        raise CheckpointError(
            f"{path} has format_version {version}; this dtg reads {FORMAT_VERSION}. Install one that fits."
        )
    return content
