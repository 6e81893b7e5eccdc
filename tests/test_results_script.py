"""tools/results.sh from beginning to end, with a `dtg` that only takes down what it is asked for."""

from __future__ import annotations

import gzip
import os
import subprocess
from functools import cache
from pathlib import Path

import pytest
import typer

from dtg.cli.app import app
from dtg.cli.training import changed, read_config
from dtg.families import FAMILIES
from dtg.model import ModelConfig
from dtg.training import TrainingConfig

SCRIPT = Path(__file__).parents[1] / "tools" / "results.sh"
FULL = ["dtg", "txl-tokens", "txl-trans"]
QUARTER = [f"quarter-{name}" for name in ("dtg", "eager", "swift", "arc", "word", "parsed", "trans", "tokens")]
OTHERWISE = [*(f"quarter-{name}-seed1" for name in ("dtg", "eager", "swift")), "quarter-dtg-warm", "quarter-trans-warm"]
TREEBANKS = ["en_ewt-ud-train", "en_ewt-ud-dev", "en_ewt-ud-test", "en_gum-ud-train", "en_gum-ud-dev", "en_gum-ud-test"]
RECORDER = """#!/usr/bin/env bash
printf '%s\\t' "${0##*/}" "$@" >> "$RECORD"; echo >> "$RECORD"
while [ $# -gt 0 ]; do
  if [ "$1" = --out ]; then
    case $2 in *.conllu) touch "$2" ;; *) mkdir -p "$2"/best; touch "$2"/log.jsonl ;; esac
  fi
  shift
done
"""
Commands = list[list[str]]


