"""Reads and writes CoNLL-U and CoNLL-X files: a stream of `DependencyTree`s, and back to a file, column for column.

One sentence is in memory at a time; files may be compressed. Comments, multiword ranges, empty nodes and the columns dtg does
not use stay with the tree. docs/decisions.md says why this reader is our own.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from dtg.errors import InputError, RootCountError, TreebankError, TreeError
from dtg.io.atomic import replacing
from dtg.io.settings import check_choice
from dtg.io.text_files import DAMAGED, check_is_file, damage, decode_line, open_to_write, unzipped
from dtg.trees.report import SkippedSentence, TreebankReport
from dtg.trees.tree import DependencyTree, Source

Roots = Literal["error", "first", "skip"]
ROOTS: tuple[Roots, ...] = ("error", "first", "skip")

COLUMNS = 10
FORM, HEAD, DEPREL = 1, 6, 7
BETWEEN = re.compile(r"[0-9]{1,9}[-.][0-9]{1,9}")  # ids of multiword tokens and empty nodes
MOST_DIGITS = 18  # of the number of a word
SKIP_ADVICE = "or pass --skip-invalid (skip_invalid=True) to leave such sentences out (they are counted and listed)."


def read_conllu(
    path: str | Path,
    *,
    roots: Roots = "error",
    skip_invalid: bool = False,
    report: TreebankReport | None = None,
) -> Iterator[DependencyTree]:
    """Stream the trees of a CoNLL-U or CoNLL-X file, compressed (.gz, .xz) or not.

    Args:
        path: the file.
        roots: what happens to a sentence with several root words: "error" raises, "first" attaches the later ones to the
            first, "skip" leaves the sentence out.
        skip_invalid: leave out sentences that cannot be read, instead of raising a `TreebankError`.
        report: counts what is reattached or left out.
    """
    check_choice("roots", roots, ROOTS)
    path = Path(path)
    check_is_file(path)
    return _trees(path, roots, skip_invalid, TreebankReport() if report is None else report)


def write_conllu(trees: Iterable[DependencyTree], path: str | Path) -> int:
    """Write trees as CoNLL-U (compressed for .gz and .xz) and return how many; an interrupted write leaves no file."""
    path, count = Path(path), 0
    with replacing(path) as temporary, open_to_write(temporary, suffix=path.suffix) as file:
        for tree in trees:
            file.write(format_conllu(tree).encode())
            count += 1
    return count


def format_conllu(tree: DependencyTree) -> str:
    """One tree as CoNLL-U text, with its closing blank line."""
    lines = list(tree.source.comments) if tree.source else []
    inserted = dict[int, list[str]]()
    for before, line in tree.source.inserted if tree.source else ():
        inserted.setdefault(before, []).append(line)
    for number, (word, head) in enumerate(zip(tree.words, tree.heads, strict=True), start=1):
        lines += inserted.get(number - 1, [])
        fields = list(tree.source.columns[number - 1]) if tree.source else [str(number), *["_"] * (COLUMNS - 1)]
        if any(character in word for character in "\t\n\r"):
            raise InputError(
                f"word {number}, {word!r}, has a tab or line break in it and cannot be written as CoNLL-U."
            )
        fields[FORM], fields[HEAD] = word, str(head)
        if tree.labels is not None:
            fields[DEPREL] = tree.labels[number - 1]
        lines.append("\t".join(fields))
    lines += inserted.get(len(tree), [])
    return "\n".join(lines) + "\n\n"


def _trees(path: Path, roots: Roots, skip_invalid: bool, report: TreebankReport) -> Iterator[DependencyTree]:
    for sentence, block in enumerate(sentence_blocks(path), start=1):
        try:
            if block.damage is not None:
                raise SentenceProblem(block.first_line + len(block.lines), block.damage, "Get the file again,")
            tree, further_roots = parse_block(str(path), sentence, block.first_line, block.lines, roots)
        except _SeveralRoots as problem:
            report.skipped.append(SkippedSentence(str(path), sentence, problem.line, problem.reason))
        except SentenceProblem as problem:
            if not skip_invalid:
                advice = f"{problem.advice} {SKIP_ADVICE}"
                raise TreebankError(path, sentence, problem.line, problem.reason, advice) from None
            report.skipped.append(SkippedSentence(str(path), sentence, problem.line, problem.reason))
        else:
            report.sentences += 1
            report.words += len(tree)
            report.several_roots += further_roots > 0
            report.reattached_roots += further_roots
            yield tree


@dataclass(frozen=True, slots=True)
class SentenceBlock:
    """The lines of one sentence as they stand in the file; none, for an empty sentence."""

    lines: list[bytes]
    first_line: int  # its number in the file, from 1
    offset: int  # of its first byte in the file
    damage: str | None = None  # why the file breaks off after these lines


def sentence_blocks(path: Path) -> Iterator[SentenceBlock]:
    """The sentences of a file, compressed or not."""
    with path.open("rb") as file:
        yield from read_blocks(unzipped(file))


def read_blocks(file: BinaryIO, offset: int = 0, line: int = 1) -> Iterator[SentenceBlock]:
    """The sentences of an open file, from one that begins at a byte offset and a line number.

    Blank lines at the end of the file are allowed; anywhere else, one too many is an empty sentence.
    """
    lines, first, blank = list[bytes](), (line, offset), list[tuple[int, int]]()
    file.seek(offset)
    try:
        for raw in file:
            if raw.strip(b"\r\n \t"):
                for empty in blank:  # blank lines that turn out not to be the file's last
                    yield SentenceBlock([], *empty)
                blank.clear()
                if not lines:
                    first = line, offset
                lines.append(raw)
            elif lines:
                yield SentenceBlock(lines, *first)
                lines = []
            else:
                blank.append((line, offset))
            line, offset = line + 1, offset + len(raw)
    except DAMAGED as error:
        reason = f"{damage(error, ' here')}; what follows is lost."
        yield SentenceBlock(lines, *(first if lines else (line, offset)), reason)
        return
    if lines:
        yield SentenceBlock(lines, *first)


class SentenceProblem(Exception):  # noqa: N818 - not an error yet: it becomes one, or a line in the report
    """A sentence that cannot be read: the line at fault, the reason, and the beginning of an advice."""

    def __init__(self, line: int, reason: str, advice: str) -> None:
        self.line, self.reason, self.advice = line, reason, advice


class _SeveralRoots(SentenceProblem):
    """Left out because the caller said roots="skip"."""


def read_source(path: str, sentence: int, first_line: int, block: list[bytes]) -> tuple[Source, list[int]]:
    """One sentence's lines, split into comments, the columns of its words and what is between; and each word's line number."""
    comments, columns, inserted = list[str](), list[tuple[str, ...]](), list[tuple[int, str]]()
    lines = list[int]()
    for number, raw in enumerate(block, start=first_line):
        try:
            line = decode_line(raw, number)
        except ValueError as error:
            raise SentenceProblem(number, str(error), "Convert the file to UTF-8,") from None
        if line.startswith("#"):
            comments.append(line)
            continue
        fields = tuple(line.split("\t"))
        if len(fields) != COLUMNS:
            reason = f"the line has {len(fields)} columns; {COLUMNS} are expected, with tabs between them."
            raise SentenceProblem(number, reason, "Fix the line,")
        if fields[0] == str(len(columns) + 1):
            columns.append(fields)
            lines.append(number)
        elif BETWEEN.fullmatch(fields[0]):
            inserted.append((len(columns), line))
        else:
            reason = f"the line has ID {fields[0]!r}; {len(columns) + 1} is expected here, or a range or an empty node."
            raise SentenceProblem(number, reason, "Fix the ID column,")
    if not columns:
        raise SentenceProblem(first_line, "the sentence is empty: it has no words.", "Remove it,")
    return Source(path, sentence, first_line, tuple(comments), tuple(columns), tuple(inserted)), lines


def parse_block(
    path: str, sentence: int, first_line: int, block: list[bytes], roots: Roots
) -> tuple[DependencyTree, int]:
    """One sentence's lines as a tree, and how many further roots were attached to the first."""
    source, lines = read_source(path, sentence, first_line, block)
    heads = [_head(fields[HEAD], lines[place], place + 1) for place, fields in enumerate(source.columns)]
    further = attach_further_roots(heads) if roots == "first" else 0
    words = tuple(fields[FORM] for fields in source.columns)
    labels = tuple(fields[DEPREL] for fields in source.columns)
    try:
        return DependencyTree(words, tuple(heads), labels, source), further
    except RootCountError as error:
        problem = _SeveralRoots if roots == "skip" and heads.count(0) > 1 else SentenceProblem
        advice = (
            "Fix the HEAD column, pass --roots first or --roots skip," if heads.count(0) else "Fix the HEAD column,"
        )
        raise problem(lines[error.word - 1], str(error), advice) from None
    except TreeError as error:
        raise SentenceProblem(lines[error.word - 1], str(error), "Fix the HEAD column,") from None


def _head(text: str, line: int, word: int) -> int:
    if not (text.isascii() and text.isdigit()):
        raise SentenceProblem(
            line, f"word {word} has head {text!r}; a whole number is expected.", "Fix the HEAD column,"
        )
    if len(text) > MOST_DIGITS:
        reason = f"word {word} has a head of {len(text):,} digits; the number of a word is expected."
        raise SentenceProblem(line, reason, "Fix the HEAD column,")
    return int(text)


def attach_further_roots(heads: list[int]) -> int:
    """Attach every root word after the first to the first, and return how many there were."""
    roots = [word for word, head in enumerate(heads, start=1) if head == 0]
    for word in roots[1:]:
        heads[word - 1] = roots[0]
    return max(0, len(roots) - 1)
