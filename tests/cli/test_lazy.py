"""Commands are imported when they are called, and the list of them is right without that."""

import subprocess
import sys

import pytest
import typer

from dtg.cli.app import COMMANDS, app

GROUP = typer.main.get_command(app)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_found_and_has_help_of_its_own(name: str) -> None:
    command = GROUP.commands[name]  # type: ignore[attr-defined]
    assert command.name == name
    assert command.short_help == COMMANDS[name].summary
    assert command.help and command.help != COMMANDS[name].summary


def test_help_imports_no_command_and_no_trees() -> None:
    code = (
        "import sys\nfrom dtg.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "slow = ('dtg.cli.commands.', 'dtg.trees.', 'torch', 'numpy')\n"
        "print([name for name in sys.modules if name.startswith(slow)])"
    )
    done = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True)
    *help_lines, imported = done.stdout.splitlines()
    assert imported == "[]"
    assert all(any(line.split()[:1] == [name] for line in help_lines) for name in COMMANDS)


def test_a_misspelt_command_is_answered_by_the_nearest() -> None:
    done = subprocess.run([sys.executable, "-m", "dtg", "surprise"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "No such command 'surprise'. Did you mean 'surprisal'" in done.stderr
