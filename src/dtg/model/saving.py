"""Language models on disk: config.json, model.safetensors and tokenizer.model in one folder. No pickle."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from dtg.errors import CheckpointError
from dtg.io.hashing import files_hash
from dtg.io.json_files import CONFIG, WEIGHTS
from dtg.io.saved import check_config, read_saved_config, save_weights, write_config
from dtg.model.config import ModelConfig
from dtg.pretrained import MODEL, WORDS_MODEL
from dtg.text.tokenizer import Tokenizer

TOKENIZER = "tokenizer.model"


@dataclass(frozen=True, slots=True)
class SavedModel:
    """What a model's folder says besides its weights."""

    config: ModelConfig
    root: int
    tokenizer: Tokenizer | None
    released_ids: dict[str, int] | None


def write_model(folder: Path, weights: nn.Module, about: SavedModel) -> None:
    """Write a model. Each file is whole or absent; config.json comes last and makes the folder a model."""
    folder.mkdir(parents=True, exist_ok=True)
    save_weights(weights, folder)
    if about.tokenizer is not None:
        about.tokenizer.save(folder / TOKENIZER)
    content: dict[str, Any] = {
        "model": about.config.to_dict(),
        "root": about.root,
        "tokenizer": None if about.tokenizer is None else about.tokenizer.hash,
        "released_ids": about.released_ids,
    }
    write_config(content, folder)


def read_model(folder: Path) -> SavedModel:
    """What a folder says of its model; the weights are read into a model of that configuration afterwards."""
    content = read_config(folder)
    tokenizer = None
    if content["tokenizer"] is not None:
        tokenizer = Tokenizer.load(folder / TOKENIZER)
        if tokenizer.hash != content["tokenizer"]:
            raise CheckpointError(f"{folder / TOKENIZER} is not the tokenizer that the model was saved with.")
    return SavedModel(ModelConfig.from_dict(content["model"]), content["root"], tokenizer, content["released_ids"])


def read_config(folder: Path) -> dict[str, Any]:
    """config.json, checked as far as that it is one of ours."""
    missing = (
        f"{folder} is not a model: it has no {CONFIG}. "
        f"Give the folder of a trained model, such as RUN/best, or a name: {MODEL} or {WORDS_MODEL}."
    )
    content = read_saved_config(folder, missing)
    if isinstance(content, dict) and "parser" in content:
        raise CheckpointError(f"{folder} is a parser, not a language model; dtg.load_parser reads it.")
    return check_config(content, folder, ("model", "root", "tokenizer", "released_ids"), "dtg model's")


def model_hash(folder: Path) -> str:
    """What identifies a model. Another model in the same folder has another."""
    return files_hash(folder / name for name in (CONFIG, WEIGHTS, TOKENIZER))
