"""Surprisals as a picture."""

from __future__ import annotations

from pathlib import Path

import pytest

from dtg.errors import InputError
from dtg.scoring.picture import draw_surprisals


def test_a_bar_for_each_word_and_model(tmp_path: Path) -> None:
    words = ["The", "dog", "barks"]
    draw_surprisals(tmp_path / "one.svg", words, {"dtg": [1.0, 2.0, 3.0]})
    draw_surprisals(tmp_path / "two.svg", words, {"dtg": [1.0, 2.0, 3.0], "txl": [1.5, 2.0, 3.5]})
    draw_surprisals(tmp_path / "again.svg", words, {"dtg": [1.0, 2.0, 3.0]})
    drawn = [(tmp_path / name).read_text() for name in ("one.svg", "two.svg", "again.svg")]
    assert drawn[0] == drawn[2]
    assert drawn[0].count("fill: #0072b2") == 4 == drawn[1].count("fill: #0072b2")  # the legend has one more
    assert "#e69f00" not in drawn[0] and "#e69f00" in drawn[1]  # once: it is hatched, and a pattern stands for both
    assert drawn[1].count('id="patch_') == drawn[0].count('id="patch_') + 4
    draw_surprisals(tmp_path / "long.png", ["word"] * 60, {"dtg": [1.0] * 60})


def test_a_number_for_each_word_is_expected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a number for each of 2 words is expected, but dtg has 1"):
        draw_surprisals(tmp_path / "one.svg", ["The", "dog"], {"dtg": [1.0]})
