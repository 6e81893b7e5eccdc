"""Splits a file in brackets into the lines of each tree, and parses them into labels and what they contain, unchanged."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dtg.io.text_files import DAMAGED, damage, decode_line, unzipped
from dtg.trees.conllu import SentenceProblem

TOKEN = re.compile(r"[()]|[^() \t\r\n\f\v]+")  # no-break and thin spaces are part of a word
BLANK = b" \t\r\n\f\v"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LOOKAHEAD = 1000  # lines of a tree that continues at the margin


@dataclass(frozen=True, slots=True)
class BracketBlock:
    """Lines that hold one tree; or several, if they are on one line."""

    lines: list[tuple[int, bytes]]  # with their numbers, from 1
    damage: str | None = None  # why the file breaks off after these lines
    end: int = 0  # the number of the line where it does


def bracket_blocks(path: Path) -> Iterator[BracketBlock]:
    """The lines of a file, compressed or not, tree by tree."""
    with path.open("rb") as file:
        yield from read_bracket_blocks(unzipped(file))


def read_bracket_blocks(file: Iterable[bytes], first_line: int = 1) -> Iterator[BracketBlock]:
    """The lines of an open file, tree by tree: up to where brackets balance, or else up to a blank line or the next tree.

    A tree begins with a bracket at the margin. In a file without indentation so do lines that continue one: a file is taken
    to be of that kind if its first tree ends as such.
    """
    lines, depth, restart = list[tuple[int, bytes]](), 0, 0  # restart: the first line that may begin another tree
    again = deque[tuple[int, bytes]]()  # lines that were read ahead
    is_indented, number = False, 0
    source = enumerate(file, start=first_line)
    while True:
        try:
            line = again.popleft() if again else next(source, None)
        except DAMAGED as error:
            yield BracketBlock(lines, f"{damage(error, ' here')}; what follows is lost.", number + 1)
            return
        is_gap = line is None or not line[1].strip(BLANK)
        at_margin = line is not None and line[1].removeprefix(BYTE_ORDER_MARK).startswith(b"(")
        if lines and (is_gap or (at_margin and is_indented) or (restart and len(lines) > LOOKAHEAD)):
            if line is not None:
                again.appendleft(line)
            cut = restart or len(lines)
            again.extendleft(reversed(lines[cut:]))
            yield BracketBlock(lines[:cut])
            is_indented |= restart > 0
            lines, depth, restart = [], 0, 0
            continue
        if line is None:
            return
        number = line[0]
        if is_gap:
            continue
        if at_margin and lines and not restart:
            restart = len(lines)
        lines.append(line)
        depth += line[1].count(b"(") - line[1].count(b")")
        if depth <= 0:
            yield BracketBlock(lines)
            is_indented |= not restart
            lines, depth, restart = [], 0, 0


@dataclass(slots=True)
class Bracket:
    """A pair of brackets as it stands in the file: a label, and words and brackets."""

    line: int
    label: str = ""
    children: list[Bracket | str] = field(default_factory=list)
    words: int = 0  # of the children


def parse_block(block: BracketBlock) -> list[list[Bracket]]:
    """The trees of a block, each as its brackets in preorder."""
    found, around = list[list[Bracket]](), list[Bracket]()
    may_be_label = False
    for number, raw in block.lines:
        try:
            text = decode_line(raw, number)
        except ValueError as error:
            raise SentenceProblem(number, str(error), "Convert the file to UTF-8,") from None
        for token in TOKEN.findall(text):
            if token == "(":
                bracket = Bracket(number)
                if around:
                    around[-1].children.append(bracket)
                else:
                    found.append([])
                found[-1].append(bracket)
                around.append(bracket)
            elif not around:
                what = "a closing bracket" if token == ")" else repr(shortened(token))
                reason = f"{what} is outside of all brackets; a tree such as (S (NP (NNS Dogs)) (VP (VBP bark))) is expected."
                raise SentenceProblem(number, reason, "Fix the brackets,")
            elif token == ")":
                closed = around.pop()
                if not closed.children:
                    reason = f"the brackets ({shortened(closed.label)}) have no word or phrase in them."
                    raise SentenceProblem(number, reason, "Fill or remove them,")
            elif may_be_label:
                around[-1].label = token
            else:
                around[-1].children.append(token)
                around[-1].words += 1
            may_be_label = token == "("
    if block.damage is not None:
        raise SentenceProblem(block.end, block.damage, "Get the file again,")
    if around:
        brackets = "1 bracket is" if len(around) == 1 else f"{len(around)} brackets are"
        reason = f"the tree breaks off: {brackets} not closed."
        raise SentenceProblem(around[0].line, reason, "Close them, and indent lines that continue a tree,")
    return found


def shortened(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:40]}..."
