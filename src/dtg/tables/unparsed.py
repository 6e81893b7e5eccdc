"""Sentences that are to be parsed, from lines of text or CoNLL-U, and the CoNLL-U that is written once they are.

Of CoNLL-U input, ids, words, tags, comments and what else stands there are kept; heads, labels and enhanced dependencies
are not read, and may be missing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from dtg.errors import InputError
from dtg.tables.items import Item, Lines, OneText, decoded, sentence_of
from dtg.text.sentence import Sentence
from dtg.trees import DependencyTree, format_conllu
from dtg.trees.conllu import COLUMNS, DEPREL, FORM, HEAD, sentence_blocks
from dtg.trees.tree import Source

DEPS, MISC = 8, 9
OURS = re.compile(r"#\s*(tree|prob|log_prob)\s*=")  # comments that this module writes


@dataclass(frozen=True, slots=True)
class UnparsedSentence:
    """Words, and everything else that is to be written beside them."""

    words: tuple[str, ...]
    source: Source


def read_lines(lines: Lines | OneText, *, tokenized: bool) -> Iterator[Item[UnparsedSentence]]:
    """A sentence from each line that is not empty; its `sent_id` is the line's number."""
    for item in lines:
        sentence = sentence_of(item.content, tokenized=tokenized)
        comments = (f"# sent_id = {item.sentence_id}",)
        unparsed = from_sentence(sentence, lines.name, item.sentence_id, comments)
        yield Item(item.sentence_id, unparsed, item.written, item.position)


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
    if not path.is_file():
        raise InputError(f"cannot read {path}: there is no such file.")
    for number, (first_line, block, failure) in enumerate(sentence_blocks(path), start=1):
        if failure is not None:
            raise InputError(f"cannot read {path}, line {first_line + len(block)}: {failure}")
        source = read_block(str(path), number, first_line, block)
        words = tuple(fields[FORM] for fields in source.columns)
        yield Item(number, UnparsedSentence(words, source), b"".join(block))


def read_block(path: str, sentence: int, first_line: int, block: list[bytes]) -> Source:
    """One sentence's lines, without what a parser is to find out."""
    comments, columns, inserted = list[str](), list[tuple[str, ...]](), list[tuple[int, str]]()
    for number, raw in enumerate(block, start=first_line):
        line = decoded(raw, number, path)
        fields = line.split("\t")
        if line.startswith("#"):
            if not OURS.match(line):
                comments.append(line)
        elif len(fields) != COLUMNS:
            raise InputError(
                f"cannot read {path}, line {number}: it has {len(fields)} columns; {COLUMNS} are expected, with tabs between."
            )
        elif fields[0] == str(len(columns) + 1) and fields[FORM]:
            fields[HEAD] = fields[DEPREL] = fields[DEPS] = "_"
            columns.append(tuple(fields))
        elif re.fullmatch(r"\d+[-.]\d+", fields[0]):
            inserted.append((len(columns), line))
        else:
            raise InputError(
                f"cannot read {path}, line {number}: the ID is {fields[0]!r} and the word {fields[FORM]!r}; "
                f"word {len(columns) + 1} is expected here."
            )
    if not columns:
        raise InputError(f"cannot read {path}, sentence {sentence} (line {first_line}): it has no words. Remove it.")
    return Source(path, sentence, first_line, tuple(comments), tuple(columns), tuple(inserted))


def parsed_conllu(
    sentence: UnparsedSentence, tree: DependencyTree, log_probability: float, rank: int | None = None
) -> str:
    """The tree of a sentence as CoNLL-U, with its probability in comments.

    Args:
        sentence: what was parsed.
        tree: its tree.
        log_probability: of the tree, in nats.
        rank: the tree's number in a list of several.
    """
    added = [f"# prob = {math.exp(log_probability):.6g}", f"# log_prob = {log_probability:.6f}"]
    if rank is not None:
        added.insert(0, f"# tree = {rank}")
    source = replace(sentence.source, comments=(*sentence.source.comments, *added))
    return format_conllu(replace(tree, source=source))
