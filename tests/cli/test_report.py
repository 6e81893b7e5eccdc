"""`dtg report`: options, what is printed, and mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from dtg.cli.commands.report import report
from dtg.errors import InputError
from tests.evaluation.report.made_up import write_blimp, write_run


def test_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_blimp(tmp_path / "results/dtg/blimp", "dtg", 1)
    (tmp_path / "results/broken.json").write_text("{")
    write_run(tmp_path / "runs/dtg", 60)
    report([tmp_path / "results"], [f"dtg={tmp_path / 'runs/dtg'}"], tmp_path / "report")
    shown, told = capsys.readouterr()
    assert shown == f"{tmp_path}/report/report.html and {tmp_path}/report/report.md: 1 model, 1 evaluation.\n"
    assert told.startswith(f"dtg: {tmp_path}/results/broken.json is left out: it is not JSON")
    assert (tmp_path / "report/figures/learning-curves.pdf").read_bytes().startswith(b"%PDF")
    assert "broken.json` is left out" in (tmp_path / "report/report.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        ([], "there is nothing to report"),
        (["runs/dtg"], "--run runs/dtg does not say whose run it is. Write --run NAME=RUN"),
        (["=runs/dtg"], "does not say whose run it is"),
        (["a=b", "a=c"], "--run names two runs for a: b and c"),
        (["a=nowhere"], "nowhere is not a run of dtg train"),
    ],
)
def test_mistakes(runs: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        report([], runs, tmp_path / "report")
    assert not (tmp_path / "report").exists()
