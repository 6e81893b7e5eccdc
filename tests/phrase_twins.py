"""Slow twins of the phrase-structure models: actions, rows, key sets and tapes with plain lists, from their definitions.

They share nothing with `dtg.transitions` and `dtg.families` but the `Row` they fill. A move is (operation, argument), where
the argument of GEN is a subword.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dtg.families.rows import Kind, Row, RowView
from dtg.trees import BinaryTree, ConstituencyTree
from tests.trees.phrase_trees import FIVE_NODES
from tests.twins import with_memory

Move = tuple[str, Any]
Split = Sequence[Sequence[str]]

WORDS = ("The blue bird sings .", "The man who left is old", "Dogs bark", "She saw the girl with a telescope .")
FIVE_TREES = tuple(
    ConstituencyTree(tuple(words.split()), nodes)  # type: ignore[arg-type]
    for words, nodes in zip((*WORDS, "Kim came , and Lee left ."), FIVE_NODES, strict=True)
)
LABELS = ("ADJP", "NP", "PP", "S", "SBAR", "VP", "WHNP")
PHRASE_FAMILIES = ("tg", "plm", "plm-mask", "pushdown", "tg-hybrid")


def split_of(tree: ConstituencyTree | BinaryTree) -> list[list[str]]:
    """Every word is one subword, but `tele|scope`."""
    return [["tele", "scope"] if word == "telescope" else [word] for word in tree.words]


def top_down_moves(tree: ConstituencyTree, split: Split) -> list[Move]:
    """Brackets from left to right: what opens at a word, the word's subwords, what closes after it."""
    moves: list[Move] = []
    for number, pieces in enumerate(split, start=1):
        moves += [("NT", node.label) for node in tree.nodes if node.first == number]
        moves += [("GEN", piece) for piece in pieces]
        moves += [("REDUCE", node.label) for node in reversed(tree.nodes) if node.last == number]
    return [*moves, ("END", None)]


def attach_moves(tree: BinaryTree, split: Split) -> list[Move]:
    """Subwords stay alone until their word's last one, which is merged with them and as often as constituents end there."""
    moves: list[Move] = []
    for number, pieces in enumerate(split, start=1):
        ends = sum(last == number for _, last in tree.spans)
        for place, piece in enumerate(pieces, start=1):
            moves += [("GEN", piece), ("ATTACH", len(pieces) - 1 + ends if place == len(pieces) else 0)]
    return [*moves, ("END", None)]


def named(move: Move, typed: bool, second: bool = False) -> str:
    operation, argument = move
    if operation == "END":
        return "<END>"
    name = operation + "2" * second
    if operation == "REDUCE" and not typed:
        return name
    return f"{name}[{argument}]" if operation == "ATTACH" else f"{name}({argument})"


class Rows:
    """Rows one after another."""

    def __init__(self, moves: Sequence[Move], typed: bool) -> None:
        self.moves, self.typed, self.rows = moves, typed, list[Row]()

    def add(self, reads: str, kind: Kind, keys: Sequence[tuple[int, int]], views: Sequence[RowView] = ()) -> int:
        """A row that attends to `keys`, (row, relative position) each."""
        attends, relative = zip(*keys, strict=True)
        self.rows.append(Row(len(self.rows), (reads,), kind, attends, relative, None, tuple(views)))
        return len(self.rows) - 1

    def predict(self, move: Move) -> None:
        """The last row predicts this."""
        row = self.rows[-1]
        name = named(move, self.typed)
        self.rows[-1] = Row(row.index, row.reads, row.kind, row.attends, row.relative, name, row.views)


