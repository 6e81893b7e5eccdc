"""What the README shows is what happens."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from dtg import write_conllu
from tests.twins import random_sentences

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
NUMBER = re.compile(r"-?\d+\.\d+")  # measured, not counted
MEASURED = re.compile(r"-?\d+\.\d+(?: [▏▎▍▌▋▊▉█]*)?\s*")
SEPARATOR = "=" * 40
ONE_AFTER_THE_OTHER = f"""
import shlex, sys
from dtg.cli.app import app
for line in sys.argv[1:]:
    print({SEPARATOR!r})
    app(shlex.split(line)[1:], prog_name="dtg", standalone_mode=False)
"""
TREEBANK = "1\tDogs\t_\t_\t_\t_\t2\tnsubj\t_\t_\n2\tbark\t_\t_\t_\t_\t0\troot\t_\t_\n"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


TINY = """
[model]
layers = 1
width = 16
attention_heads = 2
head_width = 8
feedforward = 16

[training]
batch_sentences = 16
epochs = 1
peak_rate = 1e-3
warmup_share = 0.1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What the README's commands find in their folder."""
    path = tmp_path
    (path / "treebank.conllu").write_text(TREEBANK)
    (path / "tiny.toml").write_text(TINY)
    (path / "items.txt").write_text("Dogs bark.\nDogs don't bark.\n")
    (path / "text.txt").write_text("Dogs bark.\nCats sleep all day.\n" * 30)
    for name, seed in (("train", 1), ("dev", 2)):
        write_conllu((tree for tree, _ in random_sentences(60, seed)), path / f"{name}.conllu")
    return path


def commands() -> list[tuple[str, str]]:
    """(command, what the README shows of its output)"""
    found = []
    for block in blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command.partition("  #")[0].strip(), output))
    return found


def test_what_is_shown_works(folder: Path) -> None:
    """The dtg commands in order, each printing what is shown of it, then the Python code, which uses what they made."""
    shown = [(command, output) for command, output in commands() if command.startswith("dtg ")]
    printed = run(ONE_AFTER_THE_OTHER, [command for command, _ in shown], folder).split(SEPARATOR)[1:]
    for (_, expected), found in zip(shown, printed, strict=True):
        if expected.strip():
            assert_shows(expected, found)
    for block in blocks("python"):
        assert run(block, [], folder)


def assert_shows(output: str, printed: str) -> None:
    """The same lines, or as many as come before three dots. Measured numbers may be a little off, and so may bars."""
    expected, found = lines_of(output), lines_of(printed)
    if expected[-1] == "...":
        expected = expected[:-1]
        found = found[: len(expected)]
    assert [MEASURED.split(line) for line in expected] == [MEASURED.split(line) for line in found]
    numbers = [[float(number) for line in lines for number in NUMBER.findall(line)] for lines in (expected, found)]
    assert numbers[0] == pytest.approx(numbers[1], abs=0.05)


def lines_of(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def run(script: str, arguments: list[str], folder: Path) -> str:
    """What it prints."""
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = [command.split()[1] for command, _ in commands() if command.startswith("make ")]
    assert targets == ["demo", "test"]
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_contributing_is_short() -> None:
    assert len((ROOT / "CONTRIBUTING.md").read_text().splitlines()) <= 45
