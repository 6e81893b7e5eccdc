"""dtg: language models that generate a sentence together with its syntax tree."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from dtg import pretrained
from dtg.environment import avoid_broken_amx, sleep_while_waiting
from dtg.errors import DtgError
from dtg.trees import DependencyTree, projectivize, read_conllu, read_treebank, write_conllu

if TYPE_CHECKING:
    from dtg.model import DecoderModel
    from dtg.parser import BiaffineParser

__version__ = "0.1.0"

# Both have to come before torch is imported.
sleep_while_waiting()
avoid_broken_amx()

__all__ = [
    "DependencyTree",
    "DtgError",
    "__version__",
    "families",
    "load",
    "load_parser",
    "model",
    "parser",
    "projectivize",
    "read_conllu",
    "read_treebank",
    "transitions",
    "write_conllu",
]


def load(path: str | Path = pretrained.MODEL, device: str = "cpu") -> DecoderModel:
    """The model in a folder: one that was trained (RUN/best), or saved with `model.save`; or a bundled one, by name."""
    from dtg.model import DecoderModel

    return DecoderModel.load(pretrained.find(path), device)


def load_parser(path: str | Path = pretrained.PARSER, device: str = "cpu") -> BiaffineParser:
    """The parser in a folder: one that `dtg train-parser` made (RUN/best), or saved with `parser.save`; or a bundled one."""
    from dtg.parser import BiaffineParser

    return BiaffineParser.load(pretrained.find(path), device)


def __getattr__(name: str) -> ModuleType:
    """Import what needs torch only when it is asked for: `dtg --help` and reading treebanks stay quick."""
    if name in {"families", "model", "parser", "transitions"}:
        return importlib.import_module(f"dtg.{name}")
    raise AttributeError(f"module 'dtg' has no attribute {name!r}")
