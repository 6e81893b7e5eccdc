"""The pretrained models and parsers that are bundled with the package, found by name.

Each is a folder here, as `save` writes it but with weights in half precision, and CARD.md: what it was trained on, under
which licence it may be used, how good it is, and how to make it again. tools/bundle.py writes such folders.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from dtg.errors import InputError

FOLDER = Path(__file__).parent
CARD = "CARD.md"
PARSER = "parser-small"  # where no parser is named
MODEL = "dtg-mini"  # where no model is named
WORDS_MODEL = "txl-mini"  # the same data, budget and size without trees, to compare with


def find(name: str | Path) -> Path:
    """The folder of a model or parser.

    Args:
        name: a path, or the name of a bundled one. A file or folder of that name wins over the bundled one.
    """
    if not isinstance(name, str | PathLike):
        raise InputError(f"a folder or the name of a model is expected, not {name!r}.")
    path = Path(name)
    if not path.exists() and str(name) in names():
        return FOLDER / name
    return path


def names() -> list[str]:
    """The names of all bundled models and parsers."""
    return sorted(path.parent.name for path in FOLDER.glob(f"*/{CARD}"))


def card(name: str) -> str:
    """The model card of a bundled model or parser."""
    return (FOLDER / name / CARD).read_text(encoding="utf-8")
