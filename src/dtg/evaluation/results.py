"""The results of one model on one task: metrics, rows, comparison with another model, and the folder they are kept in.

    FOLDER/results.json    every number, and the settings that decide them
    FOLDER/results.md      the same for people
    FOLDER/*.csv           rows for one's own analysis
    FOLDER/*.svg, *.png    pictures, where matplotlib is installed

The same results make the same files, byte by byte: there is no date in them, and no speed. What was computed on the way is kept
beside them (storage.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dtg.errors import InputError, MissingExtraError
from dtg.evaluation.comparison import other_name
from dtg.evaluation.contract import Content, Item, Metric, Tables, Task
from dtg.evaluation.rendering import Block, as_html, as_markdown, as_text
from dtg.evaluation.storage import SETTINGS
from dtg.io.atomic import replacing
from dtg.io.json_files import FORMAT_VERSION, parse_json, write_json
from dtg.tables.columns import Column
from dtg.tables.columns import Row as TableRow
from dtg.tables.formats import Encoder, format_of, number_in, read_rows

if TYPE_CHECKING:
    import pandas

RESULTS, PAGE = "results.json", "results.md"


@dataclass(frozen=True)
class Results:
    """What a model has achieved on a task.

    `metrics` are its numbers, `rows` a frame with a row for each item, `compare` sets it beside another model's; `content` is
    what results.json holds of it. Shown in a notebook, it is a table.
    """

    task: type[Task]
    name: str  # of the model
    content: Content
    settings: Mapping[str, Any] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)
    tables: Tables = field(default_factory=dict, repr=False)
    folder: Path | None = None
    notes: tuple[str, ...] = ()  # what was changed or left out on the way
    texts: Mapping[str, str] = field(default_factory=dict, repr=False)  # other files, by name
    is_drawn: bool = True  # false if pictures are missing in the folder, which need matplotlib

    @property
    def metrics(self) -> list[Metric]:
        """Every number with its interval."""
        return self.task.metrics(self.content)

    @property
    def items(self) -> list[Item]:
        """What is known of each item, by the names of the columns."""
        if self.task.table in self.tables:
            columns, rows = self.tables[self.task.table]
            return [dict(zip((column.name for column in columns), row, strict=True)) for row in rows]
        assert self.folder is not None
        return read_items(self.folder / self.task.table, self.task.columns)

    @property
    def rows(self) -> pandas.DataFrame:
        """A frame with a row for each item; needs pandas."""
        try:
            import pandas
        except ImportError:
            raise MissingExtraError("pandas", "tables", "a frame of results") from None
        return pandas.DataFrame(self.items)

    def compare(self, other: Results) -> Comparison:
        """This model and another on the same items.

        Args:
            other: results of the same task.

        Returns:
            A comparison whose `content` has the paired tests; shown, it is a table.
        """
        if other.task is not self.task:
            raise InputError(f"results of {self.task.name} and of {other.task.name} do not compare.")
        names = (self.name, other_name(self.name, other.name, other.folder.name if other.folder else "2"))
        return Comparison(self.task, names, self.task.compared(self.content, self.items, other.items, names))

    def page(self) -> str:
        """Everything, as Markdown."""
        return as_markdown(self.task.page(self.name, self.content))

    def summary(self) -> str:
        """The main numbers, as text."""
        return as_text(self.task.summary(self.name, self.content))

    def __repr__(self) -> str:
        return self.summary().rstrip("\n")

    def _repr_html_(self) -> str:
        return as_html(self.task.summary(self.name, self.content))

    def as_dict(self) -> dict[str, Any]:
        """What results.json holds."""
        return {
            "format_version": FORMAT_VERSION,
            "kind": self.task.name,
            "settings": dict(self.settings),
            "given": dict(self.given),
            "seconds": None,  # not known here: a run may be many runs, and the file is the same for all of them
            **self.content,
        }

    def write(self, folder: Path) -> bool:
        """Write all files; false if matplotlib is not installed, which pictures need."""
        for name, (columns, rows) in self.tables.items():
            write_rows(folder / name, columns, rows)
        for name, text in self.texts.items():
            write_text(folder / name, text)
        is_drawn = True
        for name, chart in self.task.pictures(self.name, self.content).items():
            try:
                for suffix in (".svg", ".png"):
                    chart.draw(folder / f"{name}{suffix}")
            except MissingExtraError:
                is_drawn = False
        write_text(folder / PAGE, self.page())
        write_json(folder / RESULTS, self.as_dict())  # comes last, and makes the folder a finished one
        return is_drawn

    @classmethod
    def read(cls, folder: str | Path, task: type[Task]) -> Results:
        """The results of a task in a folder, by whichever version they were written."""
        folder = Path(folder)
        content = read_content(folder, task.name)
        about = {name: content.pop(name, {}) for name in ("settings", "given")}
        return cls(task, str(about["given"].get("name", folder.name)), content, **about, folder=folder)


@dataclass(frozen=True)
class Comparison:
    """Two models on the same items; `content` are the numbers of the first one, with the comparison."""

    task: type[Task]
    names: tuple[str, str]
    content: Content

    def blocks(self) -> list[Block]:
        return self.task.comparison(self.names, self.content)

    def __repr__(self) -> str:
        return as_text(self.blocks()).rstrip("\n")

    def _repr_html_(self) -> str:
        return as_html(self.blocks())


def read_content(folder: Path, kind: str) -> dict[str, Any]:
    """The numbers of a finished evaluation of this kind."""
    path = folder / RESULTS
    if not path.is_file():
        if (folder / SETTINGS).is_file():
            raise InputError(f"the results in {folder} are not finished: there is no {RESULTS} yet. Finish them first.")
        raise InputError(f"there are no results in {folder}: a folder with results of {kind} is expected.")
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise InputError(f"cannot read {path}: {error}. Evaluate {kind} again.") from None
    if not isinstance(content, dict) or content.get("format_version") != FORMAT_VERSION:
        raise InputError(f"{path} is not a file of results that this dtg reads (format_version {FORMAT_VERSION}).")
    if content.get("kind") != kind:
        raise InputError(f"{path} has results of {content.get('kind')}, not of {kind}.")
    for name in ("settings", "given"):
        if not isinstance(content.get(name), dict):
            raise InputError(f"{path} is damaged: {name!r} is missing or no object. Evaluate {kind} again.")
    return content


def read_items(path: Path, columns: Sequence[Column]) -> list[Item]:
    """The rows of a table that `Results.write` has written."""
    kinds = {column.name: column.kind for column in columns}

    def value(row: dict[str, Any], name: str, where: str) -> Any:
        kind = kinds.get(name, str)
        return row[name] if issubclass(kind, str) else number_in(row, name, kind, where)

    return [{name: value(row, name, f"{path}, {where}") for name in row} for where, row in read_rows(path)]


def write_text(path: Path, text: str) -> None:
    """Write a file whole, or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_rows(path: Path, columns: Sequence[Column], rows: Iterable[TableRow]) -> None:
    """Write a table, in the format that its name says."""
    encoder = Encoder(format_of(path), columns)
    with replacing(path) as temporary:
        temporary.write_bytes(encoder.header() + encoder.encode(list(rows)))
