"""What the README shows is what happens."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from dtg import write_conllu
from tests.twins import random_sentences

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
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
    for command, output in commands():
        if command.startswith("dtg "):
            done = run("from dtg.cli import main; main()", shlex.split(command)[1:], folder)
            shown = [line.rstrip() for line in output.splitlines() if line.strip()]
            printed = [line.rstrip() for line in done.stdout.splitlines() if line.strip()]
            assert not shown or printed == shown
    for block in blocks("python"):
        assert run(block, [], folder).stdout


def run(script: str, arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = [command.split()[1] for command, _ in commands() if command.startswith("make ")]
    assert targets == ["demo", "test"]
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_contributing_is_short() -> None:
    assert len((ROOT / "CONTRIBUTING.md").read_text().splitlines()) <= 45
