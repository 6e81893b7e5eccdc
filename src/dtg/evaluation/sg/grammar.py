"""The grammar of prediction formulas: a text in, a formula (formulas.py) out, or an error that points at a character.

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

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from dtg.errors import InputError
from dtg.evaluation.sg.formulas import Comparison, Constant, Logic, Quantity, Region, Sum, Truth

TOKEN = re.compile(
    r"(?P<region>\(\s*(?P<number_or_star>\d+|\*)\s*;\s*%(?P<condition>[^%]+)%\s*\))"
    r"|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
    r"|(?P<symbol>[-+<>=&|()\[\]])"
    r"|(?P<end>\Z)"
    r"|(?P<unknown>.)",
    re.DOTALL,
)
CLOSING = {"(": ")", "[": "]"}
DEEPEST = 50  # brackets within brackets: a formula must not exhaust Python's own stack
TERM = "a region such as (6;%condition%), a number or an opening bracket"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the formula: `kind` is region, number, unknown or end, or for a symbol the symbol itself."""

    kind: str
    text: str
    position: int  # from 0


def parse_formula(text: str) -> Truth:
    """The formula that a text holds, in either dialect."""
    reader = Reader(text)
    first = reader.token
    formula = reader.formula(depth=0)
    if reader.token.kind != "end":
        reader.fail("an operator or the end of the formula")
    return reader.as_truth(formula, first)


class Reader:
    """Goes through a formula's tokens from left to right; each method of the first half reads one rule of the grammar."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.token = Token("start", "", 0)
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
        return Comparison(operator, self.as_quantity(left, first), self.as_quantity(self.sum(depth), second))

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

    def as_truth(self, part: Truth | Quantity, first: Token) -> Truth:
        if not isinstance(part, Comparison | Logic):
            self.fail("a comparison with <, > or =, not a number alone", first)
        return part

    def as_quantity(self, part: Truth | Quantity, first: Token) -> Quantity:
        if isinstance(part, Comparison | Logic):
            self.fail("a number (a region, or a sum), not a comparison", first)
        return part

    def advance(self) -> Token:
        """Go on to the next token, and return it."""
        position = self.token.position + len(self.token.text)
        while position < len(self.text) and self.text[position].isspace():
            position += 1
        found = TOKEN.match(self.text, position)
        assert found is not None and found.lastgroup is not None  # any character is at least unknown
        kind = found.group() if found.lastgroup == "symbol" else found.lastgroup
        self.token = Token(kind, found.group(), position)
        return self.token

    def fail(self, expected: str, at: Token | None = None) -> NoReturn:
        """Raise, pointing at a token."""
        token = at or self.token
        found = "the formula ends" if token.kind == "end" else f"there is {token.text!r}"
        advice = " A region is written (6;%condition%)." if token.text in {";", "%"} else ""
        shown = "".join(" " if character.isspace() else character for character in self.text)
        raise InputError(
            f"character {token.position + 1} of the formula: expected {expected}; {found}.{advice}\n"
            f"{shown}\n{' ' * token.position}^"
        )


def region_of(token: Token) -> Region:
    found = TOKEN.fullmatch(token.text)
    assert found is not None
    which = found["number_or_star"]
    return Region(None if which == "*" else int(which), found["condition"], token.position + 1)
