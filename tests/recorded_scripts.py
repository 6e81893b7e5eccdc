"""Scripts of tools/ on made-up data, with programs that only record what they are asked for."""

from __future__ import annotations

import gzip
import os
import subprocess
from functools import cache
from pathlib import Path

import typer

from dtg.cli.app import app

TREEBANKS = ["en_ewt-ud-train", "en_ewt-ud-dev", "en_ewt-ud-test", "en_gum-ud-train", "en_gum-ud-dev", "en_gum-ud-test"]
RECORDER = """#!/usr/bin/env bash
printf '%s\\t' "${0##*/}" "$@" >> "$RECORD"; echo >> "$RECORD"
while [ $# -gt 0 ]; do
  if [ "$1" = --out ]; then
    case $2 in *.conllu | *.ptb) touch "$2" ;; *) mkdir -p "$2"/best; touch "$2"/log.jsonl ;; esac
  fi
  shift
done
"""
Commands = list[list[str]]


class RecordedScript:
    """A script with made-up data, and the commands it has run."""

    def __init__(self, script: Path, folder: Path) -> None:
        self.script, self.folder, self.record = script, folder, folder / "record"
        data, programs = folder / "data", folder / "programs"
        for part in ("ud", "amalgum", "blimp", "sg", "const"):
            (data / part).mkdir(parents=True)
        for name in TREEBANKS:
            (data / "ud" / f"{name}.conllu").write_text(f"# {name}\n")
        for split in ("train", "dev", "test"):
            (data / "amalgum" / f"amalgum-{split}.conllu.gz").write_bytes(gzip.compress(f"# {split}\n".encode()))
        (data / "const" / "gum-test.ptb.gz").write_bytes(gzip.compress(b"(S (X x))"))
        programs.mkdir()
        for name in ("dtg", "python", "torchrun"):
            (programs / name).write_text(RECORDER)
            (programs / name).chmod(0o755)
        self.environment = os.environ | {
            "DTG_DATA": str(data),
            "WORK": str(folder / "work"),
            "KEPT": str(folder / "kept"),
            "RECORD": str(self.record),
            "PATH": f"{programs}:{os.environ['PATH']}",
        }

    def run(self, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            ["bash", self.script, *arguments], env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stderr
        return done

    def commands(self, *arguments: str) -> Commands:
        """What it runs for these arguments."""
        self.record.write_text("")
        self.run(*arguments)
        return [line.rstrip("\t").split("\t") for line in self.record.read_text().splitlines()]


commands_of_dtg = cache(lambda: typer.main.get_command(app))


@cache
def understood(arguments: tuple[str, ...]) -> tuple[list[str], dict[str, object]]:
    """The names of a command and its options, as the command line itself reads them."""
    command, names, rest = commands_of_dtg(), list[str](), list(arguments)
    while further := getattr(command, "commands", None):  # of a group, as `evaluate` is
        name, *rest = rest
        command = further[name]
        names.append(name)
    return names, command.make_context("dtg", list(rest)).params


def of(commands: Commands, *names: str) -> list[dict[str, object]]:
    found = [understood(tuple(arguments)) for program, *arguments in commands if program == "dtg"]
    return [options for known, options in found if known == list(names)]
