"""CoNLL-U and CoNLL-X files: a path in, a stream of `DependencyTree`s out; and back to a file, column for column.

One sentence is in memory at a time; `.gz` files are read and written as they are. Comments, multiword ranges, empty
nodes and the columns dtg does not use travel with the tree. docs/decisions.md says why this reader is our own.
"""

import gzip
import zlib
from collections.abc import Iterable, Iterator
from io import BufferedWriter
from pathlib import Path
from typing import Literal

from dtg.errors import InputError, RootCountError, TreebankError, TreeError
from dtg.io.files import check_choice, replacing
from dtg.trees.report import Skipped, TreebankReport
from dtg.trees.tree import DependencyTree, Source

Roots = Literal["error", "first", "skip"]
ROOTS: tuple[Roots, ...] = ("error", "first", "skip")

COLUMNS = 10
FORM, HEAD, DEPREL = 1, 6, 7
SKIP_ADVICE = "or pass --skip-invalid (skip_invalid=True) to leave such sentences out (they are counted and listed)."


def read_conllu(
    path: str | Path,
    *,
    roots: Roots = "error",
    skip_invalid: bool = False,
    report: TreebankReport | None = None,
) -> Iterator[DependencyTree]:
    """Stream the trees of a CoNLL-U or CoNLL-X file, gzipped or not.

    `roots` says what happens to a sentence with several root words: raise, attach the later ones to the first, or leave
    it out. With `skip_invalid`, sentences that cannot be read are left out. Both are recorded in `report`.
    """
    check_choice("roots", roots, ROOTS)
    path = Path(path)
    if not path.is_file():
        raise InputError(f"cannot read {path}: there is no such file.")
    return _trees(path, roots, skip_invalid, TreebankReport() if report is None else report)


def write_conllu(trees: Iterable[DependencyTree], path: str | Path) -> int:
    """Write trees as CoNLL-U (gzipped if the name ends in .gz) and return how many; an interrupted write leaves no file."""
    path, count = Path(path), 0
    with replacing(path) as temporary, _open_to_write(temporary, compress=path.suffix == ".gz") as file:
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


def _open_to_write(path: Path, *, compress: bool) -> gzip.GzipFile | BufferedWriter:
    # mtime=0: the same trees make the same bytes.
    return gzip.GzipFile(path, "wb", mtime=0) if compress else path.open("wb")


def _trees(path: Path, roots: Roots, skip_invalid: bool, report: TreebankReport) -> Iterator[DependencyTree]:
    for sentence, (first_line, block, failure) in enumerate(sentence_blocks(path), start=1):
        try:
            if failure is not None:
                raise Located(first_line + len(block), failure, "Get the file again,")
            tree, further_roots = parse_block(str(path), sentence, first_line, block, roots)
        except _SeveralRoots as problem:
            report.skipped.append(Skipped(str(path), sentence, problem.line, problem.reason))
        except Located as problem:
            if not skip_invalid:
                advice = f"{problem.advice} {SKIP_ADVICE}"
                raise TreebankError(path, sentence, problem.line, problem.reason, advice) from None
            report.skipped.append(Skipped(str(path), sentence, problem.line, problem.reason))
        else:
            report.sentences += 1
            report.words += len(tree)
            report.several_roots += further_roots > 0
            report.reattached_roots += further_roots
            yield tree


def sentence_blocks(path: Path) -> Iterator[tuple[int, list[bytes], str | None]]:
    """(number of its first line, lines, what broke off the file) for each sentence.

    Blank lines at the end of the file are allowed; anywhere else, one too many is an empty sentence.
    """
    with path.open("rb") as raw:
        file = gzip.GzipFile(fileobj=raw) if raw.read(2) == b"\x1f\x8b" else raw
        raw.seek(0)
        number, block, first, blank = 0, list[bytes](), 1, list[int]()
        try:
            for number, line in enumerate(file, start=1):
                if line.strip(b"\r\n \t"):
                    for empty in blank:  # blank lines that turn out not to be the file's last
                        yield empty, [], None
                    blank.clear()
                    if not block:
                        first = number
                    block.append(line)
                elif block:
                    yield first, block, None
                    block = []
                else:
                    blank.append(number)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            reason = f"the compressed file breaks off or is damaged here ({error}); what follows is lost."
            yield (first if block else number + 1), block, reason
            return
    if block:
        yield first, block, None


class Located(Exception):  # noqa: N818 - not an error yet: it becomes one, or a line in the report
    def __init__(self, line: int, reason: str, advice: str) -> None:
        self.line, self.reason, self.advice = line, reason, advice


class _SeveralRoots(Located):
    """Left out because the caller said roots="skip"."""


def parse_block(
    path: str, sentence: int, first_line: int, block: list[bytes], roots: Roots
) -> tuple[DependencyTree, int]:
    """One sentence's lines as a tree, and how many further roots were attached to the first."""
    comments, columns, inserted = list[str](), list[tuple[str, ...]](), list[tuple[int, str]]()
    heads, lines = list[int](), list[int]()
    for number, raw in enumerate(block, start=first_line):
        try:
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            reason = f"byte {error.start + 1} of the line is {raw[error.start]:#04x}, which is not UTF-8."
            raise Located(number, reason, "Convert the file to UTF-8,") from None
        if line.startswith("#"):
            comments.append(line)
            continue
        fields = tuple(line.split("\t"))
        if len(fields) != COLUMNS:
            reason = f"the line has {len(fields)} columns; {COLUMNS} are expected, with tabs between them."
            raise Located(number, reason, "Mend the line,")
        if fields[0] == str(len(columns) + 1):
            columns.append(fields)
            heads.append(_head(fields[HEAD], number, len(columns)))
            lines.append(number)
        elif fields[0].replace("-", ".").replace(".", "", 1).isdigit() and not fields[0].isdigit():
            inserted.append((len(columns), line))
        else:
            reason = f"the line has ID {fields[0]!r}; {len(columns) + 1} is expected here, or a range or an empty node."
            raise Located(number, reason, "Fix the ID column,")
    if not columns:
        raise Located(first_line, "the sentence is empty: it has no words.", "Remove it,")
    further = attach_further_roots(heads) if roots == "first" else 0
    words = tuple(fields[FORM] for fields in columns)
    labels = tuple(fields[DEPREL] for fields in columns)
    source = Source(path, sentence, first_line, tuple(comments), tuple(columns), tuple(inserted))
    try:
        return DependencyTree(words, tuple(heads), labels, source), further
    except RootCountError as error:
        located = _SeveralRoots if roots == "skip" and heads.count(0) > 1 else Located
        advice = (
            "Fix the HEAD column, pass --roots first or --roots skip," if heads.count(0) else "Fix the HEAD column,"
        )
        raise located(lines[error.word - 1], str(error), advice) from None
    except TreeError as error:
        raise Located(lines[error.word - 1], str(error), "Fix the HEAD column,") from None


def _head(text: str, line: int, word: int) -> int:
    if not (text.isascii() and text.isdigit()):
        raise Located(line, f"word {word} has head {text!r}; a whole number is expected.", "Fix the HEAD column,")
    return int(text)


def attach_further_roots(heads: list[int]) -> int:
    """Give every root word after the first to the first, and say how many there were."""
    roots = [word for word, head in enumerate(heads, start=1) if head == 0]
    for word in roots[1:]:
        heads[word - 1] = roots[0]
    return max(0, len(roots) - 1)
