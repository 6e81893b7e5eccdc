"""Parsers on disk: config.json, model.safetensors, vocabulary.json, and encoder/ if it is pretrained. No pickle."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from dtg.errors import CheckpointError
from dtg.io.atomic import replacing
from dtg.io.hashing import files_hash
from dtg.io.json_files import CONFIG, WEIGHTS
from dtg.io.saved import check_config, load_weights, read_saved_config, save_weights, write_config
from dtg.parser.config import ParserConfig
from dtg.parser.network.subwords import Pieces
from dtg.parser.network.vocabulary import Vocabulary

if TYPE_CHECKING:
    from dtg.parser.model import BiaffineParser

VOCABULARY = "vocabulary.json"
ENCODER = "encoder"  # what a pretrained encoder is, without its weights: nothing is looked for elsewhere


def save(parser: BiaffineParser, folder: Path) -> None:
    """See `BiaffineParser.save`. Each file is whole or absent; config.json comes last and makes the folder a parser."""
    folder.mkdir(parents=True, exist_ok=True)
    save_weights(parser, folder)
    with replacing(folder / VOCABULARY) as temporary:
        temporary.write_text(parser.vocabulary.to_json(), encoding="utf-8")
    if parser.vocabulary.pieces is not None:
        parser.vocabulary.pieces.save(folder / ENCODER)
    write_config({"parser": parser.config.to_dict(), "vocabulary": parser.vocabulary.hash}, folder)


def load(kind: type[BiaffineParser], folder: Path, device: torch.device | str) -> BiaffineParser:
    """See `BiaffineParser.load`. Weights saved in half precision are computed with in single."""
    content = read_config(folder)
    config = ParserConfig.from_dict(content["parser"])
    pieces = Pieces.load(folder / ENCODER) if config.is_pretrained else None
    try:
        vocabulary = Vocabulary.from_json((folder / VOCABULARY).read_text(encoding="utf-8"), pieces)
    except (OSError, ValueError) as error:
        raise CheckpointError(f"cannot read {folder / VOCABULARY}: {error}.") from None
    if vocabulary.hash != content["vocabulary"]:
        raise CheckpointError(f"{folder / VOCABULARY} is not the vocabulary that the parser was saved with.")
    parser = kind(config, vocabulary)
    load_weights(parser, folder)
    return parser.to(device).eval()


def read_config(folder: Path) -> dict[str, Any]:
    """config.json, checked as far as that it is a parser's."""
    missing = f"{folder} is not a parser: it has no {CONFIG}. Give the folder of one that dtg train-parser has made, RUN/best."
    content = read_saved_config(folder, missing)
    if isinstance(content, dict) and "model" in content:
        raise CheckpointError(f"{folder} is a language model, not a parser; dtg.load reads it.")
    return check_config(content, folder, ("parser", "vocabulary"), "parser's")


def parser_hash(folder: Path) -> str:
    """What identifies a parser. Another one in the same folder has another."""
    return files_hash(folder / name for name in (CONFIG, WEIGHTS, VOCABULARY))
