"""Rows of tg, plm, plm-mask and pushdown: worked examples, and the slow twins on random trees."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dtg import ConstituencyTree, DependencyTree, families
from dtg.errors import ConfigError, InputError, TooFarError
from dtg.families import Family, Row, pack
from dtg.families.phrases import PhraseMaskFamily
from dtg.families.reading import in_words, numbered
from dtg.transitions.batch import SentenceBatch
from dtg.trees import BinaryTree
from dtg.trees.enumeration import enumerate_binary
from tests.phrase_twins import (
    FIVE_TREES,
    LABELS,
    PHRASE_FAMILIES,
    ROWS,
    every_phrase_tree,
    innermost_open,
    moves_of,
    of_family,
    random_trees,
    split_of,
    top_down_moves,
)

WORKED = FIVE_TREES[1]


def made(name: str, **options: object) -> Family:
    return families.get(name, **{"labels": LABELS, "max_open": 90, "max_chain": 60, **options})  # type: ignore[arg-type]


# From the authors' code, run on the worked example: row, what it reads, how it attends, to which rows, at which positions.
TYPED = ("tg", "tg-hybrid")  # closing brackets have labels
TG_ROWS = """
 0 <s>     STACK   | 0 | 0 | (S
 1 (S      STACK   | 0 1 | 1 0 | (NP
 2 (NP     STACK   | 0 1 2 | 2 1 0 | (NP
 3 (NP     STACK   | 0 1 2 3 | 3 2 1 0 | The
 4 The     STACK   | 0 1 2 3 4 | 4 3 2 1 0 | man
 5 man     STACK   | 0 1 2 3 4 5 | 4 3 2 1 0 0 | NP)
 6 NP)     COMPOSE | 3 4 5 6 | 0 -1 -1 0 | -
 7 NP)'    STACK   | 0 1 2 6 7 | 3 2 1 0 0 | (SBAR
 8 (SBAR   STACK   | 0 1 2 6 8 | 3 2 1 0 0 | (WHNP
 9 (WHNP   STACK   | 0 1 2 6 8 9 | 4 3 2 1 1 0 | who
10 who     STACK   | 0 1 2 6 8 9 10 | 5 4 3 2 2 1 0 | WHNP)
11 WHNP)   COMPOSE | 9 10 11 | 0 -1 0 | -
12 WHNP)'  STACK   | 0 1 2 6 8 11 12 | 4 3 2 1 1 0 0 | (S
13 (S      STACK   | 0 1 2 6 8 11 13 | 4 3 2 1 1 0 0 | (VP
14 (VP     STACK   | 0 1 2 6 8 11 13 14 | 5 4 3 2 2 1 1 0 | left
15 left    STACK   | 0 1 2 6 8 11 13 14 15 | 6 5 4 3 3 2 2 1 0 | VP)
16 VP)     COMPOSE | 14 15 16 | 0 -1 0 | -
17 VP)'    STACK   | 0 1 2 6 8 11 13 16 17 | 5 4 3 2 2 1 1 0 0 | S)
18 S)      COMPOSE | 13 16 18 | 0 -1 0 | -
19 S)'     STACK   | 0 1 2 6 8 11 18 19 | 4 3 2 1 1 0 0 0 | SBAR)
20 SBAR)   COMPOSE | 8 11 18 20 | 0 -1 -1 0 | -
21 SBAR)'  STACK   | 0 1 2 6 20 21 | 3 2 1 0 0 0 | NP)
22 NP)     COMPOSE | 2 6 20 22 | 0 -1 -1 0 | -
23 NP)'    STACK   | 0 1 22 23 | 2 1 0 0 | (VP
24 (VP     STACK   | 0 1 22 24 | 2 1 0 0 | is
25 is      STACK   | 0 1 22 24 25 | 3 2 1 1 0 | (ADJP
26 (ADJP   STACK   | 0 1 22 24 25 26 | 3 2 1 1 0 0 | old
27 old     STACK   | 0 1 22 24 25 26 27 | 4 3 2 2 1 1 0 | ADJP)
28 ADJP)   COMPOSE | 26 27 28 | 0 -1 0 | -
29 ADJP)'  STACK   | 0 1 22 24 25 28 29 | 3 2 1 1 0 0 0 | VP)
30 VP)     COMPOSE | 24 25 28 30 | 0 -1 -1 0 | -
31 VP)'    STACK   | 0 1 22 30 31 | 2 1 0 0 0 | S)
32 S)      COMPOSE | 1 22 30 32 | 0 -1 -1 0 | -
33 S)'     STACK   | 0 32 33 | 1 0 0 | -
"""


def as_brackets(name: str | None) -> str:
    """Names of dtg as the authors write them."""
    if name is None or name == "<END>":
        return "-"
    if name == "<ROOT>":
        return "<s>"
    for prefix, written in (("NT(", "({}"), ("REDUCE2(", "{})'"), ("REDUCE(", "{})"), ("GEN(", "{}")):
        if name.startswith(prefix):
            return written.format(name[len(prefix) : -1])
    return name


def test_transformer_grammars() -> None:
    rows = made("tg").rows(WORKED)
    found = [
        f"{row.index} {as_brackets(row.reads[0])} {row.kind} | {' '.join(map(str, row.attends))} | "
        f"{' '.join(map(str, row.relative))} | {as_brackets(row.predicts)}"
        for row in rows
    ]
    assert found == [" ".join(line.split()) for line in TG_ROWS.strip().splitlines()]
    assert rows[-1].predicts == "<END>"  # the original predicts nothing here


def test_plm_mask_sees_before_and_from_the_innermost_open_phrase() -> None:
    """s per row, from the authors' code: <ROOT> and the last REDUCE have none."""
    s = [None, 1, 2, 3, 3, 3, 2, 7, 8, 8, 7, 11, 12, 12, 11, 7, 2, 1, 18, 18, 20, 20, 18, 1, None]
    assert innermost_open(top_down_moves(WORKED, split_of(WORKED))) == s
    for row, first in zip(made("plm-mask").rows(WORKED), s, strict=True):
        everything = tuple(range(row.index + 1))
        before, phrase, all_ = row.views
        assert all_.attends == everything
        assert before.attends == (everything if first is None else everything[:first])
        assert phrase.attends == (everything if first is None else everything[first:])
        for view in row.views:
            assert view.relative == tuple(row.index - key for key in view.attends)


