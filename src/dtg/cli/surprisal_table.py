"""Surprisals of sentences by one or more models: as rows of a table, and for the terminal with a bar for each word."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dtg.cli.loading import NamedModel, provenance
from dtg.cli.output.destination import Destination
from dtg.cli.output.tables import Work
from dtg.cli.searching import Search
from dtg.cli.sentences import LengthWarning
from dtg.errors import InputError
from dtg.scoring.columns import RUN_COLUMNS, SURPRISAL_COLUMNS, Per, carried_columns, measure_columns, surprisal_rows
from dtg.scoring.picture import MOST_PANELS, SurprisalPanel, draw_panels
from dtg.scoring.surprisal import SentenceSurprisal
from dtg.tables.columns import NATS, UNITS, Base, Column, Row, Value
from dtg.tables.items import Item, OneText, Sentences
from dtg.tables.records import Paragraphs, limited
from dtg.tables.sidecar import Sidecar
from dtg.text.sentence import Sentence

BAR = 12  # cells
NARROWEST = 72  # cells
TITLE_VALUE = 40  # characters: longer values of a table do not stand above a panel
EIGHTHS = " ▏▎▍▌▋▊▉█"
LOGARITHMS: dict[Base, str] = {"2": "log₂", "e": "ln"}


@dataclass(frozen=True, slots=True)
class SurprisalTable:
    """Sentences, the models that read them, and how their surprisals are written."""

    models: Sequence[NamedModel]
    sentences: Sentences
    search: Search
    base: Base
    per: Per
    end: bool
    length_warning: LengthWarning
    # How the input was read; None where an option is not given.
    reading: Mapping[str, Any]

    @property
    def columns(self) -> tuple[Column, ...]:
        return (*SURPRISAL_COLUMNS, *measure_columns(self.measures), *RUN_COLUMNS, *self.carried)

    @property
    def measures(self) -> tuple[str, ...]:
        """The columns asked for, as the models have them."""
        return tuple(dict.fromkeys(name for model in self.models for name in self.search.column_names(model.model)))

    @property
    def carried(self) -> tuple[Column, ...]:
        return carried_columns(self.sentences.columns, self.measures)

    def work(self) -> Work[str | Sentence, list[SentenceSurprisal]]:
        """What is computed for the sentences, and the rows it becomes: those of the first model, then the next."""
        if isinstance(self.sentences, Paragraphs):
            self.sentences.language = self.models[0].model.language
        items = limited(self.sentences, self.reading["limit"])
        columns, group = self.columns, self.search.group_size(self.sentences)
        for given, column in zip(self.sentences.columns, self.carried, strict=True):
            if given.name != column.name:
                typer.echo(f"dtg: the input's column {given.name} is called {column.name} in the table.", err=True)
        tallies = (self.length_warning, self.search.kept)
        return Work(items, self.sentences.size, self.compute, self.rows, columns, group, tallies)

    def compute(self, items: Iterator[Item[str | Sentence]]) -> Iterator[list[SentenceSurprisal]]:
        """Every model's answer to each sentence."""
        if len(self.models) == 1:
            return ([found] for found in self.search.surprisals(self.models[0].model, items))
        group = list(items)
        answers = [self.search.surprisals(model.model, group) for model in self.models]
        return map(list, zip(*answers, strict=True))

    def rows(self, item: Item[str | Sentence], results: Sequence[SentenceSurprisal]) -> list[Row]:
        """The rows of one sentence."""
        self.length_warning.check(item, len(results[0].sentence))
        found: list[Row] = []
        options = {"base": self.base, "per": self.per, "end": self.end, "measures": self.measures}
        for model, result in zip(self.models, results, strict=True):
            run: Row = (model.name, UNITS[self.base], self.search.options.beam)
            rows = surprisal_rows(result, item.sentence_id, **options)  # type: ignore[arg-type]
            found += [(*row, *run, *item.carried) for row in rows]
        return found

    def sidecar(self, to: Destination) -> Sidecar:
        """What is to be known about the table besides its rows."""
        families, hashes, folders = (
            several[0] if len(self.models) == 1 else several
            for several in (
                [one.model.config.family for one in self.models],
                [one.sha256 for one in self.models],
                [str(one.folder) for one in self.models],
            )
        )
        settings = {
            "unit": UNITS[self.base],
            **self.search.settings,
            "per": self.per,
            "end": self.end,
            **self.reading,
            "format": to.format,
            "family": families,
            "model_sha256": hashes,
            "device": str(self.models[0].model.device),
        }
        return provenance("surprisal", settings, {"model": folders, "input": self.sentences.name}, self.columns)

    def show(self, pictures: Sequence[Path]) -> None:
        """Print a table for each sentence and model, and draw the pictures, a panel for each sentence."""
        console, work, panels = Console(highlight=False), self.work(), []
        console.width = max(console.width, NARROWEST)  # on less, columns would be left out
        if pictures:
            work = replace(work, items=few(work.items))
        for item, results in work.results():
            self.length_warning.check(item, len(results[0].sentence))
            for model, result in zip(self.models, results, strict=True):
                titles = [] if isinstance(self.sentences, OneText) else [f"sentence {item.sentence_id}"]
                titles += [model.name] if len(self.models) > 1 else []
                if titles:
                    console.print(Text(", ".join(titles), style="bold"))
                console.print(surprisal_view(result, self.base, self.per, self.end))
                console.print(Text(self.summary(model, result)), soft_wrap=True)
            if pictures:
                panels.append(self.panel(item, results))
        for path in pictures if panels else ():
            draw_panels(path, panels, UNITS[self.base])
            typer.echo(f"dtg: drew {path}.", err=True)

    def summary(self, model: NamedModel, result: SentenceSurprisal) -> str:
        """The line below a table: log p(sentence), and what is known about it."""
        nats, unit = NATS[self.base], UNITS[self.base]
        known = model.known if model.known == "exact" else f"{model.known} by {self.search.options.short_title}"
        return (
            f"{LOGARITHMS[self.base]} p(sentence) = {result.log_probability / nats:.2f} {unit}, {known}; "
            f"<END> is {result.end_surprisal / nats:.2f} of it\n"
        )

    def panel(self, item: Item[str | Sentence], results: Sequence[SentenceSurprisal]) -> SurprisalPanel:
        """The bars of one sentence: one for each row of its table and each model."""
        names = [column.name for column in SURPRISAL_COLUMNS]
        tables = {
            model.name: [
                dict(zip(names, row, strict=True))
                for row in surprisal_rows(result, item.sentence_id, base=self.base, per=self.per, end=self.end)
            ]
            for model, result in zip(self.models, results, strict=True)
        }
        first = next(iter(tables.values()))
        return SurprisalPanel(
            [str(row["word"]) for row in first],
            {name: [number(row["surprisal"]) for row in rows] for name, rows in tables.items()},
            {
                model.name: [number(row["structural"]) for row in tables[model.name]]
                for model in self.models
                if model.model.has_trees
            },
            self.title(item),
        )

    def title(self, item: Item[str | Sentence]) -> str:
        """What tells a sentence from the others of a picture: its row's other columns, or its number."""
        if isinstance(self.sentences, OneText):
            return ""
        told = [
            f"{column.name} {value}"
            for column, value in zip(self.sentences.columns, item.carried, strict=True)
            if value not in (None, "", item.content) and len(str(value)) <= TITLE_VALUE
        ]
        return ", ".join(told) or f"{self.sentences.unit} {item.sentence_id}"


