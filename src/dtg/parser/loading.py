"""Parsers of either kind from their folders."""

from __future__ import annotations

from pathlib import Path

import torch

from dtg.parser.biaffine import BiaffineParser
from dtg.parser.config import Kind, ParserConfig
from dtg.parser.parser import Parser
from dtg.parser.saving import read_config
from dtg.parser.span_parser import SpanParser

PARSERS: dict[Kind, type[Parser]] = {"dependency": BiaffineParser, "constituency": SpanParser}


def load_parser(folder: str | Path, device: torch.device | str = "cpu") -> Parser:
    """Load a parser of whichever kind from a folder that `save` wrote.

    Args:
        folder: such as RUN/best of a training run.
        device: what the parser computes on.

    Returns:
        The parser, in evaluation mode.
    """
    return PARSERS[kind_of(Path(folder))].load(folder, device)


def kind_of(folder: Path) -> Kind:
    """Which trees the parser of a folder gives."""
    return ParserConfig.from_dict(read_config(folder)["parser"]).kind
