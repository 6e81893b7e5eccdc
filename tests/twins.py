"""Slow twins: rows written down from the paper's Algorithm 1 and its appendix, as amended in the design, with plain lists.

They share nothing with `dtg.families` but the `Row` they fill. A stack item is a list of row numbers (one for each piece)
and the piece that names it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from dtg.families.rows import Kind, Row, RowView
from dtg.transitions import Action, Operation
from dtg.trees import DependencyTree


@dataclass
class Item:
    rows: list[int]
    name: str


class Writer:
    """Collects rows; what a row predicts is filled in when the next action is known."""

    def __init__(self, representation: str) -> None:
        self.rows: list[Row] = []
        self.representation = representation

    def write(self, reads: tuple[str, ...], kind: Kind, attended: dict[int, int]) -> int:
        index = len(self.rows)
        pairs = sorted({**attended, index: 0}.items())
        self.rows.append(Row(index, reads, kind, tuple(i for i, _ in pairs), tuple(r for _, r in pairs), None))
        return index

    def arc(self, operation: str, head: str) -> tuple[str, ...]:
        return {"word+arc": (operation, head), "arc": (operation,), "word": (head,)}[self.representation]

    def predict(self, action: str) -> None:
        row = self.rows[-1]
        self.rows[-1] = Row(row.index, row.reads, row.kind, row.attends, row.relative, action)


def over_stack(stack: Sequence[Item]) -> dict[int, int]:
    """Every row on the stack, at the number of items above it, no more than 62."""
    return {row: min(above, 62) for above, item in enumerate(reversed(stack)) for row in item.rows}


def stack_twin(
    actions: Sequence[Action], pieces: Sequence[Sequence[str]], representation: str, *, eager: bool, swift: bool = False
) -> tuple[Row, ...]:
    """dtg (`eager=False`), dtg-eager (`eager=True`), dtg-swift (both)."""
    out = Writer(representation)
    stack = [Item([out.write(("<ROOT>",), Kind.STACK, {})], "<ROOT>")]
    buffer_filled = False
    words = iter(pieces)
    for action in actions:
        if action.operation == Operation.GEN:
            stack.append(Item([], ""))
            for piece in next(words):
                out.predict(f"GEN({piece})")
                above = {row: min(r, 62) for row, r in over_stack(stack).items()}
                stack[-1].rows.append(out.write((piece,), Kind.STACK, above))
                stack[-1].name = piece
            buffer_filled = eager
            continue
        out.predict(str(action))
        if action.operation == Operation.END:
            break
        if action.operation == Operation.POP:
            del stack[-2 if buffer_filled else -1]
            out.write(("POP",), Kind.POPSTACK, over_stack(stack))
            continue
        k = action.argument if isinstance(action.argument, int) else 1
        involved = stack[-(k + 1) :]
        del stack[-(k + 1) :]
        left = action.operation == Operation.LEFTARC
        head = involved[-1] if left else involved[0]
        suffix = f"[{k}]" if swift else ""
        name = action.operation.name
        attended = {row: 0 if item is head else -1 for item in involved for row in item.rows}
        composed = out.write(out.arc(name + suffix, head.name), Kind.COMPOSE, attended)
        stack.append(Item([composed], head.name))
        if eager and not left:
            stack.append(involved[-1])
            buffer_filled = False
        out.write(out.arc(f"{name}2{suffix}", head.name), Kind.STACK, over_stack(stack))
    return tuple(out.rows)


def linear_twin(actions: Sequence[Action], pieces: Sequence[Sequence[str]], representation: str) -> tuple[Row, ...]:
    """txl-tokens and txl-trans: all earlier rows, at their distance."""
    out = Writer(representation)
    words = iter(pieces)

    def row(name: str) -> None:
        out.write((name,), Kind.LINEAR, {i: len(out.rows) - i for i in range(len(out.rows))})

    row("<ROOT>")
    for action in actions:
        if action.operation == Operation.GEN:
            for piece in next(words):
                out.predict(f"GEN({piece})")
                row(piece)
        else:
            out.predict(str(action))
            if action.operation != Operation.END:
                row(action.operation.name)
    return tuple(out.rows)


def with_memory(rows: Sequence[Row], is_word: Sequence[bool], memory: str, on_compose: str) -> tuple[Row, ...]:
    """What memory heads of hybrids see beside each row's stack; `is_word` says which rows <ROOT> and subwords were read in."""
    found = []
    for row in rows:
        if row.kind == Kind.COMPOSE and on_compose == "composed":
            seen = list(zip(row.attends, row.relative, strict=True))
        elif memory == "rows":
            seen = [(key, row.index - key) for key in range(row.index + 1)]
        else:
            words = [key for key in range(row.index) if is_word[key]]
            seen = [(key, min(len(words) - place, 62)) for place, key in enumerate([*words, row.index])]
        stack = RowView("stack", row.attends, row.relative)
        views = (stack, RowView("memory", tuple(key for key, _ in seen), tuple(relative for _, relative in seen)))
        found.append(Row(row.index, row.reads, row.kind, row.attends, row.relative, row.predicts, views))
    return tuple(found)


