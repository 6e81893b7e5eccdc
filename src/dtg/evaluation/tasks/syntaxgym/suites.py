"""Test suites in the form of SyntaxGym (Hu et al. 2020): what they consist of, and how their JSON files are read.

An item is a few sentences, one for each condition, cut into the same regions. A region may be empty. Each is split into
words on its own, so a word never reaches over the end of a region.

    {"meta": {"name": "number_prep", "metric": "sum"}, "region_meta": {"1": "intro", "2": "np", ...},
     "predictions": [{"type": "formula", "formula": "..."}],
     "items": [{"item_number": 1, "conditions": [{"condition_name": "match", "regions": [
         {"region_number": 1, "content": "The"}, ...]}]}]}

Other members are allowed and not looked at. What is wrong is named: file, item, condition, region.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from dtg.errors import InputError
from dtg.evaluation.tasks.syntaxgym.formulas import Truth, parse_formula, regions_of
from dtg.io.json_files import parse_json

Kind = TypeVar("Kind", str, int, list[Any], dict[str, Any])
KINDS: Mapping[type, str] = {str: "a text", int: "a whole number", list: "a list", dict: "an object"}

Aggregation = Literal["sum", "mean"]
AGGREGATIONS: tuple[Aggregation, ...] = ("sum", "mean")


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
class SuiteItem:
    """Sentences that are compared with each other; the order of the conditions differs between items."""

    number: int
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Suite:
    """A test suite; `metric` says how the surprisal of a region is made of those of its words."""

    name: str
    metric: Aggregation
    regions: tuple[str, ...]  # their names
    predictions: tuple[Prediction, ...]
    items: tuple[SuiteItem, ...]


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

    def split(self, language: str = "en") -> RegionWords:
        """The words by the rules of a language, region by region."""
        from dtg.text.words import split_words  # imports torch, which whoever brings surprisals can do without

        words = [
            (word.text, number)
            for number, region in enumerate(self.regions, start=1)
            for word in split_words(region, language)
        ]
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


def read_suites(path: Path) -> tuple[Suite, ...]:
    """The suite of a file, or those of all .json files of a folder, by name."""
    if not path.exists():
        raise InputError(f"cannot read suites from {path}: there is no such file or folder.")
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not files:
        raise InputError(f"there are no suites in {path}: files that end in .json are expected.")
    suites = [(read_suite(file), file) for file in files]
    first = {suite.name: file for suite, file in reversed(suites)}
    for suite, file in suites:
        if first[suite.name] != file:
            raise InputError(f"{first[suite.name]} and {file} are both called {suite.name!r}; a name is expected once.")
    return tuple(sorted((suite for suite, _ in suites), key=lambda suite: suite.name))


def read_suite(path: Path) -> Suite:
    """The suite of one file."""
    try:
        content = parse_json(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from None
    except UnicodeDecodeError as error:
        raise InputError(f"cannot read {path}: byte {error.start + 1} of the file is not UTF-8.") from None
    except ValueError as error:
        raise InputError(f"cannot read {path}: it is not JSON ({error}).") from None
    try:
        return suite_of(content)
    except InputError as error:
        raise InputError(f"cannot read {path}{error}") from None


def suite_of(content: Any) -> Suite:
    """A suite from what its JSON holds. Messages begin with the place within the file."""
    if not isinstance(content, dict):
        raise InputError(": a SyntaxGym suite is expected, an object with meta, region_meta, predictions and items.")
    meta = member(content, "meta", dict, "")
    name, metric = member(meta, "name", str, ", meta"), member(meta, "metric", str, ", meta")
    if metric not in AGGREGATIONS:
        raise InputError(f", meta: there is no metric {metric!r}; {' and '.join(AGGREGATIONS)} are known.")
    numbered = member(content, "region_meta", dict, "")
    numbers = [str(number) for number in range(1, len(numbered) + 1)]
    if sorted(numbered) != sorted(numbers) or not numbers:
        raise InputError(
            f", region_meta: regions must be numbered 1, 2, 3 ...; they are {', '.join(numbered) or 'none'}."
        )
    regions = tuple(member(numbered, number, str, ", region_meta") for number in numbers)
    items = tuple(
        item_of(item, place, len(regions)) for place, item in enumerate(member(content, "items", list, ""), start=1)
    )
    if not items:
        raise InputError(": it has no items.")
    check_items(items)
    conditions = {condition.name for condition in items[0].conditions}
    predictions = tuple(
        prediction_of(prediction, f", prediction {place}", len(regions), conditions)
        for place, prediction in enumerate(member(content, "predictions", list, ""), start=1)
    )
    if not predictions:
        raise InputError(": it has no predictions.")
    return Suite(name, "sum" if metric == "sum" else "mean", regions, predictions, items)


def item_of(content: Any, place: int, regions: int) -> SuiteItem:
    number = member(content, "item_number", int, f", the item in place {place}")
    where = f", item {number}"
    conditions = [
        condition_of(condition, f"{where}, the condition in place {place}", where, regions)
        for place, condition in enumerate(member(content, "conditions", list, where), start=1)
    ]
    return SuiteItem(number, tuple(conditions))


def condition_of(content: Any, unnamed: str, item: str, regions: int) -> Condition:
    name = member(content, "condition_name", str, unnamed)
    where = f"{item}, condition {name}"
    found = member(content, "regions", list, where)
    numbers = [member(region, "region_number", int, f"{where}, a region") for region in found]
    if numbers != list(range(1, regions + 1)):
        raise InputError(f"{where}: regions 1 to {regions} are expected, in order; they are {numbers}.")
    contents = tuple(
        member(region, "content", str, f"{where}, region {number}") for number, region in enumerate(found, start=1)
    )
    if not any(region.strip() for region in contents):
        raise InputError(f"{where}: every region is empty; a sentence needs words.")
    return Condition(name, contents)


def check_items(items: tuple[SuiteItem, ...]) -> None:
    """Numbers occur once, and every item has each condition once."""
    numbers = Counter(item.number for item in items)
    if (most := numbers.most_common(1)[0])[1] > 1:
        raise InputError(f", item {most[0]}: {most[1]} items have this number; each is expected to have its own.")
    names = list(dict.fromkeys(condition.name for item in items for condition in item.conditions))
    for item in items:
        counts = Counter(condition.name for condition in item.conditions)
        for name in names:
            if counts[name] == 0:
                raise InputError(f", item {item.number}: there is no condition {name}, which other items have.")
            if counts[name] > 1:
                raise InputError(f", item {item.number}: there are {counts[name]} conditions {name}; one is expected.")


def prediction_of(content: Any, where: str, regions: int, conditions: set[str]) -> Prediction:
    if (kind := member(content, "type", str, where)) != "formula":
        raise InputError(f"{where}: its type is {kind!r}; 'formula' is the only one known.")
    text = member(content, "formula", str, where)
    try:
        formula = parse_formula(text)
    except InputError as error:
        raise InputError(f"{where}, {error}") from None
    for region in regions_of(formula):
        at = f"{where}, character {region.position} of the formula"
        if region.condition not in conditions:
            known = ", ".join(sorted(conditions))
            raise InputError(f"{at}: there is no condition {region.condition}. There are: {known}.")
        if region.number is not None and not 1 <= region.number <= regions:
            raise InputError(f"{at}: there is no region {region.number}; there are regions 1 to {regions}.")
    return Prediction(text, formula)


def member(content: Any, name: str, kind: type[Kind], where: str) -> Kind:
    """A member of a JSON object, if it is there and of its kind."""
    if not isinstance(content, dict):
        raise InputError(f"{where}: an object is expected, not {json.dumps(content)[:40]}.")
    if name not in content:
        raise InputError(f"{where}: {name!r} is missing.")
    value = content[name]
    if type(value) is not kind:  # not isinstance: JSON's true is no number
        raise InputError(f"{where}: {name!r} must be {KINDS[kind]}; it is {json.dumps(value)[:40]}.")
    return value
