"""Bracket scores against cases that were counted by hand, by EVALB's rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from dtg.evaluation.tasks.brackets import brackets_of, match_brackets, words_that_count
from dtg.evaluation.tasks.phrase_parsing import PhraseParsing, bracket_scores, counted, difference_of_ratios
from dtg.trees.phrases.brackets import parse_brackets

# words            1    2     3      4   5        6
GOLD = "(S (NP (DT The) (NN dog)) (VP (VBZ sees) (NP (DT a) (NN cat))) (. .))"  # S 1-5, NP 1-2, VP 3-5, NP 4-5

CASES = [
    # the tree itself: gold, found, matched, matched whatever the labels
    (GOLD, GOLD, (4, 4, 4, 4)),
    # one label wrong: VP for NP
    (GOLD, "(S (NP The dog) (VP sees (VP a cat)) .)", (4, 4, 3, 4)),
    # flat: S and NP 1-2 are right, two are missing
    (GOLD, "(S (NP The dog) sees a cat .)", (4, 2, 2, 2)),
    # the full stop inside VP makes no difference, as it is taken out
    (GOLD, "(S (NP The dog) (VP sees (NP a cat) .))", (4, 4, 4, 4)),
    # a phrase of the full stop alone is none; one that crosses is wrong
    (GOLD, "(S (NP The dog) (VP sees) (NP a cat) (X .))", (4, 4, 3, 3)),
    # a unary chain: NP 1-2 twice is one too many
    (GOLD, "(S (NP (NP The dog)) (VP sees (NP a cat)) .)", (4, 5, 4, 4)),
    # a chain in gold has to be found twice: VP+VP 1-2 and S 1-2
    ("(S (VP (VP (VB Go) (RB home))) (. .))", "(S (VP Go home) .)", (3, 2, 2, 2)),
    # the order within a chain does not matter to brackets
    ("(S (VP (NP (VB Go))) (. .))", "(NP (VP (S Go)) .)", (3, 3, 3, 3)),
    # ADVP and PRT are the same
    ("(VP (VB Go) (PRT (RP on)))", "(VP Go (ADVP on))", (2, 2, 2, 2)),
    # X over everything is what ROOT is elsewhere; further down it counts
    ("(ROOT (NP (NN a)) (NP (NN b)))", "(S (NP (NN a)) (NP (NN b)))", (2, 3, 2, 2)),
    ("(S (X (NN a) (NN b)) (NP (NN c)))", "(S (X a b) (NP c))", (3, 3, 3, 3)),
    # punctuation is by gold's tags: here the comma is a word
    ("(NP (NN a) (NN ,) (NN b))", "(NP (NP a ,) b)", (1, 2, 1, 1)),
    # all kinds that are taken out, and brackets, which are not
    ("(S (`` ``) (NP (-LRB- -LRB-) (NN a) (-RRB- -RRB-)) (, ,) (: :) ('' ''))", "(S `` (NP ( a ) ) , : '')", None),
]


@pytest.mark.parametrize(("gold", "found", "expected"), CASES)
def test_counted_by_hand(gold: str, found: str, expected: tuple[int, int, int, int] | None) -> None:
    right = parse_brackets(gold)
    counts = words_that_count(right)
    if expected is None:  # S and NP are the same three words
        assert counts == [False, True, True, True, False, False, False]
        assert dict(brackets_of(right, counts)) == {("S", 1, 3): 1, ("NP", 1, 3): 1}
        return
    match = match_brackets(right, parse_brackets(found), counts)
    assert (match.gold, match.found, match.matched, match.matched_spans) == expected


def test_without_tags_every_word_counts() -> None:
    gold, found = parse_brackets("(S (NP a b) .)"), parse_brackets("(S (NP a b .))")
    assert words_that_count(gold) == [True, True, True]
    assert match_brackets(gold, found, [True] * 3).matched == 1


def test_scores_are_of_all_brackets_together() -> None:
    """By hand: 4 + 3 brackets of gold, 4 + 2 found, 3 + 2 right: P 5/6, R 5/7, F1 10/13; no tree is exact."""
    rows = []
    for gold, found in ((GOLD, [CASES[1][1], GOLD]), (CASES[6][0], [CASES[6][1]])):
        tree = parse_brackets(gold)
        object.__setattr__(tree, "source", type("Source", (), {"sentence": 1, "path": "x", "comments": ()})())
        rows.append(counted(tree, [parse_brackets(one) for one in found]))
    scores = bracket_scores(rows)
    assert (scores["precision"], scores["recall"], scores["f1"]) == (83.33, 71.43, 76.92)
    assert scores["unlabelled_f1"] == round(100 * 12 / 13, 2) and scores["exact"] == 0
    oracle = bracket_scores(rows, "oracle_matched", "oracle_found")
    assert oracle["f1"] == round(100 * 12 / 13, 2) and oracle["exact"] == 50


def test_the_difference_of_two_parsers_is_paired() -> None:
    ours, theirs = ([8, 6, 9, 10], [10] * 4), ([6, 4, 7, 8], [10] * 4)
    same = difference_of_ratios(ours, theirs)
    assert same == {"value": 20.0, "interval": [20.0, 20.0]}  # in every sentence by the same
    other = difference_of_ratios(([10, 0] * 20, [10] * 40), ([0, 10] * 20, [10] * 40))
    assert other["value"] == 0 and other["interval"][0] < -20 and other["interval"][1] > 20


def test_several_files_are_one_treebank(tmp_path: Path) -> None:
    for name in ("a.ptb", "b.mrg"):
        (tmp_path / name).write_text(f"{GOLD}\n( {GOLD} )\n")
    task = PhraseParsing.of([tmp_path / "a.ptb", tmp_path / "b.mrg"])
    assert len(task.gold) == 4 and len({row.source.path for row in task.gold if row.source}) == 2
    assert len(PhraseParsing.of([tmp_path / "a.ptb", tmp_path / "b.mrg"], sample=3).gold) == 3
