"""Settings as frozen dataclasses: checked against the types of their fields, made from tables, and compared with each other.

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Config:
        layers: PositiveInt = 6
        dropout: Share = 0.0
        norm: Literal["pre", "post"] = "post"
        is_tied: bool = True
        warmup_steps: NonNegativeInt | None = None

        def __post_init__(self) -> None:
            check_settings(self)

    config = from_table(Config, {"layers": 4}, "the model")

Types are strict: True is not a whole number, "no" is neither true nor false, and 4.0 is not a whole number either.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from dtg.errors import ConfigError, DtgError, InputError, UnknownNameError

Settings = TypeVar("Settings")


@dataclass(frozen=True, slots=True)
class Limits:
    """Which numbers are allowed; used in `Annotated[int, Limits(least=1)]`."""

    least: float = -math.inf
    above: float = -math.inf
    below: float = math.inf
    is_finite: bool = True

    def allow(self, value: float) -> bool:
        """True if the number is within the limits; NaN never is."""
        is_inside = value >= self.least and (value > self.above or math.isinf(self.above))
        is_finite = isinstance(value, int) or math.isfinite(value)  # a large int has no float
        return is_inside and (value < self.below if is_finite else not self.is_finite)

    def describe(self) -> str:
        """The limits as they follow "a number"."""
        if self.least > -math.inf and self.below < math.inf:
            return f" of at least {self.least:g} and below {self.below:g}"
        if self.least > -math.inf:
            return f" of at least {self.least:g}"
        return f" above {self.above:g}" if self.above > -math.inf else ""


PositiveInt = Annotated[int, Limits(least=1)]
LayerCount = Annotated[int, Limits(least=1, below=1001)]  # more are a slip: each is an object that takes memory
TableSize = Annotated[int, Limits(least=1, below=10_001)]  # of what is numbered one by one
NonNegativeInt = Annotated[int, Limits(least=0)]
PositiveFloat = Annotated[float, Limits(above=0)]
NonNegativeFloat = Annotated[float, Limits(least=0)]
Seed = Annotated[int, Limits(least=0, below=2**63)]  # what torch's generators take
Share = Annotated[float, Limits(least=0, below=1)]


def check_settings(settings: object, prefix: str = "", error: type[DtgError] = ConfigError) -> None:
    """Raise unless every field of a dataclass has a value of its type.

    Args:
        settings: an instance of a dataclass. Its fields are bool, int, float, str, Literal, `Annotated` numbers with
            `Limits`, tuples (`tuple[int, ...]`) of these, or optional.
        prefix: what the message begins with, such as "[training] ".
        error: the class of the error.
    """
    for name, kind in field_types(type(settings)).items():
        value = getattr(settings, name)
        if expected := what_is_expected(kind, value):
            raise error(f"{prefix}{name} is {value!r}; {expected}.")


def check_value(name: str, value: object, kind: Any) -> None:
    """Raise unless an argument of a function is of a type, such as `PositiveInt`; True is no number, 2.0 no whole one."""
    if expected := what_is_expected(kind, value):
        raise InputError(f"{name} is {value!r}; {expected}.")


def from_table(
    kind: type[Settings],
    table: Mapping[str, Any],
    owner: str,
    *,
    noun: str = "setting",
    error: type[DtgError] = ConfigError,
) -> Settings:
    """Make settings of a table, as TOML and JSON files have them; lists become tuples.

    Args:
        kind: a dataclass.
        table: values by field name; missing ones have their defaults.
        owner: whose settings they are, for the message about unknown keys: "the model has no setting widht. Known: ...".
        noun: what that message calls them.
        error: the class of the error.
    """
    known = field_types(kind)
    if not isinstance(table, Mapping):
        raise error(f"{owner} is described by {noun}s with their values, not by {table!r}.")
    if unknown := sorted(set(table) - set(known)):
        raise error(f"{owner} has no {noun} {', '.join(unknown)}. Known: {', '.join(known)}.")
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in table.items()})


def check_choice(option: str, value: str, known: Iterable[str]) -> None:
    """Raise unless `value` is one of those known for `option`."""
    known = tuple(known)
    if value not in known:
        raise UnknownNameError(f"choice for {option}", value, known)


@dataclass(frozen=True, slots=True)
class Change:
    """A setting that is not what it was; None where it is not given."""

    name: str
    before: Any
    now: Any


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[Change]:
    """The settings in which two tables differ. Those of tables within tables have dotted names."""
    old, new = flatten(before), flatten(now)
    return [
        Change(name, old.get(name), new.get(name))
        for name in dict.fromkeys([*old, *new])
        if old.get(name) != new.get(name)
    ]


def describe_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """The settings in which two tables differ, a line each; empty if they do not."""
    return "".join(f"{one.name} is {one.now!r}, and was {one.before!r}.\n" for one in changes(before, now))


def flatten(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Tables within a table as one, with dotted names."""
    found: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, Mapping):
            found |= flatten(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = value
    return found


def field_types(kind: type) -> dict[str, Any]:
    """The types of a dataclass's fields, in order."""
    hints = get_type_hints(kind, include_extras=True)
    return {field.name: hints[field.name] for field in fields(kind)}


def what_is_expected(kind: Any, value: Any) -> str:
    """The second half of the message about a value that is not of a type; empty if it is."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        if value is None and NoneType in arguments:
            return ""
        return min((what_is_expected(one, value) for one in arguments if one is not NoneType), key=len)
    if origin is Literal:
        is_known = any(type(value) is type(one) and value == one for one in arguments)
        return "" if is_known else f"known: {', '.join(map(str, arguments))}"
    if origin is tuple:  # of any length: tuple[int, ...]
        if type(value) is not tuple:
            return "a list is expected"
        problems = (what_is_expected(arguments[0], one) for one in value)
        return next((f"in a list, {problem}" for problem in problems if problem), "")
    kind, limits = arguments if origin is Annotated else (kind, Limits())
    assert kind in NAMES, f"there is no check for fields of type {kind}"
    is_number = kind is int or kind is float
    is_right = type(value) in ((int, float) if kind is float else (kind,)) and (not is_number or limits.allow(value))
    return "" if is_right else f"{NAMES[kind]}{limits.describe()} is expected"


NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "a string"}
