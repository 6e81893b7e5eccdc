"""The examples in docs/ run, and find what was put into the data."""

from __future__ import annotations

import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas
import pytest

from tests.scoring.test_marginal import tiny

SCRIPT = Path(__file__).parents[1] / "docs" / "examples" / "reading_times.py"
Run = Callable[..., subprocess.CompletedProcess[str]]
needs_r = pytest.mark.skipif(shutil.which("Rscript") is None, reason="there is no Rscript on this machine")
SENTENCES = [
    f"{first} {animal} {verb} {object}."
    for first in ("The", "A big", "That")
    for animal in ("dog", "cat that saw mice", "mouse")
    for verb, object in (("chased", "the quick cat"), ("didn't see", "NA"), ("saw", "a dog that ran"))
]


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `dtg surprisal --per whitespace` writes for some sentences."""
    found = tiny("dtg").surprisal(SENTENCES, beam=10)
    frames = [one.to_frame(base="2", per="whitespace", sentence_id=number) for number, one in enumerate(found, start=1)]
    path = tmp_path_factory.mktemp("reading") / "items.csv"
    pandas.concat(frames).to_csv(path, index=False)
    return path


def example(path: Path, *arguments: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, SCRIPT, path, *arguments], capture_output=True, text=True, check=False)


def example_in_r(path: Path, *arguments: Path) -> subprocess.CompletedProcess[str]:
    script = SCRIPT.with_suffix(".R")
    return subprocess.run(["Rscript", script, path, *arguments], capture_output=True, text=True, check=False)


def test_effects_that_were_put_in_are_found(items: Path) -> None:
    script = runpy.run_path(str(SCRIPT))
    words = script["read_words"](str(items))
    observed = script["join"](script["make_up_times"](words), words).dropna()
    fit = script["regress"](observed, [*script["SURPRISALS"], *script["CONTROLS"]])
    assert fit.observations == 20 * (len(words) - len(SENTENCES))  # without the first words
    for name, effect in script["EFFECTS"].items():
        estimate, error, _ = fit.table.loc[name]
        assert abs(estimate - effect) < 3 * error, name
        assert error < 1 or not name.endswith("surprisal")  # small enough to tell the effect from nothing


def test_the_word_before_is_of_the_same_sentence(items: Path) -> None:
    words = runpy.run_path(str(SCRIPT))["read_words"](str(items))
    for _, sentence in words.groupby("sentence_id"):
        assert sentence["previous_surprisal"].isna().tolist() == [True, *[False] * (len(sentence) - 1)]
        assert sentence["previous_surprisal"].tolist()[1:] == sentence["surprisal"].tolist()[:-1]
        assert sentence["previous_length"].tolist()[1:] == sentence["word"].str.len().tolist()[:-1]


def test_the_script_with_and_without_times(items: Path, tmp_path: Path) -> None:
    done = example(items)
    assert done.returncode == 0, done.stderr
    assert "made_up_with" in done.stdout
    assert "log-likelihood gained by surprisal" in done.stdout
    words = pandas.read_csv(items, keep_default_na=False)
    times: Any = words[["sentence_id", "word_id", "word"]].assign(participant="a", time=300 + words.index * 7 % 50)
    times.to_csv(tmp_path / "times.csv", index=False)
    done = example(items, tmp_path / "times.csv")
    assert done.returncode == 0, done.stderr
    assert f"{len(words) - len(SENTENCES):,} times; {len(SENTENCES)} left out" in done.stdout


@pytest.mark.parametrize("run", [example, pytest.param(example_in_r, marks=needs_r)])
def test_times_of_other_words_are_refused(items: Path, tmp_path: Path, run: Run) -> None:
    words = pandas.read_csv(items, keep_default_na=False)
    times = words[["sentence_id", "word_id", "word"]].assign(participant="a", time=300, word_id=words["word_id"] + 1)
    times.to_csv(tmp_path / "times.csv", index=False)
    done = run(items, tmp_path / "times.csv")
    assert done.returncode == 1
    assert "times are of other words than the items': the first is of 'The', which is 'dog' in items.csv" in done.stderr
    by_words = tiny("dtg").surprisal(["A dog didn't see."], beam=10)[0].to_frame()
    by_words.to_csv(tmp_path / "by_words.csv", index=False)
    done = run(tmp_path / "by_words.csv")
    assert done.returncode == 1
    assert "is not by whitespace words; make it with: dtg surprisal ... --per whitespace" in done.stderr


@needs_r
@pytest.mark.parametrize("participants", [1, 3])
def test_r_finds_what_python_finds(items: Path, tmp_path: Path, participants: int) -> None:
    script = runpy.run_path(str(SCRIPT))
    times = script["make_up_times"](script["read_words"](str(items)), participants)
    times.iloc[5:9, times.columns.get_loc("time")] = float("nan")
    times.to_csv(tmp_path / "times.csv", index=False)
    ours, theirs = example(items, tmp_path / "times.csv"), example_in_r(items, tmp_path / "times.csv")
    assert theirs.returncode == 0, theirs.stderr
    assert ours.stdout.splitlines()[0] == theirs.stdout.splitlines()[0]  # how many times, how many left out
    for name in script["EFFECTS"]:
        expected, found = (
            next(line.split()[1:4] for line in done.stdout.splitlines() if line.split()[:1] == [name])
            for done in (ours, theirs)
        )
        assert [float(value) for value in found] == pytest.approx([float(value) for value in expected], abs=1e-3), name
    assert ("there is one participant" in theirs.stdout) == (participants == 1)
