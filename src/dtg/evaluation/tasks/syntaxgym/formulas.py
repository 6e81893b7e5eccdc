"""What a suite predicts: formulas over the surprisals of regions, how they are read, and whether they hold of an item.

    [(6;%what_nogap%) > (6;%that_nogap%)] & [(7;%what_gap%) < (7;%that_gap%)]

`(6;%what_nogap%)` is the surprisal of region 6 in the condition what_nogap, `(*;%what_nogap%)` that of all its regions.
`<` and `>` are strict: where both sides are the same number the comparison fails, and counts as a tie. `=` holds within
the tolerance of SyntaxGym, which was meant for bits.

    formula     = conjunction { "|" conjunction }
    conjunction = comparison { "&" comparison }
    comparison  = sum [ ( "<" | ">" | "=" ) sum ]
    sum         = term { ( "+" | "-" ) term }
    term        = region | [ "+" | "-" ] number | "(" formula ")" | "[" formula "]"
    region      = "(" ( digits | "*" ) ";" "%" condition "%" ")"

Formulas come in two dialects. The files of Hu et al. (2020) group with square brackets; SyntaxGym's documentation and
dataset group with round ones only. Either bracket groups here, and must be closed by its own kind. Brackets hold a truth
or a number, so which of the two an operator was given is checked. `a < b < c` is an error.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from dtg.errors import InputError

Surprisals = Mapping[tuple[int, str], float]  # of one item, by region number and condition
RELATIVE_TOLERANCE, ABSOLUTE_TOLERANCE = 1e-5, 1e-3  # |left - right| <= absolute + relative * |right|
TOKEN = re.compile(
    r"(?P<region>\(\s*(?P<number_or_star>\d+|\*)\s*;\s*%(?P<condition>[^%]+)%\s*\))"
    r"|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
    r"|(?P<symbol>[-+<>=&|()\[\]])"
    r"|(?P<end>\Z)"
    r"|(?P<unknown>.)",
    re.DOTALL,
)
CLOSING = {"(": ")", "[": "]"}
MOST_DIGITS = 9  # of the number of a region
DEEPEST = 50  # brackets within brackets: a formula must not exhaust Python's own stack
TERM = "a region such as (6;%condition%), a number or an opening bracket"


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
class Relation:
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
Truth = Relation | Logic


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
    elif isinstance(formula, Relation):
        yield from regions_of(formula.left)
        yield from regions_of(formula.right)


@dataclass(frozen=True, slots=True)
class FormulaToken:
    """A piece of the formula: `kind` is region, number, unknown or end, or for a symbol the symbol itself."""

    kind: str
    text: str
    position: int  # from 0


def parse_formula(text: str) -> Truth:
    """The formula that a text holds, in either dialect."""
    reader = FormulaReader(text)
    first = reader.token
    formula = reader.formula(depth=0)
    if reader.token.kind != "end":
        reader.fail("an operator or the end of the formula")
    return reader.as_truth(formula, first)


class FormulaReader:
    """Reads a formula's tokens from left to right; each method of the first half reads one rule of the grammar."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.token = FormulaToken("start", "", 0)
        self.advance()

    def formula(self, depth: int) -> Truth | Quantity:
        return self.logic("|", self.conjunction, depth)

    def conjunction(self, depth: int) -> Truth | Quantity:
        return self.logic("&", self.comparison, depth)

    def logic(self, operator: str, part: Callable[[int], Truth | Quantity], depth: int) -> Truth | Quantity:
        first = self.token
        read = part(depth)
        if self.token.kind != operator:
            return read
        parts = [self.as_truth(read, first)]
        while self.token.kind == operator:
            first = self.advance()
            parts.append(self.as_truth(part(depth), first))
        return Logic(operator, tuple(parts))

    def comparison(self, depth: int) -> Truth | Quantity:
        first = self.token
        left = self.sum(depth)
        operator = self.token.kind
        if operator not in ("<", ">", "="):
            return left
        second = self.advance()
        return Relation(operator, self.as_quantity(left, first), self.as_quantity(self.sum(depth), second))

    def sum(self, depth: int) -> Truth | Quantity:
        first = self.token
        read = self.term(depth)
        if self.token.kind not in ("+", "-"):
            return read
        terms: list[tuple[str, Quantity]] = [("+", self.as_quantity(read, first))]
        while (sign := self.token.kind) in ("+", "-"):
            first = self.advance()
            terms.append((sign, self.as_quantity(self.term(depth), first)))
        return Sum(tuple(terms))

    def term(self, depth: int) -> Truth | Quantity:
        token = self.token
        if token.kind == "region":
            self.advance()
            return region_of(token)
        if token.kind in ("+", "-") and self.advance().kind != "number":
            self.fail("a number after the sign")
        if self.token.kind == "number":
            value = float(self.token.text)
            self.advance()
            return Constant(-value if token.kind == "-" else value)
        if token.kind not in CLOSING:
            self.fail(TERM)
        if depth == DEEPEST:
            self.fail(f"at most {DEEPEST} brackets within brackets")
        self.advance()
        inside = self.formula(depth + 1)
        if self.token.kind != CLOSING[token.kind]:
            self.fail(
                f"an operator, or {CLOSING[token.kind]!r} for the {token.kind!r} of character {token.position + 1}"
            )
        self.advance()
        return inside

    def as_truth(self, part: Truth | Quantity, first: FormulaToken) -> Truth:
        if not isinstance(part, Relation | Logic):
            self.fail("a comparison with <, > or =, not a number alone", first)
        return part

    def as_quantity(self, part: Truth | Quantity, first: FormulaToken) -> Quantity:
        if isinstance(part, Relation | Logic):
            self.fail("a number (a region, or a sum), not a comparison", first)
        return part

    def advance(self) -> FormulaToken:
        """Go on to the next token, and return it."""
        position = self.token.position + len(self.token.text)
        while position < len(self.text) and self.text[position].isspace():
            position += 1
        found = TOKEN.match(self.text, position)
        assert found is not None and found.lastgroup is not None  # any character is at least unknown
        kind = found.group() if found.lastgroup == "symbol" else found.lastgroup
        self.token = FormulaToken(kind, found.group(), position)
        return self.token

    def fail(self, expected: str, at: FormulaToken | None = None) -> NoReturn:
        """Raise, pointing at a token."""
        token = at or self.token
        found = "the formula ends" if token.kind == "end" else f"there is {token.text!r}"
        advice = " A region is written (6;%condition%)." if token.text in {";", "%"} else ""
        shown = "".join(" " if character.isspace() else character for character in self.text)
        raise InputError(
            f"character {token.position + 1} of the formula: expected {expected}; {found}.{advice}\n"
            f"{shown}\n{' ' * token.position}^"
        )


def region_of(token: FormulaToken) -> Region:
    found = TOKEN.fullmatch(token.text)
    assert found is not None
    which = found["number_or_star"]
    if len(which) > MOST_DIGITS:
        raise InputError(
            f"character {token.position + 1} of the formula: a region with a number of {len(which):,} digits."
        )
    return Region(None if which == "*" else int(which), found["condition"], token.position + 1)
