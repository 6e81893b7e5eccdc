"""Models on disk: config.json, model.safetensors, tokenizer.model in one folder. No pickle."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from dtg.errors import CheckpointError
from dtg.io.hashing import files_hash
from dtg.io.json_files import CONFIG, WEIGHTS
from dtg.io.saved import check_config, load_weights, read_saved_config, save_weights, write_config
from dtg.model.config import ModelConfig
from dtg.model.symbols import Symbols
from dtg.pretrained import MODEL, WORDS_MODEL

if TYPE_CHECKING:
    from dtg.model.model import DecoderModel

TOKENIZER = "tokenizer.model"


def save(model: DecoderModel, folder: Path) -> None:
    """See `DecoderModel.save`. Each file is whole or absent; config.json comes last and makes the folder a model."""
    folder.mkdir(parents=True, exist_ok=True)
    save_weights(model, folder)
    if model.tokenizer is not None:
        model.tokenizer.save(folder / TOKENIZER)
    content: dict[str, Any] = {
        "model": model.config.to_dict(),
        "root": model.root,
        "tokenizer": None if model.tokenizer is None else model.tokenizer.hash,
        "released_ids": model.released_ids,
    }
    write_config(content, folder)


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
    load_weights(model, folder)
    return model.to(device).eval()


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