def few(items: Iterable[Item[str | Sentence]]) -> list[Item[str | Sentence]]:
    """The sentences of a picture; raises if they are too many for one."""
    found = list(islice(items, MOST_PANELS + 1))
    if len(found) > MOST_PANELS:
        raise InputError(
            f"a picture shows at most {MOST_PANELS} sentences, and here are more. Pass --limit {MOST_PANELS}, or a file with "
            "the sentences that are to be seen together."
        )
    return found


def surprisal_view(result: SentenceSurprisal, base: Base, per: Per, end: bool) -> Table:
    """The columns that fit 80 cells."""
    names = [column.name for column in SURPRISAL_COLUMNS]
    rows = [dict(zip(names, row, strict=True)) for row in surprisal_rows(result, 1, base=base, per=per, end=end)]
    largest = max(number(row["surprisal"]) for row in rows)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("word", max_width=18, overflow="fold")
    table.add_column(f"surprisal, {UNITS[base]}", no_wrap=True)
    for name in ("lexical", "structural", "entropy", "depth", "kept"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        value, kept = number(row["surprisal"]), row["kept"]
        table.add_row(
            Text(printable(str(row["word"]))),
            Text.assemble(f"{value:6.2f} ", (bar(value, largest), "cyan")),
            *(two_places(row[name]) for name in ("lexical", "structural", "entropy", "stack_depth")),
            "" if kept is None else share(number(kept)),
        )
    return table


def bar(value: float, largest: float) -> str:
    """A bar of at most BAR cells, in eighths of a cell.

    >>> bar(1.0, 2.0).rstrip()
    '██████'
    """
    if not largest > 0 or not value > 0:
        return ""
    whole, eighths = divmod(round(8 * BAR * min(1.0, value / largest)), 8)
    return ("█" * whole + EIGHTHS[eighths]).rstrip()


def printable(word: str) -> str:
    r"""A word that cannot steer a terminal: an escape character becomes \x1b."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in word)


def share(kept: float) -> str:
    """Per cent, rounded down: 100 % says that nothing was lost.

    >>> share(0.99999), share(1.0)
    ('99.9%', '100%')
    """
    return "100%" if kept >= 1 else f"{math.floor(1000 * kept) / 10:.1f}%"


def two_places(value: Value) -> str:
    return "" if value is None else f"{number(value):.2f}"


def number(value: Value) -> float:
    assert isinstance(value, float | int)
    return float(value)
