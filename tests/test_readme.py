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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the README's commands find in their folder; they run in the README's order and leave things to each other."""
    path = tmp_path_factory.mktemp("readme")
    (path / "treebank.conllu").write_text(TREEBANK)
    (path / "tiny.toml").write_text(TINY)
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


@pytest.mark.xdist_group("readme")
@pytest.mark.parametrize(("command", "output"), [c for c in commands() if c[0].startswith("dtg ")])
def test_commands_run_and_print_what_is_shown(folder: Path, command: str, output: str) -> None:
    script = [sys.executable, "-c", "from dtg.cli import main; main()", *shlex.split(command)[1:]]
    done = subprocess.run(script, cwd=folder, capture_output=True, text=True, check=True)
    shown = [line.rstrip() for line in output.splitlines() if line.strip()]
    printed = [line.rstrip() for line in done.stdout.splitlines() if line.strip()]
    if shown:
        assert printed == shown


@pytest.mark.xdist_group("readme")
def test_python_blocks_run(folder: Path) -> None:
    for block in blocks("python"):
        done = subprocess.run([sys.executable, "-c", block], cwd=folder, capture_output=True, text=True, check=True)
        assert done.stdout


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = [command.split()[1] for command, _ in commands() if command.startswith("make ")]
    assert targets == ["demo", "test"]
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_contributing_is_short() -> None:
    assert len((ROOT / "CONTRIBUTING.md").read_text().splitlines()) <= 45
