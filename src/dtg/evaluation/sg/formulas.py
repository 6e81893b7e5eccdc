"""What a suite predicts: a formula and the surprisals of an item's regions in, a verdict out. grammar.py reads formulas.

    [(6;%what_nogap%) > (6;%that_nogap%)] & [(7;%what_gap%) < (7;%that_gap%)]

`(6;%what_nogap%)` is the surprisal of region 6 in the condition what_nogap, `(*;%what_nogap%)` that of all its regions.
`<` and `>` are strict: where both sides are the same number the comparison fails, and counts as a tie. `=` holds within
the tolerance of SyntaxGym, which was meant for bits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from dtg.errors import InputError

Surprisals = Mapping[tuple[int, str], float]  # of one item, by region number and condition
RELATIVE_TOLERANCE, ABSOLUTE_TOLERANCE = 1e-5, 1e-3  # |left - right| <= absolute + relative * |right|


@dataclass(frozen=True, slots=True)
class Region:
    """A region of a condition; `number` is None where the formula says `*`."""

    number: int | None
    condition: str
    position: int = field(default=1, compare=False)  # in the formula's text, from 1

    def __str__(self) -> str:
        return f"({'*' if self.number is None else self.number};%{self.condition}%)"


@dataclass(frozen=True, slots=True)
class Constant:
    """A number, such as the 0 in `... > 0`."""

    value: float


@dataclass(frozen=True, slots=True)
class Sum:
    """Terms added and subtracted, from left to right."""

    terms: tuple[tuple[str, Quantity], ...]  # a sign, + or -, and what it is the sign of


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two numbers compared."""

    operator: str  # <, > or =
    left: Quantity
    right: Quantity


@dataclass(frozen=True, slots=True)
class Logic:
    """All of some parts (&), or at least one of them (|)."""

    operator: str  # & or |
    parts: tuple[Truth, ...]


Quantity = Region | Constant | Sum
Truth = Comparison | Logic


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a prediction holds of an item, and how many of its strict comparisons were between equal numbers."""

    holds: bool
    ties: int = 0


def judge(formula: Truth, surprisals: Surprisals) -> Verdict:
    """Whether the formula holds. Every part is looked at, so that every tie is counted."""
    if isinstance(formula, Logic):
        verdicts = [judge(part, surprisals) for part in formula.parts]
        together = all if formula.operator == "&" else any
        return Verdict(together(verdict.holds for verdict in verdicts), sum(verdict.ties for verdict in verdicts))
    left, right = value_of(formula.left, surprisals), value_of(formula.right, surprisals)
    if formula.operator == "=":
        return Verdict(abs(left - right) <= ABSOLUTE_TOLERANCE + RELATIVE_TOLERANCE * abs(right))
    return Verdict(left < right if formula.operator == "<" else left > right, ties=int(left == right))


def value_of(quantity: Quantity, surprisals: Surprisals) -> float:
    """The number that a region, a constant or a sum stands for."""
    if isinstance(quantity, Constant):
        return quantity.value
    if isinstance(quantity, Sum):
        terms = [(sign, value_of(term, surprisals)) for sign, term in quantity.terms]
        return sum(value if sign == "+" else -value for sign, value in terms)
    found = [
        value
        for (number, condition), value in surprisals.items()
        if condition == quantity.condition and quantity.number in (None, number)
    ]
    if not found:
        known = ", ".join(f"({number};%{condition}%)" for number, condition in surprisals)
        raise InputError(f"there is no surprisal of region {quantity}. There are those of {known or 'none'}.")
    if not math.isfinite(value := sum(found)):
        raise InputError(f"the surprisal of region {quantity} is {value}; a finite number is expected.")
    return value


def regions_of(formula: Truth | Quantity) -> Iterator[Region]:
    """Every region that a formula names, in its order, as often as it does."""
    if isinstance(formula, Region):
        yield formula
    elif isinstance(formula, Sum):
        for _, term in formula.terms:
            yield from regions_of(term)
    elif isinstance(formula, Logic):
        for part in formula.parts:
            yield from regions_of(part)
    elif isinstance(formula, Comparison):
        yield from regions_of(formula.left)
        yield from regions_of(formula.right)