def hybrid_twin(
    actions: Sequence[Action],
    pieces: Sequence[Sequence[str]],
    representation: str,
    memory: str = "words",
    on_compose: str = "composed",
    *,
    eager: bool = False,
    swift: bool = False,
) -> tuple[Row, ...]:
    """dtg-hybrid, and what it would be with the other systems."""
    rows = stack_twin(actions, pieces, representation, eager=eager, swift=swift)
    is_word, words = [True], iter(pieces)  # <ROOT> counts as one
    for action in actions:
        if action.operation == Operation.GEN:
            is_word += [True for _ in next(words)]
        elif action.operation == Operation.POP:
            is_word += [False]
        elif action.operation != Operation.END:
            is_word += [False, False]
    assert len(is_word) == len(rows)
    return with_memory(rows, is_word, memory, on_compose)


Twin = Callable[[Sequence[Action], Sequence[Sequence[str]], str], tuple[Row, ...]]

TWINS: dict[str, Twin] = {
    "dtg": lambda a, p, r: stack_twin(a, p, r, eager=False),
    "dtg-eager": lambda a, p, r: stack_twin(a, p, r, eager=True),
    "dtg-swift": lambda a, p, r: stack_twin(a, p, r, eager=True, swift=True),
    "dtg-hybrid": hybrid_twin,
    "txl-trans": linear_twin,
    "txl-tokens": linear_twin,
}


def random_projective_heads(length: int, chance: random.Random, *, chain: float = 0.0) -> tuple[int, ...]:
    """A random projective tree: a root for each span, the rest split into its dependents' spans.

    With `chain` near 1, roots stay at the edges of their spans, which makes deep trees and deep stacks.
    """
    heads = [0] * length

    def fill(low: int, high: int, head: int) -> None:  # words low..high-1, one subtree or several
        while low < high:
            end = high if head == 0 else chance.randint(low + 1, high)
            root = chance.choice([low, end - 1]) if chance.random() < chain else chance.randrange(low, end)
            heads[root] = head
            agenda.append((low, root, root + 1))
            agenda.append((root + 1, end, root + 1))
            low = end

    agenda: list[tuple[int, int, int]] = [(0, length, 0)]
    while agenda:
        fill(*agenda.pop())
    return tuple(heads)


def random_sentences(
    count: int, seed: int, *, mean_words: float = 12.0, longest: int = 60
) -> Iterator[tuple[DependencyTree, list[list[str]]]]:
    """Random trees whose words have one to four pieces."""
    chance = random.Random(seed)
    for number in range(count):
        length = max(1, min(longest, round(chance.gammavariate(2.5, mean_words / 2.5))))
        heads = random_projective_heads(length, chance, chain=chance.choice([0.0, 0.5, 0.95]))
        words = tuple(f"w{i}" for i in range(1, length + 1))
        pieces = [[f"s{number}{w}.{p}" for p in range(chance.choice([1, 1, 1, 1, 2, 2, 3, 4]))] for w in words]
        yield DependencyTree(words, heads), pieces


def every_projective_tree(length: int) -> list[tuple[int, ...]]:
    """The heads of every single-root projective tree, straight from the definition."""
    return [heads for heads in every_tree(length) if not crosses(heads)]


def every_tree(length: int) -> Iterator[tuple[int, ...]]:
    """The heads of every single-root tree, projective or not."""

    def reaches_root(heads: tuple[int, ...], word: int) -> bool:
        for _ in range(length):
            word = heads[word - 1]
            if word == 0:
                return True
        return False

    def extend(prefix: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(prefix) == length:
            if prefix.count(0) == 1 and all(reaches_root(prefix, word) for word in range(1, length + 1)):
                yield prefix
            return
        for head in range(length + 1):
            if head != len(prefix) + 1 and not (head == 0 and 0 in prefix):
                yield from extend((*prefix, head))

    return extend(())


def crosses(heads: Sequence[int]) -> bool:
    """Two arcs cross if each has an end strictly inside the other."""
    arcs = [(min(head, word), max(head, word)) for word, head in enumerate(heads, start=1)]
    return any(a < c < b < d for a, b in arcs for c, d in arcs)
