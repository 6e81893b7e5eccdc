"""The documentation builds as a site, without a warning and without anything from elsewhere."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documents import ROOT

HAS_MKDOCS = all(importlib.util.find_spec(name) for name in ("mkdocs", "material", "mkdocstrings"))


@pytest.mark.slow
@pytest.mark.skipif(not HAS_MKDOCS, reason="the site needs mkdocs-material and mkdocstrings: pip install '.[docs]'")
def test_site_builds(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(ROOT / "mkdocs.yml")]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}  # it is about the future of mkdocs
    done = subprocess.run(
        [*command, "--site-dir", str(tmp_path / "site")], env=quiet, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    pages = {path.stem for path in (tmp_path / "site").glob("*.html")}
    assert {path.stem for path in (ROOT / "docs").glob("*.md")} <= pages
    for page in (tmp_path / "site").glob("*.html"):
        fetched = re.findall(
            r"<(?:link|script|img|iframe)[^>]*(?:href|src)=\"?(https?:[^\" >]+)", page.read_text("utf-8")
        )
        assert not fetched, f"{page.name} loads {fetched}"
    reference = (tmp_path / "site" / "api.html").read_text("utf-8")
    for name in (
        "dtg.load",
        "dtg.DependencyTree",
        "dtg.LanguageModel.surprisal",
        "dtg.search.state.BeamState.step",
    ):
        assert f'id="{name}"' in reference
