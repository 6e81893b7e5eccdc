"""Pictures: written in every format, nothing overlapping or cut off, and errors that say what is wrong."""

from __future__ import annotations

import math
import sys
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest

from dtg.errors import InputError, MissingExtraError
from dtg.evaluation import figures
from dtg.evaluation.figures import bars_by_group
from dtg.evaluation.intervals import Interval
from dtg.evaluation.tasks.pairs.paradigms import PARADIGMS, title
from dtg.io.pictures import STYLES, wrapped
from dtg.training.curves import learning_curves, spread

GROUPS = [*map(title, PARADIGMS)]
NAMES = [
    "dtg",
    "dtg-swift",
    "txl-tokens",
    "dtg-eager, one pass over a large corpus, seed 3",
    "a_name_of_one_word" * 6,
    "f",
]


def bars(seed: int) -> list[Interval]:
    values = [100 * abs(math.sin(seed + row)) for row in range(len(GROUPS))]
    return [Interval(value, max(0.0, value - 3), min(100.0, value + 3)) for value in values]


def log(level: float, dev: bool = True) -> list[dict[str, Any]]:
    kinds = ("train", "dev") if dev else ("train",)
    points = [(kind, step) for step in range(1, 20) for kind in kinds]
    return [
        {"kind": "run"},
        *({"kind": kind, "words": 10_000 * step, "word_perplexity": level + 900 / step} for kind, step in points),
    ]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The figures that the test draws, as they are when they are saved."""
    from matplotlib.figure import Figure

    found: list[Any] = []
    save = Figure.savefig

    def watched(figure: Any, *arguments: Any, **options: Any) -> None:
        save(figure, *arguments, **options)
        found.append(figure)

    monkeypatch.setattr(Figure, "savefig", watched)
    return found


def texts(figure: Any) -> list[Any]:
    """Where its texts are, in pixels; without the lines that lead to them."""
    from matplotlib.text import Text

    figure.draw_without_rendering()
    (axes,) = figure.axes
    ticks = [
        text
        for axis in (axes.xaxis, axes.yaxis)
        for text, place in zip(axis.get_majorticklabels(), axis.get_majorticklocs(), strict=True)
        if min(axis.get_view_interval()) <= place <= max(axis.get_view_interval())
    ]
    labels = [*ticks, *axes.texts, *(text for legend in figure.legends for text in legend.get_texts())]
    return [Text.get_window_extent(text) for text in labels if text.get_text()]


def assert_readable(figure: Any) -> None:
    """No text lies on another or leaves the picture."""
    boxes, whole = texts(figure), figure.bbox
    for box in boxes:
        assert whole.x0 <= box.x0 and box.x1 <= whole.x1 and whole.y0 <= box.y0 and box.y1 <= whole.y1
    for one, other in combinations(boxes, 2):
        assert not one.padded(-0.5).overlaps(other.padded(-0.5))


@pytest.mark.parametrize("count", [1, 3, 6])
def test_bars_of_twelve_groups_are_readable(tmp_path: Path, drawn: list[Any], count: int) -> None:
    models = {name: bars(number) for number, name in enumerate(NAMES[:count])}
    models[NAMES[0]][0] = Interval(100, 100, 100)
    bars_by_group(tmp_path / "bars.png", GROUPS, models)
    assert_readable(drawn[0])
    (axes,) = drawn[0].axes
    assert [patch.get_width() for patch in axes.patches] == [bar.value for some in models.values() for bar in some]
    assert [label.get_text() for label in axes.get_yticklabels()] == GROUPS
    assert axes.yaxis_inverted()


def test_missing_bars_and_no_chance(tmp_path: Path, drawn: list[Any]) -> None:
    bars_by_group(tmp_path / "bars.svg", ["x", "y"], {"a": [Interval(50, 40, 60), None]}, chance=None)
    (axes,) = drawn[0].axes
    assert len(axes.patches) == 1 and [text.get_text() for text in axes.texts] == ["50.0"]
    assert "chance" not in (tmp_path / "bars.svg").read_text()


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png"])
def test_the_same_picture_makes_the_same_file(tmp_path: Path, suffix: str) -> None:
    first, again = tmp_path / f"1.{suffix}", tmp_path / f"2.{suffix}"
    for path in (first, again):
        bars_by_group(path, ["x"], {"a": [Interval(50, 40, 60)], "b": [Interval(50, 40, 60)]})
    assert first.read_bytes() == again.read_bytes()


@pytest.mark.parametrize("count", [1, 3, 6])
def test_curves_are_readable_and_named(tmp_path: Path, drawn: list[Any], count: int) -> None:
    """All end within a few per cent of each other: names have to make room."""
    learning_curves(tmp_path / "curves.png", {name: log(100 + number) for number, name in enumerate(NAMES[:count])})
    assert_readable(drawn[0])
    assert [text.get_text().replace("\n", "") for text in drawn[0].axes[0].texts[:2]] == NAMES[:count][:2]


def test_a_run_without_a_development_set_ends_where_training_does(tmp_path: Path, drawn: list[Any]) -> None:
    learning_curves(tmp_path / "curves.svg", {"a": log(100, dev=False)})
    assert drawn[0].axes[0].texts[0].xy == (190_000, pytest.approx(100 + 900 / 19))


def test_things_spread_do_not_overlap_and_keep_their_order() -> None:
    assert spread([0.2, 0.8], [0.1, 0.1]) == [0.2, 0.8]
    assert spread([0.5, 0.5], [0.1, 0.3]) == pytest.approx([0.4, 0.6])
    heights, sizes = [0.5, 0.1, 0.52, 0.51, 0.9], [0.1, 0.2, 0.1, 0.2, 0.1]
    places = spread(heights, sizes)
    order = sorted(range(5), key=heights.__getitem__)
    for below, above in pairwise(order):
        assert places[above] - places[below] >= (sizes[above] + sizes[below]) / 2 - 1e-9


def test_names_break_after_underscores() -> None:
    assert wrapped("coordinate_structure_constraint", 22) == "coordinate_structure_\nconstraint"
    assert wrapped("short_name", 22) == "short_name"


def test_styles_differ_in_more_than_colour() -> None:
    for styles in (STYLES, STYLES[:6]):
        assert len({style.marker for style in styles}) == len({style.color for style in styles}) == len(styles)
    assert len({style.hatch for style in STYLES[:6]}) == 6


def test_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="a bar for each of 2 groups is expected, but a has 1"):
        bars_by_group(tmp_path / "x.svg", ["x", "y"], {"a": [None]})
    with pytest.raises(InputError, match=r"from 1 to 8 models, .* 0 were given"):
        bars_by_group(tmp_path / "x.svg", ["x"], {})
    with pytest.raises(InputError, match=r"from 1 to 8 models, .* 9 were given"):
        learning_curves(tmp_path / "x.svg", {str(number): log(1) for number in range(9)})
    with pytest.raises(InputError, match="the log of a has no losses yet"):
        learning_curves(tmp_path / "x.svg", {"a": [{"kind": "run"}]})
    with pytest.raises(InputError, match=r"must end in one of \.svg, \.png, \.pdf"):
        bars_by_group(tmp_path / "x.bmp", ["x"], {"a": [None]})
    assert not list(tmp_path.iterdir())
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        MissingExtraError, match=r"drawing a picture of bars needs matplotlib, .* pip install '\.\[draw\]'"
    ):
        figures.bars_by_group(tmp_path / "x.svg", ["x"], {"a": [None]})


def test_dollars_are_no_mathematics(tmp_path: Path) -> None:
    name = r"$\frac$ and $5"
    bars_by_group(tmp_path / "bars.svg", [name, "b"], {name: [Interval(50, 40, 60), None]})
    assert (tmp_path / "bars.svg").stat().st_size > 1000
