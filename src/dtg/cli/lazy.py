"""Commands that are imported when they are called: `dtg --help` and every other command start without them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
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
    """

    place: str
    summary: str
    command_class: str = "typer.core:TyperCommand"

    def load(self, name: str) -> Any:
        target = find(self.place)
        app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
        if not isinstance(target, typer.Typer):
            app.command(name, short_help=self.summary, cls=find(self.command_class))(target)
            return typer.main.get_command(app)
        app.add_typer(target, name=name, short_help=self.summary)
        group = typer.main.get_command(app)
        assert isinstance(group, TyperGroup)
        return group.commands[name]


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
