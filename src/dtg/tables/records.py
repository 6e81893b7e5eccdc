"""Sentences from a column of a table, each with the other values of its row; and running text, split into sentences.

A table is CSV, TSV, JSON lines or Parquet, by its name. Values of CSV and TSV become numbers only where nothing is lost:
1 and 0.5 do, 001 and 0.50 remain text, in the whole column.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dtg.errors import InputError
from dtg.io.json_files import parse_json
from dtg.tables.columns import Column, Kind, Value
from dtg.tables.formats import DELIMITERS, FORMATS, read_rows
from dtg.tables.items import Item, Lines, OneText, ReadTree, Sentences
from dtg.text.documents import sentence_id
from dtg.text.sentence import Sentence
from dtg.text.words import ENGLISH, split_sentences
from dtg.trees import DependencyTree, read_brackets, read_conllu
from dtg.trees.reading import is_bracket_file

NAME = re.compile(r"[^\W\d][\w.-]{0,40}")  # what a column is called


class Records:
    """The sentences of a table's column. `carried` are the values of the row, in the order of `columns`."""

    typed, unit = False, "row"

    def __init__(self, path: Path, column: str) -> None:
        self.path, self.name, self.column = path, str(path), column
        kinds: dict[str, Kind | None] = {}
        self.size: int | None = 0
        for where, row in read_rows(path):
            self.size += 1
            if self.size == 1:
                kinds = dict.fromkeys(row)
                self._check_column(row)
            elif unknown := [name for name in row if name not in kinds]:
                raise InputError(f"{path}, {where}: the column {unknown[0]!r} is not in the first row.")
            for name, value in row.items():
                kinds[name] = common_kind(kinds[name], value)
        # A column without any value is one of text.
        self.kinds: dict[str, Kind] = {name: kind or str for name, kind in kinds.items()}
        self.columns = tuple(Column(name, kind, f"of {path.name}") for name, kind in self.kinds.items())
        self.empty = 0

    def _check_column(self, row: dict[str, Any]) -> None:
        if self.column not in row:
            raise InputError(f"{self.name} has no column {self.column!r}. It has: {', '.join(row)}.")

    def __iter__(self) -> Iterator[Item[str]]:
        self.empty = 0
        for number, (where, row) in enumerate(read_rows(self.path), start=1):
            text = row.get(self.column)
            if is_missing(text) or (isinstance(text, str) and not text.strip()):
                self.empty += 1
                continue
            if not isinstance(text, str):
                raise InputError(f"{self.path}, {where}: {self.column} is {text!r}; a sentence is expected.")
            values = tuple(converted(row.get(name), kind) for name, kind in self.kinds.items())
            written = json.dumps(values, ensure_ascii=False).encode("utf-8", "surrogatepass")
            yield Item(number, text, written, number, values)


class Paragraphs:
    """Sentences of running text: what other sentences (lines, or cells of a column) consist of, numbered from 1."""

    def __init__(self, source: Lines | OneText | Records, language: str = ENGLISH) -> None:
        self.language = language
        self.source, self.name, self.size = source, source.name, source.size
        self.typed, self.unit = source.typed, source.unit
        meaning = f"the {source.unit} of the input that the sentence is in, from 1"
        self.columns: Sequence[Column] = (Column("paragraph_id", int, meaning), *source.columns)
        self.paragraphs = self.sentences = 0

    @property
    def empty(self) -> int:
        return self.source.empty

    def __iter__(self) -> Iterator[Item[str]]:
        self.paragraphs = self.sentences = 0
        for item in self.source:
            self.paragraphs += 1
            for text in split_sentences(item.content, self.language):
                self.sentences += 1
                carried = (item.sentence_id, *item.carried)
                yield replace(
                    item,
                    sentence_id=self.sentences,
                    content=text,
                    written=item.written + text.encode(),
                    carried=carried,
                )


class TreebankSentences:
    """The words of a file of trees; multiword tokens are written as CoNLL-U writes them. `carried` is the sentence's id."""

    typed, unit, empty = False, "sentence", 0

    def __init__(self, path: Path) -> None:
        self.path, self.name, self.size = path, str(path), None
        self.columns: Sequence[Column] = (Column("sent_id", str, "what the file calls the sentence"),)

    def __iter__(self) -> Iterator[Item[Sentence]]:
        trees: Iterator[ReadTree]
        trees = read_brackets(self.path) if is_bracket_file(self.path) else read_conllu(self.path, roots="first")
        for tree in trees:
            assert tree.source is not None
            sentence = Sentence.of_tree(tree) if isinstance(tree, DependencyTree) else Sentence.of_words(tree.words)
            written = "\t".join((*tree.words, sentence.text)).encode()
            yield Item(tree.source.sentence, sentence, written, carried=(sentence_id(tree.source),))


def limited(sentences: Sentences, limit: int | None) -> Iterable[Item[str | Sentence]]:
    """The first sentences only."""
    items: Iterable[Item[str | Sentence]] = iter(sentences)
    for number, item in enumerate(items, start=1):
        yield item
        if number == limit:
            return


def looks_like_a_table(path: Path) -> bool:
    """Whether a file is a table by its name, or by its first two lines: columns with names, or a JSON object."""
    if Path(path.name.removesuffix(".gz")).suffix.lower() in {f".{known}" for known in FORMATS}:
        return True
    if not path.is_file():
        return False
    with path.open("rb") as file:
        first, second = (file.readline(10_000).decode("utf-8-sig", "replace").rstrip("\r\n") for _ in range(2))
    if first.startswith("{"):
        try:
            return isinstance(parse_json(first), dict)
        except ValueError:
            return False
    return any(is_header(first, second, delimiter) for delimiter in DELIMITERS.values())


def is_header(first: str, second: str, delimiter: str) -> bool:
    """Whether the first of two lines has names of columns, and the second as many fields."""
    try:
        names, fields = csv.reader([first, second], delimiter=delimiter)
    except (csv.Error, ValueError):
        return False
    return len(names) == len(fields) > 1 and all(NAME.fullmatch(name) for name in names)


def common_kind(kind: Kind | None, value: object) -> Kind | None:
    """The type of a column, given that of the values before and one more; None as long as all are missing."""
    found = kind_of(value)
    if kind is None or found is None or kind is found:
        return kind or found
    return float if {kind, found} == {int, float} else str


def kind_of(value: object) -> Kind | None:
    if is_missing(value):
        return None
    if isinstance(value, bool | int | float):
        return type(value)
    if isinstance(value, str):
        for kind in (int, float):
            try:
                if repr(kind(value)) == value and math.isfinite(float(value)):
                    return kind
            except (OverflowError, ValueError):
                continue
    return str


def converted(value: object, kind: Kind) -> Value:
    """A value of a column of that type; what is no number or text is written as JSON, or as it prints."""
    if is_missing(value):
        return None
    if kind is str:
        if isinstance(value, str):
            return value
        return (
            json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, list | dict | bool) else str(value)
        )
    assert isinstance(value, str | int | float)
    return kind(value)


def is_missing(value: object) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))
