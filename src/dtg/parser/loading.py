"""Parsers of either kind from their folders."""

from __future__ import annotations

from pathlib import Path

import torch

from dtg.errors import CheckpointError, ConfigError
from dtg.io.json_files import CONFIG
from dtg.parser.biaffine import BiaffineParser
from dtg.parser.config import Kind, ParserConfig
from dtg.parser.parser import Parser
from dtg.parser.saving import read_config
from dtg.parser.span_parser import SpanParser

PARSERS: dict[Kind, type[Parser]] = {"dependency": BiaffineParser, "constituency": SpanParser}


def load_parser(folder: str | Path, device: torch.device | str = "cpu", *, verify: bool = True) -> Parser:
    """Load a parser of whichever kind from a folder that `save` wrote.

    Args:
        folder: such as RUN/best of a training run.
        device: what the parser computes on.
        verify: check the files against the hashes that they were saved with, and that all weights are finite.

    Returns:
        The parser, in evaluation mode.
    """
    return PARSERS[kind_of(Path(folder))].load(folder, device, verify=verify)


def kind_of(folder: Path) -> Kind:
    """Which trees the parser of a folder gives."""
    content = read_config(folder)
    try:
        return ParserConfig.from_dict(content["parser"]).kind
    except ConfigError as error:
        raise CheckpointError(f"cannot load {folder / CONFIG}: {error}") from None
