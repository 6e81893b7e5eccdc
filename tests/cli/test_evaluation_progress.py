"""What is said while models are evaluated: lines in a log, a bar on a terminal, nothing by other processes."""

from __future__ import annotations

import pytest

from dtg.cli.commands.evaluation.progress import EvaluationProgress
from dtg.io.processes import Processes


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which stands still unless a test changes it."""
    now = [1000.0]
    monkeypatch.setattr("dtg.evaluation.progress.time.monotonic", lambda: now[0])
    return now


def run(clock: list[float], processes: Processes, seconds: float, **options: int) -> None:
    """Four groups of ten rows, so many seconds each."""
    progress = EvaluationProgress(**options)
    progress.begins(4, processes)
    for _ in range(4):
        clock[0] += seconds
        progress.finished(10)
    progress.ends()


def test_lines_in_a_log_every_two_minutes(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    run(clock, Processes(), 100, sentences_per_row=20)
    assert capsys.readouterr().err.splitlines() == [
        "dtg: 2 of 4 groups  2.0 sentences/s  3:20 left",
        "dtg: 4 of 4 groups  2.0 sentences/s  0:00 left",
        "dtg: 800 sentences in 6:40, 2.0 sentences/s.",
    ]


def test_slow_work_is_told_by_the_minute(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    run(clock, Processes(), 25)
    assert capsys.readouterr().err == "dtg: 40 sentences in 1:40, 24.0 sentences/min.\n"


def test_only_the_main_process_speaks(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    run(clock, Processes(1, 2), 500)
    assert capsys.readouterr().err == ""
    run(clock, Processes(0, 2), 25)
    assert capsys.readouterr().err == "dtg: 40 sentences in 1:40 by the first of 2 processes, 24.0 sentences/min.\n"


def test_a_bar_on_a_terminal(
    clock: list[float], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes any stream for a terminal then
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    run(clock, Processes(), 100)
    said = capsys.readouterr().err
    assert "4 of 4 groups" in said and "dtg: 2 of 4" not in said