def tg_rows(moves: Sequence[Move], typed: bool = True) -> list[Row]:
    """Transformer Grammars: a stack of (row, level). <ROOT> has level 0, other rows 1 + the phrases open around them."""
    out = Rows(moves, typed)
    stack: list[tuple[int, int]] = []
    opened: list[int] = []  # for every open phrase, its place on the stack

    def attend_to_stack(name: str, level: int) -> int:
        own = len(out.rows)
        return out.add(name, Kind.STACK, [(row, min(level - above, 62)) for row, above in [*stack, (own, level)]])

    stack.append((attend_to_stack("<ROOT>", 0), 0))
    for move in moves:
        out.predict(move)
        level = len(opened) + 1
        if move[0] == "NT":
            opened.append(len(stack))
            stack.append((attend_to_stack(named(move, typed), level), level))
        elif move[0] == "GEN":
            stack.append((attend_to_stack(move[1], level), level))
        elif move[0] == "REDUCE":
            bottom = opened.pop()
            phrase, level = stack[bottom:], stack[bottom][1]
            own = len(out.rows)
            out.add(named(move, typed), Kind.COMPOSE, [(row, level - its) for row, its in [*phrase, (own, level)]])
            stack[bottom:] = [(own, level)]
            attend_to_stack(named(move, typed, second=True), level)
    return out.rows


def tg_hybrid_rows(
    moves: Sequence[Move], typed: bool = True, memory: str = "words", on_compose: str = "composed"
) -> list[Row]:
    """The same, with a memory of the words."""
    is_word = [True]
    for operation, _ in moves[:-1]:
        is_word += [False, False] if operation == "REDUCE" else [operation == "GEN"]
    return list(with_memory(tg_rows(moves, typed), is_word, memory, on_compose))


def plm_rows(moves: Sequence[Move], typed: bool = False) -> list[Row]:
    """A plain sequence: a row sees all before it."""
    out = Rows(moves, typed)
    for reads in ["<ROOT>", *(move[1] if move[0] == "GEN" else named(move, typed) for move in moves[:-1])]:
        own = len(out.rows)
        out.add(reads, Kind.LINEAR, [(row, own - row) for row in range(own + 1)])
        out.predict(moves[own])
    return out.rows


def innermost_open(moves: Sequence[Move]) -> list[int | None]:
    """PLM-mask's s: for each row, <ROOT>'s first, the row that opened the innermost open phrase once the row is read."""
    found, opened = list[int | None]([None]), list[int]()
    for row, (operation, _) in enumerate(moves[:-1], start=1):
        if operation == "NT":
            opened.append(row)
        elif operation == "REDUCE":
            opened.pop()
        found.append(opened[-1] if opened else None)
    return found


def plm_mask_rows(moves: Sequence[Move], typed: bool = False) -> list[Row]:
    """One head sees the rows before s, one those from s on, the others all. Where nothing is open, all see everything."""
    found = []
    for row, s in zip(plm_rows(moves, typed), innermost_open(moves), strict=True):
        everything = list(zip(row.attends, row.relative, strict=True))
        before = everything if s is None else everything[:s]
        phrase = everything if s is None else everything[s:]
        views = tuple(
            RowView(name, tuple(r for r, _ in keys), tuple(p for _, p in keys))
            for name, keys in (("before", before), ("phrase", phrase), ("all", everything))
        )
        found.append(
            Row(row.index, row.reads, row.kind, views[0].attends, views[0].relative, row.predicts, views),
        )
    return found


def tapes(ks: Sequence[int]) -> list[list[int]]:
    """Pushdown's stack tape after <ROOT> and after each token, from how many constituents each token is merged with."""
    stack, depth = list[list[int]](), [0]
    found = [list(depth)]
    for token, k in enumerate(ks, start=1):
        depth.append(0)
        stack.append([token])
        for _ in range(k):
            top = stack.pop()
            stack[-1] = stack[-1] + top
            for inside in stack[-1]:
                depth[inside] += 1
        found.append(list(depth))
    return found


def pushdown_rows(moves: Sequence[Move], typed: bool = False) -> list[Row]:
    """A row for each token, which knows what its token was attached to, and predicts the next token."""
    out = Rows(moves, typed)
    tokens = ["<ROOT>", *(argument for operation, argument in moves if operation == "GEN")]
    predicted = [move for move in moves if move[0] in ("GEN", "END")]
    tape = tapes([k for operation, k in moves if operation == "ATTACH"])
    for own, reads in enumerate(tokens):
        attends, relative = tuple(range(own + 1)), tuple(range(own, -1, -1))
        view = RowView("all", attends, relative, tuple(min(depth, 62) for depth in tape[own]))
        out.add(reads, Kind.LINEAR, list(zip(attends, relative, strict=True)), [view])
        out.predict(predicted[own])
    return out.rows


