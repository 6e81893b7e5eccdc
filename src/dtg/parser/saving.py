"""Parsers on disk: config.json, model.safetensors, vocabulary.json in one folder. No pickle."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from dtg.errors import CheckpointError
from dtg.files import FORMAT_VERSION, replacing
from dtg.parser.config import ParserConfig
from dtg.parser.vocabulary import Vocabulary

if TYPE_CHECKING:
    from dtg.parser.model import BiaffineParser

CONFIG, WEIGHTS, VOCABULARY = "config.json", "model.safetensors", "vocabulary.json"


def save(parser: BiaffineParser, folder: Path) -> None:
    """See `BiaffineParser.save`. Each file is whole or absent; config.json comes last and makes the folder a parser."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in parser.state_dict().items()}
    with replacing(folder / WEIGHTS) as temporary:
        save_file(weights, temporary, metadata={"format_version": str(FORMAT_VERSION)})
    with replacing(folder / VOCABULARY) as temporary:
        temporary.write_text(parser.vocabulary.to_json(), encoding="utf-8")
    content = {
        "format_version": FORMAT_VERSION,
        "parser": parser.config.to_dict(),
        "vocabulary": parser.vocabulary.hash,
    }
    with replacing(folder / CONFIG) as temporary:
        temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def load(kind: type[BiaffineParser], folder: Path, device: torch.device | str) -> BiaffineParser:
    """See `BiaffineParser.load`. Weights saved in half precision are computed with in single."""
    content = read_config(folder)
    try:
        vocabulary = Vocabulary.from_json((folder / VOCABULARY).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"cannot read {folder / VOCABULARY}: {error}.") from None
    if vocabulary.hash != content["vocabulary"]:
        raise CheckpointError(f"{folder / VOCABULARY} is not the vocabulary that the parser was saved with.")
    parser = kind(ParserConfig.from_dict(content["parser"]), vocabulary)
    try:
        parser.load_state_dict(load_file(folder / WEIGHTS))
    except (OSError, SafetensorError, RuntimeError) as error:
        raise CheckpointError(f"cannot load {folder / WEIGHTS}: {error}") from None
    return parser.to(device).eval()


def read_config(folder: Path) -> dict[str, Any]:
    """config.json, checked as far as that it is a parser's."""
    path = folder / CONFIG
    if not path.is_file():
        raise CheckpointError(
            f"{folder} is not a parser: it has no {CONFIG}. Give the folder of one that dtg train-parser has made, RUN/best."
        )
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CheckpointError(f"cannot read {path}: {error}") from None
    keys = {"format_version", "parser", "vocabulary"}
    if isinstance(content, dict) and "model" in content:
        raise CheckpointError(f"{folder} is a language model, not a parser; dtg.load reads it.")
    if not isinstance(content, dict) or set(content) != keys:
        raise CheckpointError(f"{path} is not a parser's: it must have {', '.join(sorted(keys))} and nothing else.")
    if content["format_version"] != FORMAT_VERSION:
        version = content["format_version"]
        raise CheckpointError(
            f"{path} has format_version {version}; this dtg reads {FORMAT_VERSION}. Install one that fits."
        )
    return content


def parser_hash(folder: Path) -> str:
    """What identifies a parser: a hash of its files. Another one in the same folder has another."""
    digest = hashlib.sha256()
    for path in (folder / name for name in (CONFIG, WEIGHTS, VOCABULARY)):
        with path.open("rb") as file:
            digest.update(f"{path.name} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()
