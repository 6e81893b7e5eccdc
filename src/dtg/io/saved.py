"""Trained things on disk, language models and parsers: folders with config.json, model.safetensors and more. No pickle."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from dtg.errors import CheckpointError
from dtg.io.files import CONFIG, FORMAT_VERSION, WEIGHTS, replacing


def save_weights(module: nn.Module, folder: Path) -> None:
    """All parameters and buffers, whole or not at all."""
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in module.state_dict().items()}
    with replacing(folder / WEIGHTS) as temporary:
        save_file(weights, temporary, metadata={"format_version": str(FORMAT_VERSION)})


def load_weights(module: nn.Module, folder: Path) -> None:
    """What `save_weights` wrote, into a module of the same shape."""
    try:
        module.load_state_dict(load_file(folder / WEIGHTS))
    except (OSError, SafetensorError, RuntimeError) as error:
        raise CheckpointError(f"cannot load {folder / WEIGHTS}: {error}") from None


def write_config(content: Mapping[str, Any], folder: Path) -> None:
    """Comes last: it is what makes the folder one of ours."""
    with replacing(folder / CONFIG) as temporary:
        text = json.dumps({"format_version": FORMAT_VERSION, **content}, indent=2)
        temporary.write_text(text + "\n", encoding="utf-8")


def read_json(folder: Path, missing: str) -> Any:
    """What config.json holds, whatever it is; `missing` is said where there is none."""
    path = folder / CONFIG
    if not path.is_file():
        raise CheckpointError(missing)
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CheckpointError(f"cannot read {path}: {error}") from None


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


def hash_of(paths: Iterable[Path]) -> str:
    """What identifies files: a hash of their names and contents; those that are not there do not count."""
    digest = hashlib.sha256()
    for path in paths:
        if path.is_file():
            with path.open("rb") as file:
                digest.update(f"{path.name} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()
