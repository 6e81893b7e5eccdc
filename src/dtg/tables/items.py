"""Reads the sentences that a table is made from, out of a text, a file or a stream, as numbered `Item`s.

Files hold one sentence per line, in UTF-8, gzipped or not. Empty lines have no sentence but keep their number, and are
counted. Lines are not kept in memory: a file may be of any size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Generic, Protocol, TypeVar

from dtg.errors import DamagedFileError, FileError, InputError
from dtg.io.text_files import DAMAGED, damage, decode_line, unzipped
from dtg.tables.columns import Column, Row
from dtg.text.sentence import Sentence
from dtg.text.words import ENGLISH
from dtg.trees import ConstituencyTree, DependencyTree

Content = TypeVar("Content", covariant=True)
ReadTree = DependencyTree | ConstituencyTree  # that knows where it was read
ASCII_SPACE = " \t\r\n\f\v"  # between given words; a no-break space stands inside words ("10 000")


@dataclass(frozen=True, slots=True)
class Item(Generic[Content]):
    """One sentence of the input."""

    sentence_id: int
    content: Content
    # As it stands in the input: a resumed run compares these bytes with those of the run before.
    written: bytes
    # Bytes of the file read so far; rows, in a table.
    position: int = 0
    # Values that every row of the sentence repeats.
    carried: Row = ()


class Sentences(Protocol):
    """Sentences of the input, in order, and what is known about it."""

    @property
    def name(self) -> str: ...

    @property
    def size(self) -> int | None:
        """Of the input, in the unit of the items' positions; None if it is not known."""

    @property
    def typed(self) -> bool:
        """Whether a person types them, who waits for the answer to one before typing the next."""

    @property
    def unit(self) -> str:
        """What a sentence stands in: a line, a row."""

    @property
    def empty(self) -> int:
        """How many lines without a sentence the last iteration has met."""

    @property
    def columns(self) -> Sequence[Column]:
        """What `Item.carried` holds."""

    def __iter__(self) -> Iterator[Item[str]] | Iterator[Item[Sentence]]: ...


class Lines:
    """The sentences of a file or stream, a line each. Iterated once; `empty` counts the lines without a sentence."""

    unit = "line"
    columns: Sequence[Column] = ()

    def __init__(
        self, open: Callable[[], BinaryIO], name: str, size: int | None = None, *, typed: bool = False
    ) -> None:
        self.open, self.name, self.size = open, name, size
        self.typed = typed  # by a person, who waits for the answer to a line before typing the next
        self.empty = 0

    @classmethod
    def of_file(cls, path: Path) -> Lines:
        """A file; `size` is the number of its bytes, if it can be known before it is read."""
        if not path.exists():
            raise FileError(f"cannot read {path}: there is no such file.")
        if path.is_dir():
            raise FileError(f"cannot read {path}: it is a folder; a file with one sentence per line is expected.")
        return cls(lambda: path.open("rb"), str(path), path.stat().st_size if path.is_file() else None)

    def __iter__(self) -> Iterator[Item[str]]:
        number = 0
        try:
            with self.open() as raw:
                for number, line in enumerate(unzipped(raw), start=1):
                    text = decoded(line, number, self.name)
                    if text.strip():
                        yield Item(number, text, line, 0 if self.size is None else raw.tell())
                    else:
                        self.empty += 1
        except DAMAGED as error:
            reason = f"{damage(error, ' here')}. Get the file again."
            raise DamagedFileError(f"cannot read {self.name}, line {number + 1}: {reason}") from None
        except OSError as error:
            raise FileError(f"cannot read {self.name}: {error.strerror or error}.") from None


class OneText:
    """A text given as such: one sentence, whatever lines it has."""

    name, size, empty, typed, unit = "the text", None, 0, False, "line"
    columns: Sequence[Column] = ()

    def __init__(self, text: str) -> None:
        if not text.strip():
            raise InputError(f"the text {text!r} is empty. Give a sentence with at least one word, or a file of them.")
        try:
            self.item = Item(1, text, text.encode())
        except UnicodeEncodeError as error:
            raise InputError(f"character {error.start + 1} of the text is not valid UTF-8; fix the text.") from None

    def __iter__(self) -> Iterator[Item[str]]:
        return iter((self.item,))


def decoded(line: bytes, number: int, name: str) -> str:
    """A line as text, without its end; an error names the line."""
    try:
        text = decode_line(line, number)
    except ValueError as error:
        raise FileError(f"cannot read {name}, line {number}: {error}\nConvert the file to UTF-8.") from None
    if "\0" in text:
        raise FileError(
            f"cannot read {name}, line {number}: it holds a NUL character, which no text has; is this a text file in UTF-8?"
        )
    return text


def tree_items(trees: Iterable[ReadTree]) -> Iterator[Item[ReadTree]]:
    """Trees from a file, each with its number there: those that were left out leave a gap."""
    for tree in trees:
        assert tree.source is not None
        structure = tree.heads if isinstance(tree, DependencyTree) else tree.key
        yield Item(tree.source.sentence, tree, "\t".join((*tree.words, *map(str, structure))).encode())


def sentence_of(text: str | Sentence, *, tokenized: bool, language: str = ENGLISH) -> Sentence:
    """A line's words: split from plain text or, if it is tokenized, between ASCII white space and nowhere else."""
    if isinstance(text, Sentence):
        return text
    if not tokenized:
        return Sentence.of_text(text, language)
    table = str.maketrans(dict.fromkeys(ASCII_SPACE, " "))
    return Sentence.of_words([word for word in text.translate(table).split(" ") if word])
