"""Commands that are imported when they are called: `dtg --help` and every other command start without them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

import typer
from typer.core import TyperGroup


@dataclass(frozen=True)
class LazyCommand:
    """Where a command is found, and its line in the list of commands.

    Args:
        place: MODULE:NAME of a function, or of a `typer.Typer` with commands of its own.
        summary: what `dtg --help` says about it.
        command_class: MODULE:NAME of the class that parses it.
        renamed: what its options were called before (of a group, by command), with their names of today.
    """

    place: str
    summary: str
    command_class: str = "typer.core:TyperCommand"
    renamed: Mapping[str, Any] = field(default_factory=dict)

    def load(self, name: str) -> Any:
        target = find(self.place)
        app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
        if not isinstance(target, typer.Typer):
            app.command(name, short_help=self.summary, cls=find(self.command_class))(target)
            command = typer.main.get_command(app)
            answer_to(self.renamed, command)
            return command
        app.add_typer(target, name=name, short_help=self.summary)
        group = typer.main.get_command(app)
        assert isinstance(group, TyperGroup)
        for one, renamed in self.renamed.items():
            answer_to(renamed, group.commands[name].commands[one])  # type: ignore[attr-defined]  # a group, too
        return group.commands[name]


def answer_to(renamed: Mapping[str, str], command: Any) -> None:
    """Let a command know the names that its options had; that they have changed is said."""
    parse = command.parse_args

    def todays(argument: str) -> str:
        name, sign, value = argument.partition("=")
        if name not in renamed:
            return argument
        typer.echo(f"dtg: {name} is called {renamed[name]} now; it still works.", err=True)
        return f"{renamed[name]}{sign}{value}"

    def parse_args(ctx: Any, args: list[str]) -> Any:
        return parse(ctx, list(map(todays, args)))

    if renamed:
        command.parse_args = parse_args


def find(place: str) -> Any:
    """Import MODULE:NAME."""
    module, name = place.split(":")
    return getattr(importlib.import_module(module), name)


class LazyCommands(MutableMapping[str, Any]):
    """Commands by name; looking one up imports it."""

    def __init__(self, table: dict[str, LazyCommand]) -> None:
        self.table = table
        self.loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self.loaded:
            self.loaded[name] = self.table[name].load(name)
        return self.loaded[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self.loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self.loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**self.table, **self.loaded})

    def __len__(self) -> int:
        return len({**self.table, **self.loaded})


class LazyGroup(TyperGroup):
    """A group of commands whose list is printed from a table, without importing them."""

    table: dict[str, LazyCommand]

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = LazyCommands(self.table)

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.summary) for name, command in self.table.items()])