class Script:
    """results.sh with made-up data, and the commands it has run."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.record = folder, folder / "record"
        data, programs = folder / "data", folder / "programs"
        for part in ("ud", "amalgum", "blimp", "sg"):
            (data / part).mkdir(parents=True)
        for name in TREEBANKS:
            (data / "ud" / f"{name}.conllu").write_text(f"# {name}\n")
        for split in ("train", "dev", "test"):
            (data / "amalgum" / f"amalgum-{split}.conllu.gz").write_bytes(gzip.compress(f"# {split}\n".encode()))
        programs.mkdir()
        for name in ("dtg", "python", "torchrun"):
            (programs / name).write_text(RECORDER)
            (programs / name).chmod(0o755)
        self.environment = os.environ | {
            "DTG_DATA": str(data),
            "WORK": str(folder / "work"),
            "RECORD": str(self.record),
            "PATH": f"{programs}:{os.environ['PATH']}",
        }

    def run(self, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            ["bash", SCRIPT, *arguments], env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stderr
        return done

    def commands(self, *arguments: str) -> Commands:
        """What it runs for these arguments."""
        self.record.write_text("")
        self.run(*arguments)
        return [line.rstrip("\t").split("\t") for line in self.record.read_text().splitlines()]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    return Script(tmp_path)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Commands]:
    """The folder of a run of everything, and its commands."""
    script = Script(tmp_path_factory.mktemp("everything"))
    return script.folder, script.commands("all")


commands_of_dtg = cache(lambda: typer.main.get_command(app))


def understood(arguments: list[str]) -> tuple[list[str], dict[str, object]]:
    """The names of a command and its options, as the command line itself reads them."""
    command, names, rest = commands_of_dtg(), list[str](), arguments
    while further := getattr(command, "commands", None):  # of a group, as `evaluate` is
        name, *rest = rest
        command = further[name]
        names.append(name)
    return names, command.make_context("dtg", list(rest)).params


def of(commands: Commands, *names: str) -> list[dict[str, object]]:
    found = [understood(arguments) for program, *arguments in commands if program == "dtg"]
    return [options for known, options in found if known == list(names)]


def test_all_is_every_model_and_every_evaluation(everything: tuple[Path, Commands]) -> None:
    folder, commands = everything
    work = folder / "work"
    every = [*FULL, *QUARTER, *OTHERWISE]
    assert [options["out"] for options in of(commands, "train")] == [work / "runs" / name for name in every]
    for kind, names in (("ppl", every), ("sg", every), ("blimp", FULL + QUARTER)):
        evaluated = [options for options in of(commands, "evaluate", kind) if "evaluated" in str(options["out"])]
        assert [options["name"] for options in evaluated] == names
        assert [options["model"] for options in evaluated] == [work / "runs" / name / "best" for name in names]
    assert [options["name"] for options in of(commands, "evaluate", "rerank")] == ["dtg", "txl-trans", *QUARTER[:-1]]
    whole = [options for options in of(commands, "evaluate", "ppl") if "whole" in str(options["out"])]
    assert [options["name"] for options in whole] == ["dtg", "txl-tokens"]
    full, quarter, seeds, warm = of(commands, "report")
    assert full["results"] == [work / "evaluated" / name for name in FULL]
    assert quarter["results"] == [work / "evaluated" / name for name in QUARTER]
    assert seeds["results"] == [work / "evaluated" / name for name in OTHERWISE[:3]]
    assert warm["results"] == [work / "evaluated" / name for name in OTHERWISE[3:]]
    heldout = (work / "heldout.conllu").read_text().split("# ")[1:]
    assert heldout == [f"{name}\n" for name in [*TREEBANKS[1:3], *TREEBANKS[4:], "dev", "test"]]


def test_what_is_trained(everything: tuple[Path, Commands]) -> None:
    """Equal for all models of a budget but for the family, the representation of arcs, the trees, seed and warm-up."""
    families = {}
    for options in of(everything[1], "train"):
        config, settings, name = options["config"], options["set_"], Path(str(options["out"])).name
        assert isinstance(config, Path) and isinstance(settings, list | tuple)
        tables = changed(read_config(config), list(settings))
        training = TrainingConfig.from_dict(tables["training"])
        assert training.seed == (1 if name.endswith("-seed1") else 0)
        assert training.warmup_share == (0.2 if name.endswith(("-tokens", "-warm")) and name not in FULL else 0.05)
        model = ModelConfig.from_dict({"vocabulary": 8192, **tables["model"]})
        families[name] = (config.stem, model.family, model.arc_representation)
        assert name not in OTHERWISE or families[name] == families[name.rpartition("-")[0]]
        assert model.family in FAMILIES
        assert Path(str(options["data"])).name == ("corpus-parsed" if name == "quarter-parsed" else "corpus")
        assert options["threads"] == 1 and not options["resume"]
        assert options["precision"] == ("bf16" if name.startswith("quarter-") else "no")
    assert {name: family for name, family in families.items() if name not in OTHERWISE} == {
        "dtg": ("mini", "dtg", "word+arc"),
        "txl-tokens": ("mini", "txl-tokens", "word+arc"),
        "txl-trans": ("mini", "txl-trans", "word+arc"),
        "quarter-dtg": ("mini-quarter", "dtg", "word+arc"),
        "quarter-eager": ("mini-quarter", "dtg-eager", "word+arc"),
        "quarter-swift": ("mini-quarter", "dtg-swift", "word+arc"),
        "quarter-arc": ("mini-quarter", "dtg", "arc"),
        "quarter-word": ("mini-quarter", "dtg", "word"),
        "quarter-parsed": ("mini-quarter", "dtg", "word+arc"),
        "quarter-trans": ("mini-quarter", "txl-trans", "word+arc"),
        "quarter-tokens": ("mini-quarter", "txl-tokens", "word+arc"),
    }


def test_a_second_run_goes_on(script: Script) -> None:
    script.commands("train", "quarter-parsed")
    again = script.commands("train", "quarter-parsed")
    assert [options["resume"] for options in of(again, "train")] == [True]
    assert [options["resume"] for options in of(again, "parse")] == [True] * 3


def test_box_puts_both_models_into_the_package(script: Script) -> None:
    made = [arguments for program, *arguments in script.commands("bundle") if program == "python"]
    work = script.folder / "work"
    assert [[Path(tool).name, *rest] for tool, *rest in made] == [
        ["bundle.py", str(work / "runs" / "dtg" / "best"), "dtg-mini"],
        ["bundle.py", str(work / "runs" / "txl-tokens" / "best"), "txl-mini"],
    ]


def test_narrower_beams_are_compared_with_those_of_the_table(script: Script) -> None:
    commands = script.commands("beams")
    assert [(options["beam"], options["word_beam"]) for options in of(commands, "evaluate", "ppl")] == [
        (20, 7),
        (10, 5),
    ]
    for kind in ("sg", "blimp"):
        [options] = of(commands, "evaluate", kind)
        assert options["against"] == script.folder / "work" / "evaluated" / "dtg" / kind


def test_a_report_is_of_what_there_is(script: Script) -> None:
    script.commands("train", "txl-trans")
    script.commands("evaluate", "txl-trans")
    [report] = of(script.commands("report"), "report")
    assert report["results"] == [script.folder / "work" / "evaluated" / "txl-trans"]


def test_processes_share_an_evaluation(script: Script) -> None:
    script.environment["PROCESSES"] = "3"
    commands = script.commands("evaluate", "quarter-dtg")
    assert [command[:5] for command in commands] == [["torchrun", "--nproc-per-node", "3", "-m", "dtg"]] * 4
    [blimp] = of([["dtg", *command[5:]] for command in commands], "evaluate", "blimp")
    assert (blimp["beam"], blimp["word_beam"], blimp["limit"]) == (10, 5, 100)


def test_what_was_not_trained_is_in_the_box(script: Script) -> None:
    def model(name: str) -> str:
        [options] = of(script.commands("whole", name), "evaluate", "ppl")
        return str(options["model"])

    assert [model(name) for name in ("dtg", "txl-tokens")] == ["dtg-mini", "txl-mini"]
    trained = script.folder / "work" / "runs" / "dtg" / "best"
    trained.mkdir(parents=True)
    assert model("dtg") == str(trained)


def test_mistakes(script: Script) -> None:
    assert "There is no model dgt; there are: dtg" in script.run("train", "dgt", code=2).stderr
    assert "There is no model dtg-seed1" in script.run("train", "dtg-seed1", code=2).stderr
    assert "a name: dtg" in script.run("evaluate", code=1).stderr
    assert "tools/results.sh prepare" in script.run("everything", code=2).stdout
    del script.environment["DTG_DATA"]
    assert "is to be the folder with ud/" in script.run("all", code=1).stderr
