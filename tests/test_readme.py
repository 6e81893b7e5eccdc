"""What the README shows is what happens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.documents import COMMANDS, ROOT, blocks, run, write_treebank

README = ROOT / "README.md"
NUMBER = re.compile(r"-?\d+\.\d+")  # measured, not counted
MEASURED = re.compile(r"-?\d+\.\d+(?: [▏▎▍▌▋▊▉█]*)?\s*")
SEPARATOR = "=" * 40
TREEBANK = "1\tDogs\t_\t_\t_\t_\t2\tnsubj\t_\t_\n2\tbark\t_\t_\t_\t_\t0\troot\t_\t_\n"
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
    (path / "stimuli.csv").write_text("item,sentence\n1,Dogs bark.\n2,Cats sleep.\n")
    (path / "items.txt").write_text("Dogs bark.\nDogs don't bark.\n")
    (path / "text.txt").write_text("Dogs bark.\nCats sleep all day.\n" * 30)
    write_treebank(path)
    return path


def commands() -> list[tuple[str, str]]:
    """(command, what the README shows of its output)"""
    found = []
    for block in (content for language, content in blocks(README) if language == "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command.partition("  #")[0].strip(), output))
    return found


def test_what_is_shown_works(folder: Path) -> None:
    """The dtg commands in order, each printing what is shown of it, then the Python code, which uses what they made."""
    shown = [(command, output) for command, output in commands() if command.startswith("dtg ")]
    script = folder / "commands.py"
    calls = [f"print({SEPARATOR!r})\ncommand({command!r})" for command, _ in shown]
    script.write_text("\n".join([COMMANDS, *calls]), encoding="utf-8")
    printed = run(script).split(SEPARATOR)[1:]
    for (_, expected), found in zip(shown, printed, strict=True):
        if expected.strip():
            assert_shows(expected, found)
    for code in (content for language, content in blocks(README) if language == "python"):
        (folder / "code.py").write_text(code, encoding="utf-8")
        assert run(folder / "code.py")


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


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = [command.split()[1] for command, _ in commands() if command.startswith("make ")]
    assert targets == ["demo", "test"]
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_contributing_is_short() -> None:
    assert len((ROOT / "CONTRIBUTING.md").read_text().splitlines()) <= 45