ROWS: dict[str, Callable[[Sequence[Move], bool], list[Row]]] = {
    "tg": tg_rows,
    "plm": plm_rows,
    "plm-mask": plm_mask_rows,
    "pushdown": pushdown_rows,
    "tg-hybrid": tg_hybrid_rows,
}


def moves_of(tree: ConstituencyTree | BinaryTree, split: Split) -> list[Move]:
    return attach_moves(tree, split) if isinstance(tree, BinaryTree) else top_down_moves(tree, split)


def random_phrases(length: int, chance: random.Random, labels: Sequence[str], chain: int = 2) -> ConstituencyTree:
    """A random tree: spans are cut into parts, and parts get up to `chain` phrases around them."""
    nodes: list[tuple[str, int, int]] = []

    def fill(first: int, last: int, least: int) -> None:
        for _ in range(max(least, chance.choice([0, 1, 1, chain]))):
            nodes.append((chance.choice(labels), first, last))
        while first < last:
            end = min(last, first + int(chance.expovariate(0.4))) if chance.random() < 0.8 else last - 1
            fill(first, end, 0)
            first = end + 1
            if first == last:
                fill(first, last, 0)

    fill(1, length, 1)
    return ConstituencyTree(tuple(f"w{i}" for i in range(1, length + 1)), nodes)  # type: ignore[arg-type]


def random_binary(length: int, chance: random.Random, skew: float = 0.5) -> BinaryTree:
    """A random binary tree; with `skew` near 0 or 1 it branches to one side."""
    spans: list[tuple[int, int]] = []
    agenda = [(1, length)]
    while agenda:
        first, last = agenda.pop()
        if first < last:
            spans.append((first, last))
            cut = first + min(last - first - 1, int((last - first) * chance.betavariate(1 + 9 * skew, 10 - 9 * skew)))
            agenda += [(cut + 1, last), (first, cut)]
    return BinaryTree(tuple(f"w{i}" for i in range(1, length + 1)), tuple(spans))


def random_trees(
    family: str, count: int, seed: int, labels: Sequence[str] = LABELS, longest: int = 40
) -> Iterator[tuple[Any, list[list[str]]]]:
    """Trees of the kind that the family reads, whose words have one to four subwords."""
    chance = random.Random(seed)
    for _ in range(count):
        length = max(1, min(longest, round(chance.gammavariate(2.5, 4.0))))
        if family == "pushdown":
            tree: ConstituencyTree | BinaryTree = random_binary(length, chance, chance.choice([0.1, 0.5, 0.9]))
        else:
            tree = random_phrases(length, chance, labels)
        yield tree, [[f"{w}.{p}" for p in range(chance.choice([1, 1, 1, 2, 2, 3, 4]))] for w in tree.words]


def of_family(family: str, tree: ConstituencyTree) -> ConstituencyTree | BinaryTree:
    """The tree as the family reads it."""
    return tree.binarize() if family == "pushdown" else tree


def every_phrase_tree(
    words: int, labels: Sequence[str], most_open: int, most_begin: int
) -> Iterator[tuple[tuple[str, int, int], ...]]:
    """The nodes, in preorder, of every tree in which so many phrases are around a word and begin at a word."""

    def phrases(first: int, last: int, around: int, begun: int) -> Iterator[tuple[tuple[str, int, int], ...]]:
        if around < most_open and begun < most_begin:
            for inside in rows(first, last, around + 1, begun + 1):
                for label in labels:
                    yield ((label, first, last), *inside)

    def rows(first: int, last: int, around: int, begun: int) -> Iterator[tuple[tuple[str, int, int], ...]]:
        for end in range(first, last + 1):
            for head in [*([()] if end == first else []), *phrases(first, end, around, begun)]:
                for rest in [()] if end == last else rows(end + 1, last, around, 0):
                    yield (*head, *rest)

    return phrases(1, words, 0, 0)
