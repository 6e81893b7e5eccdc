"""dtg: language models that generate a sentence together with its syntax tree."""

import importlib
from types import ModuleType

from dtg.errors import DtgError
from dtg.trees import DependencyTree, projectivize, read_conllu, read_treebank, write_conllu

__version__ = "0.1.0"

__all__ = [
    "DependencyTree",
    "DtgError",
    "__version__",
    "families",
    "projectivize",
    "read_conllu",
    "read_treebank",
    "transitions",
    "write_conllu",
]


def __getattr__(name: str) -> ModuleType:
    """Import what needs torch only when it is asked for: `dtg --help` and reading treebanks stay quick."""
    if name in {"families", "transitions"}:
        return importlib.import_module(f"dtg.{name}")
    raise AttributeError(f"module 'dtg' has no attribute {name!r}")
