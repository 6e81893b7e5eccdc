"""Groups of options: what a user types reaches the command as one object; and one name means one thing in every command."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

import dtg.cli.commands
from dtg.cli.app import COMMANDS, app
from dtg.cli.groups import Without, takes_groups
from dtg.cli.lazy import answer_to
from dtg.cli.training import RunOptions

# Names whose default differs, each for a reason that the help says: results of a report and a demo have a folder by default;
# the bases of a table to be read, and of one to be written; trees of a parser or a model, and how log p is found; the list that
# is written, and the list whose best tree is scored; sentences that are left out, and those that are made up; a parser is
# trained in float32 unless told otherwise.
SEVERAL_MEANINGS = {"--precision", "--out", "--base", "--by", "--nbest", "--max-words", "--longest", "--sentence"}


@dataclass(frozen=True)
class Size:
    """A group."""

    width: Annotated[int, typer.Option(min=1, help="How wide.")] = 3
    is_round: Annotated[bool, typer.Option("--round", help="Without corners.")] = False
    colour: str = "red"


def made(received: list[Any]) -> Any:
    single = typer.Typer(add_completion=False)

    @single.command()
    @takes_groups
    def command(
        name: str, *, before: int = 1, size: Annotated[Size, Without("colour")], after: Annotated[str, typer.Option()]
    ) -> None:
        """What it does."""
        received.extend([name, before, size, after])

    return typer.main.get_command(single)


def test_a_group_is_its_fields() -> None:
    received: list[Any] = []
    command = made(received)
    assert [parameter.name for parameter in command.params] == ["name", "before", "width", "is_round", "after"]
    assert command.help == "What it does."
    command(["x", "--width", "5", "--round", "--after", "z"], standalone_mode=False)
    assert received == ["x", 1, Size(5, True), "z"]
    received.clear()
    command(["x", "--after", "z"], standalone_mode=False)
    assert received == ["x", 1, Size(), "z"]
    assert "How wide." in CliRunner().invoke(as_app(command), ["--help"]).output
    with pytest.raises(Exception, match=r"--colour"):  # of typer, whichever click it has
        command(["x", "--after", "z", "--colour", "blue"], standalone_mode=False)


def as_app(command: Any) -> Any:
    """What the runner takes, which is an application, as the command that it has been made into."""
    whole = typer.Typer(add_completion=False)
    whole.command()(command.callback)
    return whole


def test_old_names_are_answered_with_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    received: list[Any] = []
    command = made(received)
    answer_to({"--breadth": "--width"}, command)
    for old in (["--breadth", "7"], ["--breadth=7"]):
        received.clear()
        command(["x", "--after", "z", *old], standalone_mode=False)
        assert received[2] == Size(7)
        assert capsys.readouterr().err == "dtg: --breadth is called --width now; it still works.\n"


def commands(group: Any = None, names: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    for name, command in vars(group or typer.main.get_command(app))["commands"].items():
        if "commands" in vars(command):
            yield from commands(command, (*names, name))
        else:
            yield " ".join((*names, name)), command


def test_one_name_means_one_thing() -> None:
    """The same option has the same default, and is a flag or takes a value, wherever it is; but for those listed above."""
    found: defaultdict[str, dict[tuple[Any, bool], list[str]]] = defaultdict(dict)
    for name, command in commands():
        for option in command.params:
            if option.param_type_name == "option" and not option.hidden and not option.required:
                kind = (str(option.default), bool(option.is_flag))
                for written in option.opts:
                    found[written].setdefault(kind, []).append(name)
    differing = {name: kinds for name, kinds in found.items() if len(kinds) > 1}
    assert set(differing) <= SEVERAL_MEANINGS, differing
    assert len(COMMANDS) <= len(list(commands()))


def test_commands_parse_call_and_print() -> None:
    """Each in under 80 lines; `prepare` and `surprisal`, which have most options, in under 110."""
    folder = Path(next(iter(dtg.cli.commands.__path__)))
    lengths = {
        node.name: (node.end_lineno or 0) - node.lineno + 1
        for path in folder.rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }
    assert {name for name, lines in lengths.items() if lines >= 80} <= {"prepare", "surprisal"}
    assert max(lengths.values()) < 110


def test_how_a_run_is_resumed_says_what_was_given() -> None:
    run = RunOptions(True, 5.0, "bf16", "cpu", 2, ["wandb", "tensorboard"], score_test=True)
    assert run.written() == (
        " --precision bf16 --device cpu --threads 2 --log-with wandb --log-with tensorboard --score-test"
    )
    assert RunOptions().written() == ""