def test_plm_reads_a_plain_sequence() -> None:
    rows = made("plm").rows(FIVE_TREES[2])
    reads = ["<ROOT>", "NT(S)", "NT(NP)", "Dogs", "REDUCE", "NT(VP)", "bark", "REDUCE", "REDUCE"]
    assert [row.reads for row in rows] == [(name,) for name in reads]
    predicted = ["NT(S)", "NT(NP)", "GEN(Dogs)", "REDUCE", "NT(VP)", "GEN(bark)", "REDUCE", "REDUCE", "<END>"]
    assert [row.predicts for row in rows] == predicted
    assert rows[-1].relative == (8, 7, 6, 5, 4, 3, 2, 1, 0)
    typed = made("plm", typed_closing=True).rows(FIVE_TREES[2])  # TXL (CC), as Transformer Grammars call it
    assert [row.reads[0] for row in typed[-2:]] == ["REDUCE(VP)", "REDUCE(S)"]


def test_pushdown_tape() -> None:
    """From the authors' code, without the row of <eos>."""
    tape = [
        "0",
        "0 0",
        "0 1 1",
        "0 1 1 0",
        "0 2 2 2 2",
        "0 2 2 2 2 0",
        "0 3 3 3 3 2 2",
    ]
    rows = made("pushdown").rows(WORKED.binarize())
    assert [row.reads[0] for row in rows] == ["<ROOT>", *WORKED.words]
    assert [" ".join(map(str, row.views[0].channel or ())) for row in rows] == tape
    assert [row.predicts for row in rows] == [*(f"GEN({word})" for word in WORKED.words), "<END>"]


