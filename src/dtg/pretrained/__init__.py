"""The pretrained models and parsers that are found by name.

Each is a folder, as `save` writes it but with weights in half precision, and CARD.md: what it was trained on, under which
licence it may be used, how good it is, and how to make it again. Those that anyone may use for anything are bundled with the
package; those that have read data for non-commercial use are in the folder models/ of a checkout. tools/bundle.py writes both.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from dtg.errors import InputError

FOLDER = Path(__file__).parent
CHECKOUT = FOLDER.parents[2] / "models"  # an installed package has none
CARD = "CARD.md"
PARSER = "parser-small"  # where no parser is named
MODEL = "dtg-small"  # where no model is named
WORDS_MODEL = "txl-small"  # the same data, budget and size without trees, to compare with


def find(name: str | Path) -> Path:
    """The folder of a model or parser.

    Args:
        name: a path, or the name of a bundled one. A file or folder of that name wins over the bundled one.
    """
    if not isinstance(name, str | PathLike):
        raise InputError(f"a folder or the name of a model is expected, not {name!r}.")
    path = Path(name)
    return path if path.exists() else _folders().get(str(name), path)


def names() -> list[str]:
    """The names of all models and parsers that are found by name."""
    return sorted(_folders())


def is_known(folder: Path) -> bool:
    """Whether a folder is that of a model or parser found by name, and so has a card."""
    return _folders().get(folder.name) == folder


def card(name: str) -> str:
    """The model card of a model or parser that is found by name."""
    return (_folders()[name] / CARD).read_text(encoding="utf-8")


def _folders() -> dict[str, Path]:
    """By name; what is bundled wins."""
    return {path.parent.name: path.parent for place in (CHECKOUT, FOLDER) for path in place.glob(f"*/{CARD}")}
