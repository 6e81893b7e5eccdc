"""dtg.R gives the numbers of the command, and the script for mixed models runs. Needs R, with reticulate and lme4."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dtg
from tests.evaluation.reading.test_reading import as_surprisals, made_up, participants

FILE = Path(dtg.__file__).parent / "r" / "dtg.R"


def needs_package(name: str) -> None:
    """Skip a test where R or a package of it is not installed; asked when the test is run, since R starts slowly."""
    asked = ["Rscript", "-e", f"library({name})"]
    if shutil.which("Rscript") is None or subprocess.run(asked, capture_output=True, check=False).returncode:
        pytest.skip(f"needs R with {name}: apt install r-cran-{name}")


def run_r(script: str, folder: Path) -> str:
    environment = {**os.environ, "RETICULATE_PYTHON": sys.executable}
    done = subprocess.run(
        ["Rscript", "-e", script], capture_output=True, text=True, cwd=folder, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("model", ["txl-small", "dtg-small"])  # without and with a search, by the command's default
def test_the_numbers_of_the_command(model: str, tmp_path: Path) -> None:
    needs_package("reticulate")
    with (tmp_path / "stimuli.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [
                ["item", "word", "sentence"],
                [1, "x", 'The "dog" that I saw barks, doesn’t it?'],
                [2, "y", "I don't see it."],
            ]
        )
    options = f"--column sentence --model {model} --per whitespace --boundary own --columns all --end".split()
    command = [sys.executable, "-m", "dtg", "surprisal", "stimuli.csv", *options, "--out", "words.csv"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    run_r(
        f'source("{FILE}"); d <- read.csv("stimuli.csv"); '
        f'w <- dtg_surprisal(d, "sentence", "{model}", boundary = "own", columns = "all", end = TRUE); '
        'w$surprisal <- sprintf("%.17g", w$surprisal); write.csv(w, "r.csv", row.names = FALSE, na = "")',
        tmp_path,
    )
    with (tmp_path / "words.csv").open(encoding="utf-8") as ours, (tmp_path / "r.csv").open(encoding="utf-8") as theirs:
        first, second = list(csv.DictReader(ours)), list(csv.DictReader(theirs))
    assert [row["word"] for row in first] == [row["word"] for row in second]
    assert [float(row["surprisal"]) for row in second] == pytest.approx(
        [float(row["surprisal"]) for row in first], rel=1e-15
    )
    assert set(first[0]) == set(second[0])
    assert [row["input_word"] for row in second] == [row["input_word"] for row in first]


@pytest.mark.slow
def test_the_script_for_mixed_models_runs(tmp_path: Path) -> None:
    needs_package("lme4")
    rows = made_up()
    columns = {"word": "Form", "time": "RT.ms", "story": "Passage", "sentence": "sent_no", "position": "W.Num"}
    table = as_surprisals(tmp_path / "other.csv", rows)
    out, path = tmp_path / "out", participants(tmp_path, rows)
    dtg.evaluate(None, "reading", path, surprisals=table, participant="Subj", out=out, progress=False, **columns)
    printed = run_r('source("mixed_model.R")', out)
    line = next(line for line in printed.splitlines() if line.startswith("surprisal "))
    assert float(line.split()[3]) > 5  # the t value of what was put in
    assert "Pr(>Chisq)" in printed
