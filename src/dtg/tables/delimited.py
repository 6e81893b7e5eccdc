"""Delimited text as programs of many makers write it: separators, quotes, encodings and names of rows are found out.

A spreadsheet with European settings writes semicolons in a .csv, R writes one name too few where rows have names, Windows
programs write other encodings than UTF-8, and tables with tabs often have quotation marks that are just part of a word.
"""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import TextIO

from dtg.errors import DamagedFileError

SPACE = " "
WINDOWS = "cp1252"  # what Windows programs write in Western Europe and America, if not UTF-8
QUOTED = re.compile(r'"(?:[^"]|"")*"')
BYTES_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True)
class Dialect:
    """How the values of a table are separated and encoded."""

    delimiter: str
    encoding: str = "utf-8-sig"
    has_quotes: bool = True
    skipped: int = 0  # lines before the names of the columns

    @classmethod
    def of(cls, path: Path, expected: str | None, *, guess_encoding: bool = False) -> Dialect:
        """That of a file, by its first line.

        Args:
            path: the file, which may be gzipped.
            expected: what its name says that values are separated by: a comma, a tab, or nothing.
            guess_encoding: what is not UTF-8 is taken for Windows-1252; otherwise reading it raises.
        """
        found = cls(expected or SPACE, encoding_of(path, guess=guess_encoding))
        with found.open(path) as file:
            first = file.readline()
            if told := re.fullmatch(r"sep=(.)\s*", first, re.IGNORECASE):  # which spreadsheets write for themselves
                return replace(found, delimiter=told[1], skipped=1)
        found = replace(found, delimiter=delimiter_of(first, expected))
        return replace(found, has_quotes=False) if found.delimiter == "\t" and found.has_bare_quotes(path) else found

    @contextmanager
    def open(self, path: Path) -> Iterator[TextIO]:
        """The file as text, from the names of its columns on."""
        opened = gzip.open if path.suffix.lower() == ".gz" else open
        with opened(path, "rt", encoding=self.encoding, newline="") as file:
            for _ in range(self.skipped):
                file.readline()
            yield file

    def has_bare_quotes(self, path: Path) -> bool:
        """Whether quotation marks are part of words: without regard to them all lines have equally many values."""
        counts, odd = set[int](), False
        with self.open(path) as file:
            for number, line in enumerate(file):
                values = line.rstrip("\r\n").split(self.delimiter)
                if number and len(values) > 1:
                    counts.add(len(values))
                odd = odd or any('"' in value and not QUOTED.fullmatch(value) for value in values)
        return odd and len(counts) == 1

    def rows(self, path: Path) -> Iterator[tuple[int, list[str], list[str]]]:
        """The line, the names of the columns and the values of each row; an empty line is no row."""
        with self.open(path) as file:
            is_spaced = self.delimiter == SPACE
            lines = (line.strip() + "\n" for line in file) if is_spaced else file
            reader = csv.reader(
                lines,
                delimiter=self.delimiter,
                strict=True,
                quoting=csv.QUOTE_MINIMAL if self.has_quotes else csv.QUOTE_NONE,
                skipinitialspace=is_spaced,
            )
            numbered = ((reader.line_num + self.skipped, values) for values in reader if values)
            try:
                names = [name.strip() for _, values in islice(numbered, 1) for name in values]
                first = list(islice(numbered, 2))
                if has_row_names(names, [values for _, values in first]):
                    names = ["", *names]
                for line, values in chain(first, numbered):
                    if len(values) != len(names):
                        raise DamagedFileError(
                            f"cannot read {path}, line {line}: there are {len(values)} fields under {len(names)} names."
                        )
                    yield line, names, values
            except csv.Error as error:
                line = reader.line_num + self.skipped
                raise DamagedFileError(f"cannot read {path}, line {line}: {error}.") from None


def has_row_names(names: list[str], first: list[list[str]]) -> bool:
    """Whether rows have names, for which R's write.table writes no name: one value too many, and another in each row."""
    is_wider = bool(first) and all(len(values) == len(names) + 1 for values in first)
    return is_wider and "" not in names and len({values[0] for values in first}) == len(first)


def encoding_of(path: Path, *, guess: bool) -> str:
    """UTF-8; UTF-16, if the file begins with its mark; Windows-1252, if it may be guessed and the file is not UTF-8."""
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    with opened(path, "rb") as file:
        if file.read(2) in (b"\xff\xfe", b"\xfe\xff"):
            return "utf-16"
    if not guess:
        return "utf-8-sig"
    with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
        try:
            while file.read(BYTES_AT_ONCE):
                pass
        except UnicodeDecodeError:
            return WINDOWS
    return "utf-8-sig"


def delimiter_of(first: str, expected: str | None) -> str:
    """What separates the names of columns: what is expected, if it is there; otherwise what occurs most often."""
    bare = re.sub(QUOTED, "", first.rstrip("\r\n"))
    counts = {known: bare.count(known) for known in (",", ";", "\t")}
    most = max(counts, key=lambda known: counts[known])
    if expected is not None:
        return expected if not counts[most] or counts[expected] >= counts[most] else most
    return most if counts[most] else SPACE
