"""What pages show their readers, and how it is run: as one script, so that dtg is imported once and code sees what was made."""

from __future__ import annotations

import re
from pathlib import Path

from dtg import write_conllu
from tests.processes import call, run_script
from tests.twins import random_sentences

ROOT = Path(__file__).parents[1]
# `command` is what the scripts run commands with.
COMMANDS = """
import shlex, subprocess
from dtg.cli.app import app

def command(line):
    if line.startswith("dtg "):
        app(shlex.split(line, comments=True)[1:], prog_name="dtg", standalone_mode=False)
    else:
        subprocess.run(line, shell=True, check=True)

"""


def blocks(page: Path | str) -> list[tuple[str, str]]:
    """(language, content) of every block of code of a page, which is a file or its text."""
    text = page.read_text(encoding="utf-8") if isinstance(page, Path) else page
    return re.findall(r"^```(\w+)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def commands(block: str) -> list[str]:
    """The commands of a block of them."""
    lines = block.splitlines()
    assert all(line.startswith("$ ") for line in lines), "what commands print is not shown on these pages"
    return [line.removeprefix("$ ") for line in lines]


def script_of(page: Path | str) -> str:
    """A page's commands and code, in order, as one script."""
    parts = [COMMANDS]
    for language, content in blocks(page):
        if language == "python":
            parts.append(content)
        elif language == "console":
            parts += [f"command({line!r})" for line in commands(content)]
    return "\n".join(parts)


def run(script: Path, *arguments: str) -> str:
    """What it prints; its folder is where it is run."""
    done = call(run_script, script.name, *arguments, folder=script.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def write_treebank(folder: Path) -> None:
    """What a reader who trains has: `train.conllu` and `dev.conllu`."""
    for name, seed in (("train", 1), ("dev", 2)):
        write_conllu((tree for tree, _ in random_sentences(30, seed)), folder / f"{name}.conllu")
