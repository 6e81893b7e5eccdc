"""How frequent words are, by the list that comes with the package or by one of the user's own."""

from __future__ import annotations

import lzma
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dtg.errors import InputError
from dtg.io.hashing import file_hash
from dtg.tables.formats import number_in, read_rows

BUNDLED = Path(__file__).parent / "frequencies.tsv.xz"


@dataclass(frozen=True, slots=True)
class FrequencyList:
    """Counts of lower-cased words."""

    name: str
    sha256: str
    counts: Mapping[str, int]

    def log_frequency(self, word: str) -> float:
        """log2 of the count and one more. Of a compound with hyphens that is not in the list, that of its rarest part."""
        asked = normalized(word)
        if asked in self.counts or "-" not in asked:
            return math.log2(self.counts.get(asked, 0) + 1)
        return min(math.log2(self.counts.get(part, 0) + 1) for part in asked.split("-") if part)

    def knows(self, word: str) -> bool:
        """Whether the word, or each part of a compound, is in the list."""
        asked = normalized(word)
        return asked in self.counts or ("-" in asked and all(part in self.counts for part in asked.split("-") if part))


def normalized(word: str) -> str:
    """A word as the list has it: lower-cased, without what is not a letter or digit at its ends.

    >>> normalized('"Don’t!"'), normalized("dogs."), normalized("--")
    ("don't", 'dogs', '')
    """
    asked = word.lower().replace("’", "'")
    first, last = 0, len(asked)
    while first < last and not asked[first].isalnum():
        first += 1
    while last > first and not asked[last - 1].isalnum():
        last -= 1
    return asked[first:last]


def bundled_frequencies() -> FrequencyList:
    """The list that comes with the package; its first lines say what it was made of."""
    lines = lzma.decompress(BUNDLED.read_bytes()).decode("utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")][1:]
    return FrequencyList("bundled", file_hash(BUNDLED), {word: int(count) for word, count in rows})


def read_frequencies(path: Path) -> FrequencyList:
    """A table with columns `word` and `count`; the counts of words that differ in case only are added."""
    counts: dict[str, int] = {}
    for where, row in read_rows(path):
        if "word" not in row or "count" not in row:
            raise InputError(f"{path} must have columns word and count; it has {', '.join(map(str, row))}.")
        count = number_in(row, "count", int, f"{path}, {where}")
        if count is None or count < 0:
            raise InputError(f"{path}, {where}: count must be a whole number of at least 0; it is {row['count']!r}.")
        word = normalized(str(row["word"]))
        counts[word] = counts.get(word, 0) + int(count)
    if not counts:
        raise InputError(f"{path} has no words.")
    return FrequencyList(path.name, file_hash(path), counts)
