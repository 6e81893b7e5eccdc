"""Models on disk: config.json, model.safetensors, tokenizer.model in one folder. No pickle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from dtg.errors import CheckpointError
from dtg.files import FORMAT_VERSION, replacing
from dtg.model.config import ModelConfig
from dtg.model.symbols import Symbols

if TYPE_CHECKING:
    from dtg.model.model import DecoderModel

CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.model"


def save(model: DecoderModel, folder: Path) -> None:
    """See `DecoderModel.save`. Each file is whole or absent; config.json comes last and makes the folder a model."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    with replacing(folder / WEIGHTS) as temporary:
        save_file(weights, temporary, metadata={"format_version": str(FORMAT_VERSION)})
    if model.tokenizer is not None:
        model.tokenizer.save(folder / TOKENIZER)
    content: dict[str, Any] = {
        "format_version": FORMAT_VERSION,
        "model": model.config.to_dict(),
        "root": model.root,
        "tokenizer": None if model.tokenizer is None else model.tokenizer.hash,
        "released_ids": model.released_ids,
    }
    with replacing(folder / CONFIG) as temporary:
        temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def load(kind: type[DecoderModel], folder: Path, device: torch.device | str) -> DecoderModel:
    """See `DecoderModel.load`."""
    content = read_config(folder)
    config = ModelConfig.from_dict(content["model"])
    tokenizer = None
    if content["tokenizer"] is not None:
        from dtg.text import Tokenizer

        tokenizer = Tokenizer.load(folder / TOKENIZER)
        if tokenizer.hash != content["tokenizer"]:
            raise CheckpointError(f"{folder / TOKENIZER} is not the tokenizer that the model was saved with.")
    from dtg.model.model import make_family

    released = content["released_ids"]
    if released is None:
        symbols = Symbols.of(config, make_family(config))
    else:
        symbols = Symbols.released(config.vocabulary, config.head, released)
    model = kind(config, symbols, content["root"], tokenizer)
    model.released_ids = released
    try:
        weights = load_file(folder / WEIGHTS)
        model.load_state_dict(weights)
    except (OSError, SafetensorError, RuntimeError) as error:
        raise CheckpointError(f"cannot load {folder / WEIGHTS}: {error}") from None
    return model.to(device).eval()


def read_config(folder: Path) -> dict[str, Any]:
    """config.json, checked as far as that it is one of ours."""
    path = folder / CONFIG
    if not path.is_file():
        raise CheckpointError(
            f"{folder} is not a model: it has no {CONFIG}. Give the folder of a trained model, such as RUN/best."
        )
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CheckpointError(f"cannot read {path}: {error}") from None
    keys = {"format_version", "model", "root", "tokenizer", "released_ids"}
    if not isinstance(content, dict) or set(content) != keys:
        raise CheckpointError(f"{path} is not a dtg model's: it must have {', '.join(sorted(keys))} and nothing else.")
    if content["format_version"] != FORMAT_VERSION:
        version = content["format_version"]
        raise CheckpointError(
            f"{path} has format_version {version}; this dtg reads {FORMAT_VERSION}. Install one that fits."
        )
    return content
