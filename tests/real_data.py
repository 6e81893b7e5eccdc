"""Real treebanks for tests: found through DTG_DATA; where they are absent a test skips, or fails under DTG_REQUIRE_DATA."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

TREEBANKS = (
    "ud/en_ewt-ud-train.conllu",
    "ud/en_ewt-ud-dev.conllu",
    "ud/en_ewt-ud-test.conllu",
    "ud/en_gum-ud-train.conllu",
    "ud/en_gum-ud-dev.conllu",
    "ud/en_gum-ud-test.conllu",
    "amalgum/amalgum-train.conllu.gz",
    "amalgum/amalgum-dev.conllu.gz",
    "amalgum/amalgum-test.conllu.gz",
    "ptb/ptb-sample-sd.conll",
)


def data_file(name: str) -> Path:
    """A file of the shared data."""
    folder = os.environ.get("DTG_DATA")
    path = Path(folder) / name if folder else None
    if path is not None and path.is_file():
        return path
    reason = f"{name} is not there (DTG_DATA={folder})"
    if os.environ.get("DTG_REQUIRE_DATA") == "1":
        pytest.fail(f"{reason}, and DTG_REQUIRE_DATA=1 asks for it")
    pytest.skip(reason)
