"""Parsers on disk: config.json, model.safetensors, vocabulary.json, and encoder/ if it is pretrained. No pickle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import nn

from dtg.errors import CheckpointError, ConfigError
from dtg.io.atomic import replacing
from dtg.io.hashing import files_hash
from dtg.io.json_files import CONFIG, WEIGHTS
from dtg.io.saved import check_config, read_saved_config, save_weights, verify_saved, write_config
from dtg.parser.config import ParserConfig
from dtg.parser.encoder.subwords import Subwords, check_described
from dtg.parser.encoder.vocabulary import Vocabulary

VOCABULARY = "vocabulary.json"
ENCODER = "encoder"  # a pretrained encoder's tokenizer and configuration: the folder is all a parser needs


def save_parser(network: nn.Module, config: ParserConfig, vocabulary: Vocabulary, folder: Path) -> None:
    """Write a parser. Each file is whole or absent; config.json comes last and makes the folder a parser."""
    folder.mkdir(parents=True, exist_ok=True)
    save_weights(network, folder)
    with replacing(folder / VOCABULARY) as temporary:
        temporary.write_text(vocabulary.to_json(), encoding="utf-8")
    others = [WEIGHTS, VOCABULARY]
    if vocabulary.subwords is not None:
        vocabulary.subwords.save(folder / ENCODER)
        files = (path for path in (folder / ENCODER).rglob("*") if path.is_file())
        others += [path.relative_to(folder).as_posix() for path in files]
    write_config({"parser": config.to_dict(), "vocabulary": vocabulary.hash}, folder, others)


def read_parser(folder: Path, *, verify: bool = True) -> tuple[ParserConfig, Vocabulary]:
    """What `save_parser` wrote, except for the weights.

    Args:
        folder: of a parser.
        verify: check the hashes of all files, the weights' too.
    """
    content = read_config(folder)
    try:
        config = ParserConfig.from_dict(content["parser"])
    except ConfigError as error:
        raise CheckpointError(f"cannot load {folder / CONFIG}: {error}") from None
    if config.is_pretrained:
        check_described(folder / ENCODER)
    if verify:
        verify_saved(folder, {WEIGHTS: "weights file", VOCABULARY: "vocabulary"}, "parser")
    subwords = Subwords.load(folder / ENCODER) if config.is_pretrained else None
    try:
        vocabulary = Vocabulary.from_json((folder / VOCABULARY).read_text(encoding="utf-8"), subwords)
    except (OSError, ValueError) as error:
        raise CheckpointError(f"cannot read {folder / VOCABULARY}: {error}.") from None
    if vocabulary.hash != content["vocabulary"]:
        raise CheckpointError(f"{folder / VOCABULARY} is not the vocabulary that the parser was saved with.")
    return config, vocabulary


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
