"""`dtg demo`: what it shows is what the models say."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest

import dtg
from dtg import box
from dtg.cli.demo import BEAM, EXAMPLES
from tests.cli.running import dtg as run


def test_the_demo_shows_what_the_models_say(tmp_path: Path) -> None:
    shown = run("demo", "--out", str(tmp_path / "demo")).stdout
    with (tmp_path / "demo/surprisals.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for number, example in enumerate(EXAMPLES, start=1):
        for name in (box.MODEL, box.WORDS_MODEL):
            pair = [example.sentence(word) for word in (example.good, example.bad)]
            found = [
                [float(row["surprisal"]) for row in rows if (row["example"], row["model"], row["grammatical"]) == key]
                for key in ((str(number), name, "1"), (str(number), name, "0"))
            ]
            said = [one.surprisals / math.log(2) for one in dtg.load(name).surprisal(pair, beam=BEAM)]
            assert found[0] == pytest.approx(said[0].tolist(), abs=1e-3)
            assert found[1] == pytest.approx(said[1].tolist(), abs=1e-3)
            gained = said[1][example.place] - said[0][example.place]
            which = "grammatical" if gained > 0 else "ungrammatical"
            assert f"{name}: the {which} word wins, by {abs(gained):.2f} bits." in shown
        for kind in ("surprisal", "tree"):
            assert (tmp_path / "demo" / f"{kind}-{number}.svg").read_text().startswith("<?xml")
    assert "*like " in shown and "root" in shown
