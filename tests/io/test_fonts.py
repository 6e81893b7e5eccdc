"""Text in scripts that matplotlib's own font lacks: drawn in a font that is installed, warned of once, or kept as text."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from dtg import DependencyTree
from dtg.io.fonts import installed_fonts
from dtg.scoring.picture import draw_surprisals

JAPANESE = DependencyTree(("今日", "は", "雨", "です"), (3, 1, 0, 3), ("nsubj", "case", "root", "cop"))
PHONETIC = DependencyTree(
    ("\u1d81", "\u1d84"), (2, 0)
)  # in STIXGeneral, which comes with matplotlib, not in DejaVu Sans


@pytest.mark.parametrize("suffix", ["png", "pdf"])
def test_an_installed_font_is_used_without_a_warning(suffix: str, tmp_path: Path) -> None:
    names, without = installed_fonts(frozenset("\u1d81\u1d84"))
    assert names == ["STIXGeneral"] and not without  # never the font of boxes that has everything
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PHONETIC.picture(tmp_path / f"tree.{suffix}")
        draw_surprisals(tmp_path / f"bars.{suffix}", PHONETIC.words, {"\u1d81": [1.0, 2.0]})
    boxes = DependencyTree(("\U000f0000", "\U000f0001"), (2, 0))  # for private use: in no font
    with pytest.warns(UserWarning, match="no installed font has"):
        boxes.picture(tmp_path / f"boxes.{suffix}")
    assert (tmp_path / f"tree.{suffix}").read_bytes() != (tmp_path / f"boxes.{suffix}").read_bytes()


@pytest.mark.parametrize("suffix", ["png", "pdf"])
def test_one_clear_warning_where_no_font_has_the_characters(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dtg.io.pictures.installed_fonts", lambda missing: ([], missing))  # whatever is installed here
    with pytest.warns() as caught:
        JAPANESE.picture(tmp_path / f"tree.{suffix}")
    (warning,) = caught
    message = str(warning.message)
    assert "no installed font has the characters" in message and "今" in message and "Noto Sans CJK" in message


def test_svg_keeps_text_as_text(tmp_path: Path) -> None:
    JAPANESE.picture(tmp_path / "tree.svg")  # warnings are errors here
    draw_surprisals(tmp_path / "bars.svg", JAPANESE.words, {"dtg": [1.0, 2.0, 3.0, 4.0]})
    for name in ("tree.svg", "bars.svg"):
        svg = (tmp_path / name).read_text(encoding="utf-8")
        assert ">今日</text>" in svg and "'Noto Sans CJK JP'" in svg
    DependencyTree(("Dogs", "bark"), (2, 0)).picture(tmp_path / "latin.svg")
    assert "Noto Sans" not in (tmp_path / "latin.svg").read_text(encoding="utf-8")  # as before


def test_east_asian_words_have_room(tmp_path: Path) -> None:
    JAPANESE.picture(tmp_path / "wide.svg")
    DependencyTree(("ab", "c", "d", "ef"), JAPANESE.heads, JAPANESE.labels).picture(tmp_path / "narrow.svg")
    widths = [float((tmp_path / name).read_text(encoding="utf-8").split('width="')[1].split("pt")[0]) for name in
              ("wide.svg", "narrow.svg")]  # fmt: skip
    assert widths[0] > widths[1]
