"""Surprisals as a picture."""

from __future__ import annotations

from pathlib import Path

import pytest

from dtg.errors import InputError
from dtg.scoring.picture import SurprisalPanel, draw_panels, draw_surprisals


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


def test_panels_on_one_scale_with_the_structural_part_on_top(tmp_path: Path) -> None:
    short = SurprisalPanel(["A", "dog"], {"dtg": [1.0, 2.0]}, {"dtg": [0.25, 0.5]}, "short")
    long = SurprisalPanel(["A", "big", "dog"], {"dtg": [1.0, 2.0, 9.0]}, {"dtg": [0.0, 0.5, 3.0]}, "long")
    draw_panels(tmp_path / "both.svg", [short, long])
    drawn = (tmp_path / "both.svg").read_text()
    assert drawn.count("fill: #0072b2") == 6 and drawn.count("fill: #aad0e5") == 5  # lexical and the legend, structural
    assert drawn.count("<!-- 8 -->") == 2  # the same scale in both
    with pytest.raises(InputError, match="the same models are expected for each sentence: dtg, not txl"):
        draw_panels(tmp_path / "no.svg", [short, SurprisalPanel(["A"], {"txl": [1.0]})])
    with pytest.raises(InputError, match="from 1 to 12 sentences; 13 were given"):
        draw_panels(tmp_path / "no.svg", [short] * 13)
