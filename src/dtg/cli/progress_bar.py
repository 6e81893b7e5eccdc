"""A line on the error stream that shows how far something is, if that is a terminal; gone when it is done."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn


class ProgressBar:
    """Shown from `with` to its end; those who inherit say what is in it, with `update`."""

    def __init__(self, total: int | None, *, shown: bool) -> None:
        console = Console(stderr=True)
        columns = (SpinnerColumn(), BarColumn(), TextColumn("{task.description}"))
        self.on_terminal = console.is_terminal
        self.bar = Progress(*columns, console=console, transient=True, disable=not (shown and self.on_terminal))
        self.task = self.bar.add_task("", total=total)

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.stop()
