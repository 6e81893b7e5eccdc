"""What tests of commands need to be there: a folder with small models of random weights."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.parser.parsers import small_parser
from tests.scoring.test_marginal import tiny


def folder_with_models(factory: pytest.TempPathFactory) -> Path:
    """A language model (model), one without trees (words) and a parser (parser)."""
    folder = factory.mktemp("made")
    tiny("dtg").save(folder / "model")
    tiny("txl-tokens").save(folder / "words")
    small_parser().save(folder / "parser")
    return folder
