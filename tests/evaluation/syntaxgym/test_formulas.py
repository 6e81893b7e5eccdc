"""Formulas: hand-computed items for every operator, formulas made up at random, and what is no formula."""

from __future__ import annotations

import operator
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtg.errors import InputError
from dtg.evaluation.tasks.syntaxgym.formulas import Verdict, judge, parse_formula, regions_of
from tests.evaluation.syntaxgym.formula_cases import CASES, Case


def surprisals(written: str) -> dict[tuple[int, str], float]:
    """'1a 5, 2b 3' as the surprisals of region 1 of condition a and region 2 of condition b."""
    found = [re.fullmatch(r"(\d+)(\S+) (\S+)", each) for each in written.split(", ")]
    return {(int(match[1]), match[2]): float(match[3]) for match in found if match}


@pytest.mark.parametrize("dialect", ["square", "round"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.operator} {case.item}")
def test_hand_computed_items(case: Case, dialect: str) -> None:
    formula = parse_formula(case.square if dialect == "square" else case.round)
    item = surprisals(case.item)
    assert judge(formula, item).holds is case.holds
    assert judge(formula, item | surprisals(case.change)).holds is not case.holds


def test_there_are_six_hand_computed_items_for_every_operator() -> None:
    counts = Counter(case.operator for case in CASES)
    assert set(counts) == set("<>=&|+-*") and min(counts.values()) >= 6
    for case in CASES:
        assert case.operator in case.square and case.operator in case.round and "[" not in case.round
        assert parse_formula(case.square) == parse_formula(case.round)


def test_ties_are_counted_in_every_part_and_never_for_equality() -> None:
    formula = parse_formula("(1;%a%) < (1;%b%) & (1;%a%) > (1;%b%) & (1;%a%) = (1;%b%)")
    assert judge(formula, surprisals("1a 3, 1b 3")) == Verdict(holds=False, ties=2)
    assert judge(formula, surprisals("1a 3, 1b 4")) == Verdict(holds=False, ties=0)
    assert judge(parse_formula("(1;%a%) < (1;%b%) | 1 < 2"), surprisals("1a 3, 1b 3")) == Verdict(holds=True, ties=1)


def test_regions_are_named_with_their_place() -> None:
    regions = list(regions_of(parse_formula("[ (12;%no-gap%) + 1 ] > (*;%b%)")))
    assert [(str(region), region.position) for region in regions] == [("(12;%no-gap%)", 3), ("(*;%b%)", 25)]


# Formulas as nested tuples; the twin computes them with Python's operators and writes them with brackets everywhere.
REGIONS = {(number, name): float(7 * number - ord(name)) for number in (1, 2, 3) for name in "ab"}
quantities = st.recursive(
    st.sampled_from(sorted(REGIONS)) | st.integers(-9, 9),
    lambda inner: st.tuples(st.sampled_from("+-"), inner, inner),
    max_leaves=5,
)
truths = st.recursive(
    st.tuples(st.sampled_from("<>"), quantities, quantities),
    lambda inner: st.tuples(st.sampled_from("&|"), inner, inner),
    max_leaves=4,
)
OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "<": operator.lt,
    ">": operator.gt,
    "&": operator.and_,
    "|": operator.or_,
}


def compute(tree: object) -> float:
    match tree:
        case (str(sign), left, right):
            result: float = OPERATORS[sign](compute(left), compute(right))
            return result
        case (int(number), str(name)):
            return REGIONS[number, name]
    assert isinstance(tree, int)
    return tree


def write(tree: object, brackets: str) -> str:
    match tree:
        case (str(sign), left, right):
            return f"{brackets[0]}{write(left, brackets)} {sign} {write(right, brackets)}{brackets[1]}"
        case (int(number), str(name)):
            return f"({number};%{name}%)"
    return str(tree)


@given(truths, st.sampled_from(["()", "[]"]))
def test_any_formula_is_worth_what_python_makes_of_it(tree: object, brackets: str) -> None:
    assert judge(parse_formula(write(tree, brackets)), REGIONS).holds is compute(tree)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "character 1 of the formula: expected a region such as (6;%condition%), a number or an opening bracket; the"),
        ("(1;%a%)", "character 1 of the formula: expected a comparison with <, > or =, not a number alone"),
        ("(1;%a%) <", "character 10 of the formula: expected a region such as"),
        ("(1;%a%) < (2;%b%) < 3", "character 19 of the formula: expected an operator or the end of the formula; there is '<'"),
        ("(1;%a%) <= 2", "character 10 of the formula: expected a region such as (6;%condition%), a number or an opening"),
        ("[(1;%a%) < 2", "expected an operator, or ']' for the '[' of character 1; the formula ends"),
        ("[(1;%a%) < 2)", "expected an operator, or ']' for the '[' of character 1; there is ')'"),
        ("(1;%a%) < (2;%b", "character 13 of the formula: expected an operator, or ')' for the '(' of character 11"),
        ("(1;%a%) < (2;%b", "A region is written (6;%condition%)."),
        ("(1;%a%) & 1 < 2", "character 1 of the formula: expected a comparison"),
        ("1 < 2 & (1;%a%)", "character 9 of the formula: expected a comparison"),
        ("[(1;%a%) < 2] + 3 > 1", "character 1 of the formula: expected a number (a region, or a sum), not a comparison"),
        ("3 > [(1;%a%) < 2]", "character 5 of the formula: expected a number (a region, or a sum), not a comparison"),
        ("-(1;%a%) < 2", "character 2 of the formula: expected a number after the sign"),
        ("__import__('os')", "character 1 of the formula: expected a region such as"),
        ("(" * 60 + "1 < 2" + ")" * 60, "expected at most 50 brackets within brackets"),
    ],
)  # fmt: skip
def test_what_is_no_formula_is_pointed_at(text: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        parse_formula(text)


def test_the_caret_stands_under_the_character() -> None:
    with pytest.raises(InputError) as caught:
        parse_formula("(1;%a%)\t> ?")
    assert str(caught.value).splitlines()[1:] == ["(1;%a%) > ?", "          ^"]


def test_unknown_and_infinite_surprisals_are_named() -> None:
    formula = parse_formula("(1;%a%) < (2;%b%)")
    with pytest.raises(InputError, match=r"no surprisal of region \(2;%b%\). There are those of \(1;%a%\)."):
        judge(formula, {(1, "a"): 1.0})
    with pytest.raises(InputError, match=r"the surprisal of region \(2;%b%\) is nan; a finite number is expected"):
        judge(formula, {(1, "a"): 1.0, (2, "b"): float("nan")})
