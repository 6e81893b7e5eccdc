"""What comes in the box: trained parsers and models that are part of the package, found by name.

Each is a folder here, as `save` writes it but with weights in half precision, and CARD.md: what it was trained on,
under which licence it may be used, how good it is, and how to make it again. tools/make_box.py writes such folders.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
CARD = "CARD.md"
PARSER = "parser-small"  # where no parser is named
MODEL = "dtg-mini"  # where no model is named
WORDS_MODEL = "txl-mini"  # the same data, budget and size without trees, to compare with


def find(name: str | Path) -> Path:
    """The folder that a name or a path stands for. A folder of that name where one is wins over the box."""
    path = Path(name)
    if not path.exists() and str(name) in names():
        return FOLDER / name
    return path


def names() -> list[str]:
    """What is in the box."""
    return sorted(path.parent.name for path in FOLDER.glob(f"*/{CARD}"))


def card(name: str) -> str:
    """What is to be known of something in the box."""
    return (FOLDER / name / CARD).read_text(encoding="utf-8")
