"""Sentences that are to be parsed, from lines of text or CoNLL-U, and the CoNLL-U that is written once they are.

Of CoNLL-U input, ids, words, tags, comments and what else stands there are kept; heads, labels and enhanced dependencies
are not read, and may be missing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from dtg.errors import DamagedFileError, FileError
from dtg.io.text_files import check_is_file
from dtg.tables.items import Item, Lines, OneText, sentence_of
from dtg.text.documents import sentence_id
from dtg.text.sentence import Sentence
from dtg.text.words import ENGLISH
from dtg.trees import DependencyTree, format_conllu, read_brackets
from dtg.trees.conllu import COLUMNS, FORM, HEAD, SentenceProblem, read_source, sentence_blocks
from dtg.trees.kinds import Tree, format_tree
from dtg.trees.tree import Source

UPOS, DEPS, MISC = 3, 8, 9
CONFIDENCE = "Confidence"  # the probability of a word's arc, in MISC
OURS = re.compile(r"#\s*(tree|prob|log_prob|log_joint|log_bound|posterior)\s*=")  # comments that this module writes


class UnparsedSentence:
    """Words, and everything else that is to be written beside them.

    Those of plain text are looked for when they are first asked for: of processes that share a file, all read every line, and
    each needs the words of a few.
    """

    __slots__ = ("_find", "_found", "most_words")

    def __init__(self, words: tuple[str, ...], source: Source) -> None:
        self._found: tuple[tuple[str, ...], Source] | None = (words, source)
        self._find: Callable[[], UnparsedSentence] | None = None
        self.most_words = len(words)

    @classmethod
    def of_text(cls, text: str, find: Callable[[], UnparsedSentence]) -> UnparsedSentence:
        """That of a text, which `find` will find. It has no more words than characters."""
        sentence = cls.__new__(cls)
        sentence._found, sentence._find, sentence.most_words = None, find, len(text)
        return sentence

    @property
    def words(self) -> tuple[str, ...]:
        return self._both()[0]

    @property
    def source(self) -> Source:
        return self._both()[1]

    def has_at_most(self, words: int) -> bool:
        """Whether it has at most this number of words; they are not looked for where there are fewer characters."""
        return self.most_words <= words or len(self.words) <= words

    def _both(self) -> tuple[tuple[str, ...], Source]:
        if self._found is None:
            assert self._find is not None
            found = self._find()
            self._found, self._find = (found.words, found.source), None
        return self._found


def read_lines(lines: Lines | OneText, *, tokenized: bool, language: str = ENGLISH) -> Iterator[Item[UnparsedSentence]]:
    """A sentence from each line that is not empty; its `sent_id` is the line's number."""
    for item in lines:
        find = partial(from_line, item, lines.name, tokenized=tokenized, language=language)
        yield Item(item.sentence_id, UnparsedSentence.of_text(item.content, find), item.written, item.position)


def from_line(item: Item[str], name: str, *, tokenized: bool, language: str) -> UnparsedSentence:
    """The sentence of a line."""
    sentence = sentence_of(item.content, tokenized=tokenized, language=language)
    return from_sentence(sentence, name, item.sentence_id, (f"# sent_id = {item.sentence_id}",))


def from_sentence(sentence: Sentence, path: str, line: int, comments: tuple[str, ...]) -> UnparsedSentence:
    """A sentence of plain text; its text becomes one more comment."""
    columns = []
    for index, word in enumerate(sentence.words):
        follows = index + 1 < len(sentence) and sentence.starts[index + 1] == sentence.ends[index]
        columns.append((str(index + 1), word, *["_"] * (COLUMNS - 3), "SpaceAfter=No" if follows else "_"))
    text = f"# text = {' '.join(sentence.text.split())}"
    return UnparsedSentence(sentence.words, Source(path, line, line, (*comments, text), tuple(columns), ()))


