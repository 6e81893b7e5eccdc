"""dtg: language models that generate a sentence together with its syntax tree."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dtg import pretrained
from dtg.environment import avoid_broken_amx, sleep_while_waiting
from dtg.errors import DtgError

if TYPE_CHECKING:
    from dtg.evaluation import evaluate
    from dtg.language_model import LanguageModel
    from dtg.parser import Parser
    from dtg.scorer import Scorer
    from dtg.scoring.marginal import Marginal
    from dtg.scoring.surprisal import SentenceSurprisal
    from dtg.trees.conllu import read_conllu, write_conllu
    from dtg.trees.phrases.brackets import read_brackets, write_brackets
    from dtg.trees.phrases.constituency import ConstituencyTree
    from dtg.trees.projective import projectivize
    from dtg.trees.tree import DependencyTree
    from dtg.trees.treebank import read_treebank

__version__ = "0.2.0.dev0"

# Both have to come before torch is imported.
sleep_while_waiting()
avoid_broken_amx()

# Everything is imported when it is asked for: `dtg --help` and reading treebanks stay quick.
LATER = {
    "ConstituencyTree": "dtg.trees.phrases.constituency",
    "DependencyTree": "dtg.trees.tree",
    "LanguageModel": "dtg.language_model",
    "evaluate": "dtg.evaluation",
    "Marginal": "dtg.scoring.marginal",
    "Scorer": "dtg.scorer",
    "SentenceSurprisal": "dtg.scoring.surprisal",
    "projectivize": "dtg.trees.projective",
    "read_brackets": "dtg.trees.phrases.brackets",
    "read_conllu": "dtg.trees.conllu",
    "read_treebank": "dtg.trees.treebank",
    "write_brackets": "dtg.trees.phrases.brackets",
    "write_conllu": "dtg.trees.conllu",
}
PACKAGES = ("families", "model", "parser", "transitions")

__all__ = [
    "ConstituencyTree",
    "DependencyTree",
    "DtgError",
    "LanguageModel",
    "Marginal",
    "Scorer",
    "SentenceSurprisal",
    "__version__",
    "evaluate",
    "families",
    "load",
    "load_parser",
    "model",
    "parser",
    "projectivize",
    "read_brackets",
    "read_conllu",
    "read_treebank",
    "transitions",
    "write_brackets",
    "write_conllu",
]


def load(path: str | Path = pretrained.MODEL, device: str = "cpu", *, verify: bool = True) -> LanguageModel:
    """Load a language model.

    Args:
        path: a folder, of a trained model (RUN/best) or one that `model.save` wrote; or the name of a bundled model.
        device: such as "cpu", "cuda" or "cuda:1".
        verify: check the files against the hashes that they were saved with; False loads them as they are.

    Returns:
        A `LanguageModel`, ready to be asked.
    """
    from dtg.language_model import LanguageModel

    return LanguageModel.load(path, device, verify=verify)


def load_parser(path: str | Path = pretrained.PARSER, device: str = "cpu", *, verify: bool = True) -> Parser:
    """Load a parser.

    Args:
        path: a folder, of a trained parser (RUN/best) or one that `parser.save` wrote; or the name of a bundled parser.
        device: such as "cpu", "cuda" or "cuda:1".
        verify: check the files against the hashes that they were saved with; False loads them as they are.

    Returns:
        A `BiaffineParser` of dependencies or a `SpanParser` of phrases, with `parse`, `k_best`, `sample` and `propose`.
    """
    from dtg.parser import load_parser

    return load_parser(pretrained.find(path), device, verify=verify)


def __getattr__(name: str) -> Any:
    if name in LATER:
        return getattr(importlib.import_module(LATER[name]), name)
    if name in PACKAGES:
        return importlib.import_module(f"dtg.{name}")
    raise AttributeError(f"module 'dtg' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
