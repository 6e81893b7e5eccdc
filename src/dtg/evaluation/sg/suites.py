"""Test suites in the form of SyntaxGym (Hu et al. 2020): items in, sentences with the region of each word out.

An item is a few sentences, one for each condition, cut into the same regions. A region may be empty. Each is split into
words on its own, so a word never reaches over the end of a region. suite_files.py reads suites from files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from dtg.evaluation.sg.formulas import Truth

Metric = Literal["sum", "mean"]
METRICS: tuple[Metric, ...] = ("sum", "mean")


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a suite predicts of each of its items."""

    text: str
    formula: Truth


@dataclass(frozen=True, slots=True)
class Condition:
    """One sentence of an item; `regions` are numbered from 1, and may be empty."""

    name: str
    regions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """Sentences that are compared with each other; the order of the conditions differs between items."""

    number: int
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Suite:
    """A test suite; `metric` says how the surprisal of a region is made of those of its words."""

    name: str
    metric: Metric
    regions: tuple[str, ...]  # their names
    predictions: tuple[Prediction, ...]
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """Which sentence: a condition of an item of a suite."""

    suite: str
    item: int
    condition: str

    def __str__(self) -> str:
        return f"suite {self.suite}, item {self.item}, condition {self.condition}"


@dataclass(frozen=True, slots=True)
class SuiteSentence:
    """A sentence of a suite, and its number among all of them, from 1."""

    sentence_id: int
    key: Key
    regions: tuple[str, ...]

    @property
    def text(self) -> str:
        """The regions with one space between them; those that are empty leave nothing."""
        return " ".join(" ".join(region.split()) for region in self.regions if region.strip())

    def split(self) -> RegionWords:
        """The words as UD English writes them, region by region."""
        from dtg.text.words import split_words  # needs spaCy, which whoever brings surprisals can do without

        words = [(word.text, number) for number, region in enumerate(self.regions, 1) for word in split_words(region)]
        return RegionWords(tuple(word for word, _ in words), tuple(number for _, number in words))


@dataclass(frozen=True, slots=True)
class RegionWords:
    """A sentence's words, and for each the number of its region, from 1."""

    words: tuple[str, ...]
    regions: tuple[int, ...]


def suite_sentences(suites: Iterable[Suite]) -> Iterator[SuiteSentence]:
    """Every sentence of some suites, in their order; `sentence_id` counts them."""
    number = 0
    for suite in suites:
        for item in suite.items:
            for condition in item.conditions:
                number += 1
                yield SuiteSentence(number, Key(suite.name, item.number, condition.name), condition.regions)
