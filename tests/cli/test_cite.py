"""`dtg cite`: the checklist of a model and of a table, and BibTeX that is well-formed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dtg.errors import InputError
from dtg.evaluation.citations import cite_model, cite_table
from tests.cli.running import dtg


def test_a_model() -> None:
    found = cite_model("dtg-mini", 100, None, "own")
    assert "beam 100, word beam 33" in found.checklist["search"]
    assert "own surprisal" in found.checklist["end of a word"]
    assert "4,055,734 words" in found.checklist["trained on"]
    keys = [reference.key for reference in found.references]
    assert keys[:3] == ["dtg", "zhao-etal-2024-dtg", "stern-etal-2017-inference"]
    assert "pimentel-meister-2024-word" in keys
    for reference in found.references:
        text = reference.bibtex()
        assert text.count("{") == text.count("}") and re.match(r"@\w+\{[\w-]+,\n", text)
    words = cite_model("txl-mini", 100, None, "next")
    assert words.checklist["search"].startswith("none") and "dai-etal-2019-transformer-xl" in words.text()


def test_a_table(tmp_path: Path) -> None:
    table = tmp_path / "words.csv"
    options = ["--model", "dtg-mini", "--beam", "6", "--boundary", "own", "--per", "whitespace"]
    dtg("surprisal", "The dog that we saw barks.", *options, "--out", table)
    done = dtg("cite", table)
    assert "beam 6, word beam 2" in done.stdout and "boundary own" in done.stdout
    assert re.search(r"kept +mean 0\.\d{4}, lowest 0\.\d{4}, of 6 words", done.stdout)
    assert "@inproceedings{pimentel" in done.stdout
    (tmp_path / "words.csv.meta.json").unlink()
    with pytest.raises(InputError, match="says how"):
        cite_table(table)
