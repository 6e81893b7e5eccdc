"""`dtg demo`: what it shows is what the models say."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest

import dtg
from dtg import pretrained
from dtg.cli.commands.demo import EXAMPLES
from tests.cli.running import dtg as run


def test_the_demo_shows_what_the_models_say(tmp_path: Path) -> None:
    shown = run("demo", "--out", str(tmp_path / "demo")).stdout
    with (tmp_path / "demo/surprisals.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for number, example in enumerate(EXAMPLES, start=1):
        for name in (pretrained.MODEL, pretrained.WORDS_MODEL):
            answers = dtg.load(name).surprisal(example.sentences())
            said = [one.surprisals / math.log(2) for one in answers]
            keys = (
                (example.subject, "1"),
                (example.subject, "0"),
                (example.other_subject, "0"),
                (example.other_subject, "1"),
            )
            for key, expected in zip(keys, said, strict=True):
                wanted = (str(number), name, *key)
                found = [
                    row for row in rows if (row["example"], row["model"], row["subject"], row["grammatical"]) == wanted
                ]
                assert [float(row["surprisal"]) for row in found] == pytest.approx(expected.tolist(), abs=1e-3)
            verbs = [float(one[example.place]) for one in said]
            sentences = [-one.log_probability / math.log(2) for one in answers]
            for what, (good, bad, other_good, other_bad) in (("verb", verbs), ("sentence", sentences)):
                prefers, otherwise = bad - good, other_bad - other_good
                line = f"{name}, {what} {prefers:+.2f} {otherwise:+.2f} {prefers - otherwise:+.2f}"
                assert line in (" ".join(one.split()) for one in shown.splitlines())
        for kind in ("surprisal", "tree"):
            assert (tmp_path / "demo" / f"{kind}-{number}.svg").read_text().startswith("<?xml")
    assert "*like " in shown and "root" in shown


def test_the_model_with_trees_prefers_what_people_accept() -> None:
    for example in EXAMPLES:
        found = [one.log_probability for one in dtg.load().surprisal(example.sentences())]
        good, bad, other_good, other_bad = found
        assert good > bad and other_bad > other_good