def test_a_word_of_two_subwords_is_a_constituent_of_the_tape() -> None:
    """tele|scope: (a (tele scope)) under (with ..), under (the girl) ..., under saw, before the full stop."""
    tree = FIVE_TREES[3].binarize()
    assert tree.spans == ((1, 8), (2, 8), (2, 7), (3, 7), (3, 4), (5, 7), (6, 7))
    rows = made("pushdown").rows(tree, split_of(tree))
    last = dict(
        zip(
            ("<ROOT>", *(piece for word in split_of(tree) for piece in word)),
            rows[-1].views[0].channel or (),
            strict=True,
        )
    )
    expected = {"<ROOT>": 0, "She": 1, "saw": 3, "the": 5, "girl": 5, "with": 5, "a": 6, "tele": 7, "scope": 7, ".": 2}
    assert last == expected
    # After `tele` alone nothing has changed; in TG both are children of the same phrase.
    assert rows[7].views[0].channel == (0, 0, 0, 1, 1, 0, 0, 0)
    tg = made("tg").rows(FIVE_TREES[3], split_of(tree))
    scope = next(row for row in tg if row.reads == ("scope",))
    assert scope.relative[-2:] == (0, 0)


@pytest.mark.parametrize("name", PHRASE_FAMILIES)
def test_the_five_trees(name: str) -> None:
    for tree in FIVE_TREES:
        as_read = of_family(name, tree)
        split = split_of(tree)
        assert list(made(name).rows(as_read, split)) == ROWS[name](moves_of(as_read, split), name in TYPED)
    # 1 + n + 3m rows in TG, 1 + n + 2m in PLM, 1 + n in Pushdown, for n subwords and m phrases.
    counts = {"tg": 1 + 6 + 27, "tg-hybrid": 1 + 6 + 27, "plm": 1 + 6 + 18, "plm-mask": 1 + 6 + 18, "pushdown": 1 + 6}
    assert len(made(name).rows(of_family(name, WORKED))) == counts[name]


@pytest.mark.parametrize("name", PHRASE_FAMILIES)
@pytest.mark.parametrize("typed", [True, False])
def test_equal_to_the_twin_on_every_small_tree(name: str, typed: bool) -> None:
    trees: list[Any]
    if name == "pushdown":
        trees = [BinaryTree(tuple("w" * n), spans) for n in range(1, 7) for spans in enumerate_binary(n)]
    else:
        trees = [
            ConstituencyTree(tuple("w" * n), nodes)  # type: ignore[arg-type]
            for n in range(1, 5)
            for nodes in every_phrase_tree(n, ("S", "NP"), 3 if n < 3 else 2, 2)
        ]
    splits = [[[f"{i}.{p}" for p in range(1 + (i + n) % 3)] for i in range(len(t))] for n, t in enumerate(trees)]
    compare(made(name, typed_closing=typed), typed, trees, splits)


@pytest.mark.parametrize("name", PHRASE_FAMILIES)
def test_equal_to_the_twin_on_random_trees(name: str) -> None:
    trees, splits = map(list, zip(*random_trees(name, 100, seed=1), strict=True))
    compare(made(name), name in TYPED, trees, splits)


def compare(family: Family, typed: bool, trees: list[Any], splits: list[list[list[str]]]) -> None:
    """One pack of all sentences, each sentence's rows against the twin's."""
    batch = SentenceBatch.of(trees, [numbered(split) for split in splits])
    actions = family.system.derive(batch)
    packed = pack(family, actions, root=0)
    for number, (tree, split) in enumerate(zip(trees, splits, strict=True)):
        found = in_words(family, tree, split, packed, actions, number)
        assert list(found.rows) == ROWS[family.name](moves_of(tree, split), typed)


