"""tools/learning_curve.py: what was kept is evaluated once, and the table says what results and log say."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from tools import learning_curve


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "small"
    for step in (10, 20):
        (folder / "models" / f"step-{step:08}").mkdir(parents=True)
    records = [
        {"kind": "run", "steps": 20},
        {"kind": "train", "step": 8, "words": 800},
        {"kind": "dev", "step": 10, "words": 1_000, "word_perplexity": math.exp(7.5)},
        {"kind": "train", "step": 20, "words": 2_000},
    ]
    (folder / "log.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return folder


def write_results(run: Path, step: int) -> None:
    averages = [
        {"suites": "33 suites", "mean": "suite mean", "accuracy": 61.25},
        {"suites": "31 suites", "mean": "suite mean", "accuracy": 1.0},
    ]
    sg = {"first": {"averages": averages, "circuits": {"Agreement": {"accuracy": 52.5}}}}
    blimp = {"sentence": {"overall": {"paradigm_mean": 66.0}}}
    for kind, scores in (("sg", sg), ("blimp", blimp)):
        out = run / "evaluated" / f"step-{step:08}" / kind
        out.mkdir(parents=True)
        (out / "results.json").write_text(json.dumps({"scores": scores}))


def test_the_table_and_the_picture(run: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    write_results(run, 10)
    learning_curve.main(["table", str(run)])
    assert capsys.readouterr().out.splitlines()[2:] == [
        "| small | 1,000 | 7.500 | 61.2 | 52.5 | 66.0 |",
        "| small | 2,000 |  |  |  |  |",
    ]
    learning_curve.main(["draw", str(run), "--out", str(tmp_path / "curve.svg")])
    assert (tmp_path / "curve.svg").read_text().count("<!-- small -->") == 1  # in the legend


def test_what_is_evaluated_is_not_evaluated_again(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_results(run, 10)
    commands: list[list[str]] = []

    class Done:
        returncode = 0

    def take_down(command: list[str], check: bool) -> Done:
        commands.append(command[3:])
        return Done()

    monkeypatch.setattr("tools.learning_curve.subprocess.run", take_down)
    learning_curve.main(["evaluate", str(run), "--sg", "suites", "--blimp", "pairs", "--limit", "5"])
    model = str(run / "models" / "step-00000020")
    assert [command[:5] for command in commands] == [
        ["evaluate", "sg", "suites", "--model", model],
        ["evaluate", "blimp", "pairs", "--model", model],
    ]
    assert commands[1][-2:] == ["--limit", "5"] and "--limit" not in commands[0]


def test_mistakes_are_answered(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="has kept no models: train with"):
        learning_curve.main(["table", str(tmp_path)])
    with pytest.raises(SystemExit):
        learning_curve.main(["evaluate", str(run)])
    assert "needs --sg or --blimp" in capsys.readouterr().err
