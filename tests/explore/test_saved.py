"""Saved pages and the files that they are made of."""

from __future__ import annotations

import json
import re
from collections import Counter
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from dtg.cli.app import app
from dtg.errors import InputError
from dtg.explore.assets import FOLDER, asset, asset_names, content_hash_source, joined_script
from dtg.explore.saved import MOST_BYTES, SavedPage, make_page
from dtg.language_model import LanguageModel

FIFTEEN = "The manager who helped the old women to the side of the architects likes to gamble ."


def content(html: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="saved">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_names_at_the_top_of_modules_differ() -> None:
    pattern = re.compile(r"^(?:export )?(?:async )?(?:function|const|let|class) (\w+)", re.MULTILINE)
    names = Counter(name for file in asset_names() if file.endswith(".js") for name in pattern.findall(asset(file)))
    assert [name for name, count in names.items() if count > 1] == []
    assert "start();" in joined_script()


def test_nothing_comes_from_elsewhere() -> None:
    for name in asset_names():
        addresses = re.findall(r"https?://[^\s\"'`)]+", asset(name))
        assert set(addresses) <= {"http://www.w3.org/2000/svg"}, name
        assert not re.search(r"\b(eval|Function)\(|innerHTML|outerHTML|document\.write", asset(name)), name
    assert {path.name for path in FOLDER.iterdir()} == set(asset_names())


def test_a_page_holds_everything_and_is_small(bundled: LanguageModel, tmp_path: Path) -> None:
    page = bundled.explore(FIFTEEN, beam=10)
    assert len(page.html.encode()) < MOST_BYTES
    data = content(page.html)
    assert data["search"] == "beam 10, word beam 3"
    (sentence,) = data["sentences"]
    assert sentence["words"] == FIFTEEN.split()
    expected = bundled.surprisal([FIFTEEN.split()], beam=10)[0]
    assert [r["surprisal"] for r in sentence["records"]] == pytest.approx(expected.surprisals.tolist(), rel=1e-4)
    assert all(len(record["next"]) == 1 + len(record["attention"]) for record in sentence["records"])
    assert sentence["ending"]["log_probability"] == pytest.approx(expected.log_probability, rel=1e-4)
    assert "<link" not in page.html and "src=" not in page.html  # nothing to be fetched
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page.html)
    script = re.search(r'<script type="module">(.*?)</script>', page.html, re.DOTALL)
    assert policy is not None and script is not None
    assert content_hash_source(script[1]) in policy[1] and "default-src 'none'" in policy[1]
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text("utf-8") == page.html


def test_attention_is_left_out_where_there_is_no_room(bundled: LanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    full = bundled.explore("The horse fell.", beam=5)
    monkeypatch.setattr("dtg.explore.saved.MOST_BYTES", len(full.html.encode()) - 1)
    small = bundled.explore("The horse fell.", beam=5)
    assert len(small.html) < len(full.html)


def test_texts_cannot_end_the_script(bundled: LanguageModel) -> None:
    page = bundled.explore(["</script>", "<!--", "&"], beam=3)
    assert content(page.html)["sentences"][0]["words"] == ["</script>", "<!--", "&"]
    assert "<title>dtg: &lt;/script&gt; &lt;!-- &amp;</title>" in page.html


def test_a_notebook_shows_the_page_in_a_frame() -> None:
    shown = SavedPage('<p title="a">&amp;</p>')._repr_html_()
    found = re.search(r'srcdoc="([^"]*)"', shown)
    assert found is not None and unescape(found[1]) == '<p title="a">&amp;</p>'
    assert 'sandbox="allow-scripts allow-downloads"' in shown


def test_what_cannot_be_saved(bundled: LanguageModel, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="0 sentences cannot be put into a page"):
        bundled.explore()
    with pytest.raises(InputError, match="the sentence has 61 words; up to 60"):
        bundled.explore(["word"] * 61)
    with pytest.raises(InputError, match="does not exist"):
        SavedPage("").save(tmp_path / "nowhere" / "page.html")
    assert make_page is not None


def test_the_command_saves_several_sentences_by_several_models(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    arguments = ["explore", "The dog barks.", "Dogs bark.", "--save", str(path), "--beam", "5"]
    done = CliRunner().invoke(app, [*arguments, "--model", "dtg-mini", "--model", "txl-mini"])
    assert done.exit_code == 0, done.output
    sentences = content(path.read_text("utf-8"))["sentences"]
    assert [(one["model"], one["text"]) for one in sentences] == [
        ("dtg-mini", "The dog barks ."),
        ("txl-mini", "The dog barks ."),
        ("dtg-mini", "Dogs bark ."),
        ("txl-mini", "Dogs bark ."),
    ]
    failed = CliRunner().invoke(app, ["explore", "--save", str(path)])
    assert isinstance(failed.exception, InputError) and "nothing to save" in str(failed.exception)
