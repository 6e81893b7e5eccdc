"""What docs/explore.md shows runs, and the page that the documentation embeds is there and whole."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.documents import ROOT, blocks, run

PAGE = ROOT / "docs" / "explore.md"


@pytest.mark.slow
def test_the_code_on_the_page_runs(tmp_path: Path) -> None:
    script = tmp_path / "shown.py"
    script.write_text("\n".join(code for language, code in blocks(PAGE) if language == "python"), encoding="utf-8")
    shown = run(script)
    assert (tmp_path / "page.html").stat().st_size < 1_000_000
    accuracies = [float(value) for value in re.findall(r"^\d (0\.\d+)$", shown, re.MULTILINE)]
    assert len(accuracies) == 7 and min(accuracies) > 0.6


def test_pictures_and_pages_are_there() -> None:
    text = PAGE.read_text("utf-8")
    for name in re.findall(r"\]\(((?:images|pages)/[^)]+)\)", text):
        assert (PAGE.parent / name).is_file(), name
    saved = (PAGE.parent / "pages" / "garden-path.html").read_text("utf-8")
    assert "The boy invited to the party laughed ." in saved and len(saved) < 1_000_000
