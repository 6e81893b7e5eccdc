"""Settings are checked against the types of their fields, and compared with each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import pytest

from dtg.errors import ConfigError, InputError
from dtg.io.settings import NonNegativeInt, PositiveFloat, PositiveInt, Share, changes, check_settings, from_table


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    layers: PositiveInt = 2
    dropout: Share = 0.0
    rate: PositiveFloat = 1.0
    norm: Literal["pre", "post"] = "post"
    is_tied: bool = True
    name: str = ""
    limit: NonNegativeInt | None = None
    sizes: tuple[PositiveInt, ...] = (1,)
    offset: float = 0.0

    def __post_init__(self) -> None:
        check_settings(self, "[example] ")


@pytest.mark.parametrize(
    "table",
    [
        {},
        {"layers": 1, "dropout": 0, "rate": 1, "norm": "pre", "is_tied": False, "name": "x", "limit": 0},
        {"limit": None, "sizes": [3, 4], "offset": -0.5},
    ],
)
def test_right_values_are_taken(table: dict[str, Any]) -> None:
    made = from_table(Example, table, "the example")
    assert made.sizes == tuple(table.get("sizes", (1,)))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"layers": 0}, "layers is 0; a whole number of at least 1 is expected"),
        ({"layers": True}, "layers is True; a whole number of at least 1 is expected"),
        ({"layers": 2.0}, "layers is 2.0; a whole number"),
        ({"layers": None}, "layers is None; a whole number"),
        ({"dropout": 1}, "dropout is 1; a number of at least 0 and below 1 is expected"),
        ({"dropout": False}, "dropout is False; a number"),
        ({"rate": 0}, "rate is 0; a number above 0 is expected"),
        ({"rate": float("inf")}, "rate is inf; a number above 0"),
        ({"offset": float("nan")}, "offset is nan; a number is expected"),
        ({"norm": "none"}, "norm is 'none'; known: pre, post"),
        ({"is_tied": "no"}, "is_tied is 'no'; true or false is expected"),
        ({"is_tied": 1}, "is_tied is 1; true or false is expected"),
        ({"name": 3}, "name is 3; a string is expected"),
        ({"limit": -1}, "limit is -1; a whole number of at least 0 is expected"),
        ({"limit": "none"}, "limit is 'none'; a whole number"),
        ({"sizes": [3, 0]}, "sizes is (3, 0); in a list, a whole number of at least 1 is expected"),
        ({"sizes": 3}, "sizes is 3; a list is expected"),
        ({"layer": 3, "dropuot": 0}, "the example has no setting dropuot, layer. Known: layers, dropout, rate"),
    ],
)
def test_wrong_values_are_named(table: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        from_table(Example, table, "the example")
    assert message in str(caught.value)


def test_the_error_can_be_another() -> None:
    with pytest.raises(InputError, match="a search has no option bem"):
        from_table(Example, {"bem": 1}, "a search", noun="option", error=InputError)


def test_changes_have_dotted_names_and_keep_their_order() -> None:
    before, now = {"b": 1, "a": {"x": 1, "y": 2}, "gone": 3}, {"b": 2, "a": {"x": 1, "y": 3}, "new": None}
    assert [(one.name, one.before, one.now) for one in changes(before, now)] == [
        ("b", 1, 2),
        ("a.y", 2, 3),
        ("gone", 3, None),
    ]
