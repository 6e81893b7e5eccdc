"""The names users type, and what importing the package costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import dtg
from dtg import errors


def test_public_names() -> None:
    assert sorted(dtg.__all__) == [
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
    for name in dtg.__all__:
        assert getattr(dtg, name) is not None
    assert dir(dtg) == sorted(dtg.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = dtg.nothing


def test_every_error_is_drawn_in_the_tree() -> None:
    assert errors.__doc__ is not None
    defined = {name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)}
    assert defined == {word for line in errors.__doc__.splitlines() for word in line.split() if word in defined}
    assert all(issubclass(getattr(errors, name), errors.DtgError) for name in defined)


def test_what_takes_seconds_to_import_waits_until_it_is_needed() -> None:
    """Reading trees needs no torch, and loading a model none of torch's compiler."""
    script = """
import sys, dtg, dtg.cli
assert 'torch' not in sys.modules
dtg.load('dtg-mini')
assert 'torch' in sys.modules and 'torch._dynamo' not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)
