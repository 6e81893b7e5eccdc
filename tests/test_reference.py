"""Today's numbers are those of the reference: random models, the bundled ones, and those saved long ago.

tests/reference/cases.py says what is computed, calls.py how dtg is called for it, make.py wrote the JSON.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from tests.reference import cases
from tests.reference.calls import HERE, Json, family_names
from tests.reference.make import rounded

MOST_SHOWN = 20
FRESH = "fresh weights"  # in float32, by torch's generator, whose last bit depends on the processor


@cache
def content_of(file: str) -> dict[str, dict[str, Json]]:
    """A file of the reference, read once."""
    content: dict[str, dict[str, Json]] = json.loads((HERE / file).read_text(encoding="utf-8"))
    return content


@dataclass(frozen=True)
class Part:
    """A file of the reference, the cases that it is compared with, and how far numbers may be apart."""

    file: str
    cases: dict[str, cases.Case]
    tolerance: float  # absolute or relative, whichever allows more

    def expected(self) -> dict[str, dict[str, Json]]:
        return content_of(self.file)

    def names(self) -> list[tuple[str, str]]:
        return [(case, quantity) for case, quantities in self.cases.items() for quantity in quantities]

    def check(self, case: str, quantity: str) -> None:
        expected, found = self.expected()[case][quantity], self.cases[case][quantity]()
        tolerance = max(self.tolerance, 1e-6) if quantity == FRESH else self.tolerance
        wrong = list(differences(expected, found, tolerance))
        shown = "\n".join(wrong[:MOST_SHOWN])
        assert not wrong, f"{case}: {quantity}: {len(wrong)} differences (place: reference, now)\n{shown}"


def differences(expected: Json, found: Json, tolerance: float, place: str = "") -> Iterator[str]:
    """Where two values differ; numbers with a fraction may by a little, all else must be equal, to the type."""
    if type(expected) is not type(found):
        yield f"{place}: {expected!r}, {found!r}"
    elif isinstance(expected, dict):
        if list(expected) != list(found):
            yield f"{place}: keys {list(expected)}, {list(found)}"
        for key in [key for key in expected if key in found]:
            yield from differences(expected[key], found[key], tolerance, f"{place}[{key!r}]")
    elif isinstance(expected, list):
        if len(expected) != len(found):
            yield f"{place}: {len(expected)} items, {len(found)}"
        for number, (one, other) in enumerate(zip(expected, found, strict=False)):
            yield from differences(one, other, tolerance, f"{place}[{number}]")
    elif isinstance(expected, float):
        if not (math.isclose(expected, found, rel_tol=tolerance, abs_tol=tolerance) or expected != expected != found):
            yield f"{place}: {expected!r}, {found!r}"
    elif expected != found:
        yield f"{place}: {expected!r}, {found!r}"


RANDOM = Part("random.json", cases.random_cases(), 1e-9)
BUNDLED = Part("bundled.json", cases.bundled_cases(), 1e-4)
SAVED = Part("saved.json", cases.saved_cases(), 1e-6)
PARTS = (RANDOM, BUNDLED, SAVED)


@pytest.mark.parametrize(("case", "quantity"), RANDOM.names())
def test_random_models(case: str, quantity: str) -> None:
    RANDOM.check(case, quantity)


@pytest.mark.slow
@pytest.mark.parametrize(("case", "quantity"), BUNDLED.names())
def test_what_is_in_the_box(case: str, quantity: str) -> None:
    BUNDLED.check(case, quantity)


@pytest.mark.parametrize(("case", "quantity"), SAVED.names())
def test_what_was_saved(case: str, quantity: str) -> None:
    SAVED.check(case, quantity)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.file)
def test_the_reference_has_what_is_computed_and_nothing_else(part: Part) -> None:
    expected = [(case, quantity) for case, quantities in part.expected().items() for quantity in quantities]
    assert expected == part.names()


def test_there_is_much_to_compare() -> None:
    """Numbers in each file; many, of which few are the same."""
    for part, least in zip(PARTS, (10_000, 5_000, 500), strict=True):
        numbers = list(floats(part.expected()))
        assert len(numbers) > least
        assert len(set(numbers)) > len(numbers) / 2
        assert not any(map(math.isnan, numbers))


def floats(value: Json) -> Iterator[float]:
    if isinstance(value, float):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from floats(one)


def test_all_families_and_all_saved_folders_are_cases() -> None:
    assert set(cases.FAMILIES) <= family_names()  # those of then; later ones have tests of their own
    assert {folder.name for folder in cases.SAVED.iterdir()} == set(SAVED.cases)


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value["a"].append(1.0),
        lambda value: value["a"].pop(),
        lambda value: value.update(b="other"),
        lambda value: value.update(c=True),
        lambda value: value.update(d=None),
        lambda value: value.pop("d"),
        lambda value: value.update(e=0),
        lambda value: value["a"].__setitem__(0, 1.0 + 3e-9),
        lambda value: value["a"].__setitem__(1, math.nan),
        lambda value: value["a"].__setitem__(2, 0.0),
    ],
)
def test_a_difference_is_seen(change: Callable[[Any], None]) -> None:
    def made() -> dict[str, Any]:
        return {"a": [1.0, 2000.0, -math.inf], "b": "word", "c": 1, "d": [None, 3]}

    same, other = made(), made()
    same["a"][:2] = [1.0 + 1e-10, 2000.0 + 1e-6]
    change(other)
    assert not list(differences(made(), same, 1e-9))
    assert list(differences(made(), other, 1e-9))


def test_what_is_written_is_near_what_was_computed() -> None:
    assert rounded({"a": [0.1234567890123456, 3, "b", None]}, 12) == {"a": [0.123456789012, 3, "b", None]}
