"""Language models on disk: config.json, model.safetensors and tokenizer.model in one folder. No pickle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from dtg.errors import CheckpointError, ConfigError
from dtg.io.hashing import files_hash
from dtg.io.json_files import CONFIG, WEIGHTS
from dtg.io.saved import check_config, read_saved_config, save_weights, verify_saved, write_config
from dtg.model.config import ModelConfig
from dtg.model.released import NEEDED_IDS
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
    others = [WEIGHTS]
    if about.tokenizer is not None:
        about.tokenizer.save(folder / TOKENIZER)
        others.append(TOKENIZER)
    content: dict[str, Any] = {
        "model": about.config.to_dict(),
        "root": about.root,
        "tokenizer": None if about.tokenizer is None else about.tokenizer.hash,
        "released_ids": about.released_ids,
    }
    write_config(content, folder, others)


def read_model(folder: Path, *, verify: bool = True) -> SavedModel:
    """What a folder says of its model; the weights are read into a model of that configuration afterwards.

    Args:
        folder: of a model.
        verify: check the hashes of all files, the weights' too.
    """
    content = read_config(folder)
    if verify:
        tokenizer_file = {} if content["tokenizer"] is None else {TOKENIZER: "tokenizer"}
        verify_saved(folder, {WEIGHTS: "weights file", **tokenizer_file}, "model")
    path = folder / CONFIG
    try:
        config = ModelConfig.from_dict(content["model"])
    except ConfigError as error:
        raise CheckpointError(f"cannot load {path}: {error}") from None
    root, ids = content["root"], content["released_ids"]
    check_ids({"root": root}, config.vocabulary, path)
    if ids is not None:
        if not isinstance(ids, dict) or set(ids) != set(NEEDED_IDS):
            expected = f"{', '.join(NEEDED_IDS)} with their numbers, or null"
            raise CheckpointError(f"cannot load {path}: released_ids is {ids!r}; {expected} is expected.")
        check_ids(ids, config.vocabulary, path)
        check_root(root, ids["bos"], path)
    tokenizer = None
    if content["tokenizer"] is not None:
        tokenizer = Tokenizer.load(folder / TOKENIZER)
        if tokenizer.hash != content["tokenizer"]:
            raise CheckpointError(f"{folder / TOKENIZER} is not the tokenizer that the model was saved with.")
        if tokenizer.size != config.vocabulary:
            raise CheckpointError(
                f"cannot load {path}: vocabulary is {config.vocabulary}, and the tokenizer has {tokenizer.size} subwords."
            )
        check_root(root, tokenizer.root, path)
    return SavedModel(config, root, tokenizer, ids)


def check_ids(ids: Mapping[str, Any], vocabulary: int, path: Path) -> None:
    """Raise unless these are numbers of subwords."""
    for name, number in ids.items():
        if type(number) is not int or not 0 <= number < vocabulary:
            expected = f"the number of a subword, from 0 to {vocabulary - 1}, is expected"
            raise CheckpointError(f"cannot load {path}: {name} is {number!r}; {expected}.")


def check_root(root: int, expected: int, path: Path) -> None:
    """Raise unless `<ROOT>` is read as the subword that it has."""
    if root != expected:
        raise CheckpointError(f"cannot load {path}: root is {root}, and the vocabulary has it as {expected}.")


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
