"""Trained language models and parsers on disk: folders with config.json, model.safetensors and more. No pickle.

`manifest.json` has the sha256 of every file that decides what is computed; prose, such as cards, is not among them.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping
from math import prod
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import nn

from dtg.errors import CheckpointError
from dtg.io.atomic import replacing
from dtg.io.hashing import content_hash, file_hash
from dtg.io.json_files import CONFIG, FORMAT_VERSION, MANIFEST, WEIGHTS, read_json, write_json
from dtg.io.messages import DtgWarning

ANYWAY = "Restore the folder from a copy, or save the model again; verify=False loads it as it is."


def save_weights(module: nn.Module, folder: Path) -> None:
    """Write all parameters and buffers, atomically."""
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in module.state_dict().items()}
    with replacing(folder / WEIGHTS) as temporary:
        save_file(weights, temporary, metadata={"format_version": str(FORMAT_VERSION)})


def count_parameters(folder: Path) -> int:
    """How many numbers the weights of a folder are; only their shapes are read."""
    try:
        with safe_open(folder / WEIGHTS, framework="pt") as weights:
            names: list[str] = weights.keys()
            return sum(prod(weights.get_slice(name).get_shape()) for name in names)
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"cannot read {folder / WEIGHTS}: {error}") from None


def write_config(content: Mapping[str, Any], folder: Path, others: Iterable[str]) -> None:
    """Write manifest.json and config.json, which comes last: a folder that has it is complete.

    Args:
        content: what config.json is to hold.
        folder: where.
        others: the files besides it that decide what is computed, all written already.
    """
    text = json.dumps({"format_version": FORMAT_VERSION, **content}, indent=2) + "\n"
    hashes = {CONFIG: content_hash(text), **{name: file_hash(folder / name) for name in others}}
    write_json(folder / MANIFEST, {"format_version": FORMAT_VERSION, "files": dict(sorted(hashes.items()))})
    with replacing(folder / CONFIG) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def verify_saved(folder: Path, needed: Mapping[str, str], owner: str) -> None:
    """Check every file against the hash that it was saved with. Those saved before there were hashes are told of.

    Args:
        folder: of a model or parser.
        needed: files that will be read, all of which must have a hash, and what each is.
        owner: whose they are, a model's or a parser's.
    """
    path = folder / MANIFEST
    if not path.is_file():
        warnings.warn(
            f"{folder} has no {MANIFEST}: it was saved by dtg 0.1.0 or before, and whether its files are as they were saved "
            "cannot be checked. To have it checked from now on, load it and save it again.",
            DtgWarning,
            stacklevel=5,
        )
        return
    content = read_json(path, error=CheckpointError)
    files = content.get("files") if isinstance(content, dict) else None
    if not isinstance(files, dict) or content.get("format_version") != FORMAT_VERSION:
        raise CheckpointError(f"{path} is not the manifest of a model or parser that this dtg reads. {ANYWAY}")
    if missing := [name for name in needed if name not in files]:
        raise CheckpointError(f"cannot load {folder / missing[0]}: {path} has no hash of it. {ANYWAY}")
    for name, expected in files.items():
        file = folder / name
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise CheckpointError(f"{path} names {name!r}, which is not in the folder. {ANYWAY}")
        if not file.is_file():
            raise CheckpointError(f"cannot load {file}: it is missing, and {path} has a hash of it. {ANYWAY}")
        if file_hash(file) != expected:
            what = needed.get(name, "configuration" if name == CONFIG else "file")
            raise CheckpointError(
                f"cannot load {file}: it is not the {what} that the {owner} was saved with, but was altered or cut short "
                f"(its sha256 is not the one in {path}). {ANYWAY}"
            )


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