def read_unparsed_conllu(path: Path) -> Iterator[Item[UnparsedSentence]]:
    """The sentences of a CoNLL-U file, gzipped or not."""
    check_is_file(path)
    for number, block in enumerate(sentence_blocks(path), start=1):
        if block.damage is not None:
            raise DamagedFileError(f"cannot read {path}, line {block.first_line + len(block.lines)}: {block.damage}")
        source = read_block(str(path), number, block.first_line, block.lines)
        words = tuple(fields[FORM] for fields in source.columns)
        yield Item(number, UnparsedSentence(words, source), b"".join(block.lines))


def read_unparsed_brackets(path: Path) -> Iterator[Item[UnparsedSentence]]:
    """The words of a file in brackets, without traces; numbers are those of the trees in the file."""
    for tree in read_brackets(path):
        assert tree.source is not None
        number = tree.source.sentence
        sentence = Sentence.of_words(tree.words)
        unparsed = from_sentence(sentence, str(path), tree.source.line, (f"# sent_id = {sentence_id(tree.source)}",))
        yield Item(number, unparsed, "\t".join(tree.words).encode())


def read_block(path: str, sentence: int, first_line: int, block: list[bytes]) -> Source:
    """One sentence's lines, without what a parser is to find out."""
    try:
        source, lines = read_source(path, sentence, first_line, block)
    except SentenceProblem as problem:
        raise FileError(f"cannot read {path}, line {problem.line}: {problem.reason}") from None
    columns = list[tuple[str, ...]]()
    for line, fields in zip(lines, source.columns, strict=True):
        if not fields[FORM] or "\0" in fields[FORM]:
            raise FileError(f"cannot read {path}, line {line}: the word is {fields[FORM]!r}, which no text has.")
        columns.append((*fields[:HEAD], "_", "_", "_", *fields[DEPS + 1 :]))
    comments = tuple(comment for comment in source.comments if not OURS.match(comment))
    return replace(source, comments=comments, columns=tuple(columns))


def parsed_text(sentence: UnparsedSentence, tree: Tree, comments: Sequence[str]) -> str:
    """The tree of a sentence as a file holds it: CoNLL-U with comments, or brackets, which have no place for any."""
    return parsed_conllu(sentence, tree, comments) if isinstance(tree, DependencyTree) else format_tree(tree)


def parsed_conllu(
    sentence: UnparsedSentence,
    tree: DependencyTree,
    comments: Sequence[str],
    *,
    arc_probabilities: Sequence[float] | None = None,
    tags: Sequence[str] | None = None,
) -> str:
    """The tree of a sentence as CoNLL-U.

    Args:
        sentence: what was parsed.
        tree: its tree.
        comments: what is known about the tree, as it is written: "prob = 0.5".
        arc_probabilities: for MISC, as Confidence.
        tags: for UPOS, where the sentence has none.
    """
    columns = list(sentence.source.columns)
    for place, fields in enumerate(columns):
        changed = list(fields)
        if tags is not None and fields[UPOS] == "_":
            changed[UPOS] = tags[place]
        if arc_probabilities is not None:
            others = [] if fields[MISC] == "_" else fields[MISC].split("|")
            kept = [one for one in others if not one.startswith(f"{CONFIDENCE}=")]
            changed[MISC] = "|".join([f"{CONFIDENCE}={arc_probabilities[place]:.4f}", *kept])
        columns[place] = tuple(changed)
    added = [f"# {comment}" for comment in comments]
    source = replace(sentence.source, comments=(*sentence.source.comments, *added), columns=tuple(columns))
    return format_conllu(replace(tree, source=source))


def probability_comments(log_probability: float, rank: int | None = None) -> list[str]:
    """The comments of a tree of a parser; `rank` is its number in a list of several."""
    known = [f"prob = {math.exp(log_probability):.6g}", f"log_prob = {log_probability:.6f}"]
    return known if rank is None else [f"tree = {rank}", *known]