def deep_phrases(depth: int) -> ConstituencyTree:
    """(X w (X w (X w ...)))"""
    words = tuple(f"w{i}" for i in range(1, depth + 1))
    return ConstituencyTree(words, [("NP", first, depth) for first in range(1, depth + 1)])  # type: ignore[arg-type]


def test_deep_trees_stop_counting_at_62() -> None:
    tree = deep_phrases(80)
    rows = made("tg").rows(tree)
    assert rows[160].reads == ("w80",)
    assert rows[160].relative[:20] == (*(62,) * 19 + (62,),)
    assert max(max(row.relative) for row in rows) == 62
    assert list(rows) == ROWS["tg"](moves_of(tree, [[word] for word in tree.words]), True)
    with pytest.raises(TooFarError, match="has 80 open phrases and 1 that begin at one word; the limits are 60 and 12"):
        families.get("tg", labels=LABELS).rows(tree)
    left = BinaryTree(tree.words, tuple((1, last) for last in range(80, 1, -1)))
    assert max(families.get("pushdown").rows(left)[-1].views[0].channel or ()) == 62
    right = BinaryTree(tree.words, tuple((first, 80) for first in range(1, 80)))
    with pytest.raises(TooFarError, match="needs 79 constituents on the stack"):
        families.get("pushdown").rows(right)
    rows = families.get("pushdown", attach_limit=79).rows(right)
    assert rows[-1].views[0].channel == (0, *range(1, 62), *(62,) * 19)


@pytest.mark.parametrize("name", PHRASE_FAMILIES)
def test_a_reading_as_json(name: str) -> None:
    tree = of_family(name, FIVE_TREES[3])
    reading = families.get(name, labels=LABELS).read(tree, split_of(tree))
    table = json.loads(json.dumps(reading.as_dict(), allow_nan=False))
    assert table["family"] == name
    assert table["words"] == list(tree.words)
    assert len(table["rows"]) == len(reading.rows)
    views = table["rows"][2].get("views", [])
    names = {"plm-mask": ["before", "phrase", "all"], "pushdown": ["all"], "tg-hybrid": ["stack", "memory"]}
    assert [view["name"] for view in views] == names.get(name, [])
    if name == "pushdown":
        assert table["rows"][2]["views"][0]["channel"] == [0, 0, 0]
        assert table["actions"][:4] == ["GEN(She)", "ATTACH[0]", "GEN(saw)", "ATTACH[0]"]


def test_what_cannot_be_read() -> None:
    arcs = DependencyTree(("a", "b"), (0, 1))
    with pytest.raises(InputError, match="top-down derives phrase-structure trees; this is a DependencyTree"):
        made("tg").rows(arcs)
    with pytest.raises(InputError, match="shift-attach derives binary trees; this is a ConstituencyTree"):
        made("pushdown").rows(WORKED)
    with pytest.raises(InputError, match="has phrases labelled ADJP, SBAR, WHNP, which the model does not know"):
        families.get("plm", labels=("S", "NP", "VP")).rows(WORKED)
    with pytest.raises(InputError, match="has 6 words, but pieces are given for 1"):
        made("plm-mask").rows(WORKED, [["The"]])
    with pytest.raises(ConfigError, match="plm-mask needs at least 3 attention heads"):
        PhraseMaskFamily.split_heads(2)
    assert PhraseMaskFamily.split_heads(12) == (1, 1, 10)


def rows_by_name(rows: tuple[Row, ...]) -> list[str]:
    return [row.reads[0] for row in rows]


def test_untyped_transformer_grammars() -> None:
    rows = made("tg", typed_closing=False).rows(FIVE_TREES[2])
    assert rows_by_name(rows)[4:6] == ["REDUCE", "REDUCE2"]
