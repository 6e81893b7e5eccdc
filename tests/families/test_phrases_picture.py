"""Pictures of masks: a panel for each view, and one for the depths of a stack tape."""

from __future__ import annotations

from pathlib import Path

import pytest

from dtg import families
from dtg.families.picture import draw_mask, panels_of
from dtg.trees.phrases.brackets import parse_brackets
from dtg.trees.reading import as_kind

TREE = parse_brackets("(S (NP The dog) (VP barks))")
PANELS = {
    "tg": [None],
    "plm": [None],
    "plm-mask": ["before", "phrase", "all"],
    "pushdown": ["all", "all: depth"],
    "tg-hybrid": ["stack", "memory"],
}


@pytest.mark.parametrize("name", PANELS)
def test_panels(name: str, tmp_path: Path) -> None:
    family = families.get(name, labels=TREE.labels)
    reading = family.read(as_kind(TREE, family.system.kind))
    panels = panels_of(reading.rows)
    assert [panel.title for panel in panels] == PANELS[name]
    for place, panel in enumerate(panels[: len(family.views)]):
        for row, attends, numbers in zip(reading.rows, panel.attends, panel.numbers, strict=True):
            shown = row.views[place] if row.views else row
            assert (attends, numbers) == (shown.attends, shown.relative)
    path = tmp_path / "mask.svg"
    draw_mask(reading.rows, path)
    text = path.read_text("utf-8")
    draw_mask(reading.rows, path)
    assert "<svg" in text and path.read_text("utf-8") == text


def test_depths_of_the_stack_tape() -> None:
    family = families.get("pushdown")
    depths = panels_of(family.rows(TREE.binarize()))[1]
    assert depths.numbers == ((0,), (0, 0), (0, 1, 1), (0, 2, 2, 1))


def test_structures_as_json() -> None:
    family = families.get("tg", labels=TREE.labels)
    assert family.read(TREE).as_dict()["nodes"] == [["S", 1, 3], ["NP", 1, 2], ["VP", 3, 3]]
    assert families.get("pushdown").read(TREE.binarize()).as_dict()["spans"] == [[1, 3], [1, 2]]
