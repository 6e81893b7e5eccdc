"""The contract of every evaluation: a task measures items and makes metrics of them; `run` does everything else.

A task is stored, resumed, shared between processes, compared, printed and written by code that knows only what is said here.
`run.py` says how to call one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

from dtg.evaluation.intervals import Interval as Interval  # what others import from here, too
from dtg.evaluation.rendering import Block, Drawing
from dtg.language_model import LanguageModel
from dtg.tables.columns import Column
from dtg.tables.columns import Row as TableRow

Row = dict[str, Any]  # what is stored of an item: anything that JSON can hold
Item = dict[str, Any]  # a row of the table of items, by the names of its columns
Content = dict[str, Any]  # the numbers of results.json
Tables = dict[str, tuple[Sequence[Column], Sequence[TableRow]]]  # by the name of the file


@dataclass(frozen=True, slots=True)
class Metric:
    """One number of an evaluation, and what it is of.

    `rule` says by which convention it is counted (such as "per_word" or "first"), `level` what kind of group it is of
    (such as "phenomena"), `n` over how many items.
    """

    group: str
    name: str
    value: Interval
    n: int
    ties: int = 0
    rule: str = ""
    level: str = "overall"
    strata: int = 0  # over how many groups, where that says something


@dataclass(frozen=True, slots=True)
class Ready:
    """Rows that another tool has made, what they are called, and what identifies them."""

    name: str
    rows: Sequence[Row]
    settings: Mapping[str, Any]
    given: Mapping[str, Any]


class Task(Protocol):
    """Something to evaluate a model on. Inherit from it: what most tasks do alike is done here."""

    name: ClassVar[str]  # the kind of results.json
    table: ClassVar[str]  # the file with a row for each item, which models are compared by
    columns: ClassVar[Sequence[Column]]  # of that file; those that do not apply are left out
    row_name: ClassVar[str] = "sentence"  # what a row of it is about
    sentences_per_row: ClassVar[int] = 1

    @property
    def data(self) -> str:
        """Where the items come from, for people."""

    @property
    def data_sha256(self) -> str:
        """What identifies the items."""

    def for_model(self, model: LanguageModel) -> Self:
        """The same task with everything settled that depends on the model; raises what would fail after hours."""
        return self

    def ready(self) -> Ready | None:
        """Rows that are there already, and need no model."""
        return None

    def items(self) -> Sequence[Sequence[Any]]:
        """What is measured, in groups that are computed and stored together."""

    def settings(self) -> dict[str, Any]:
        """What decides the numbers, besides model and data."""

    def given(self) -> dict[str, Any]:
        """What is to be recorded but decides no numbers."""
        return {}

    def remarks(self) -> list[str]:
        """What happened while items were read or trees proposed: nothing is changed or left out in silence."""
        return []

    def search_remarks(self) -> list[str]:
        """What is to be said of the searches of this run, in this process; it is in no file."""
        return []

    def measure(self, model: LanguageModel, items: Sequence[Any]) -> list[Row]:
        """A row for each item, or for each part of one."""

    def summarize(self, rows: Sequence[Row], name: str) -> Content:
        """The numbers of results.json. `name` is the model's."""

    def tables(self, rows: Sequence[Row]) -> Tables:
        """Files of rows; one of them is `table`."""
        columns = [column for column in self.columns if column.name in rows[0]]
        return {self.table: (columns, [tuple(row[column.name] for column in columns) for row in rows])}

    def texts(self, rows: Sequence[Row]) -> dict[str, str]:
        """Other files to be written beside them, by name, such as a script."""
        return {}

    @classmethod
    def metrics(cls, content: Content) -> list[Metric]:
        """The metrics in the numbers of results.json, whichever version wrote them."""

    @classmethod
    def compared(
        cls, content: Content, ours: Sequence[Item], theirs: Sequence[Item], names: tuple[str, str]
    ) -> Content:
        """The numbers with a comparison of two models item by item: of this one, and of another."""

    @classmethod
    def comparison(cls, names: tuple[str, str], content: Content) -> list[Block]:
        """The main numbers of that comparison, for a terminal or a notebook."""

    def check_comparable(self, theirs: Sequence[Item], where: str) -> None:
        """Raise, before anything is computed, unless these results can be compared with those to come."""
        return

    @classmethod
    def page(cls, name: str, content: Content) -> list[Block]:
        """Everything, for results.md."""

    @classmethod
    def summary(cls, name: str, content: Content) -> list[Block]:
        """The main numbers, for a terminal or a notebook."""

    @classmethod
    def pictures(cls, name: str, content: Content) -> Mapping[str, Drawing]:
        """Pictures by the names of their files."""
        return {}
