"""Sentences that are too long to be parsed are left out, or cut into parts; either way they are counted and listed.

A parser's time grows with the cube of a sentence's length, and its memory with the square: a paragraph without line breaks
must not stop a file of twenty thousand lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from dtg.tables.items import Item
from dtg.tables.unparsed import UnparsedSentence
from dtg.text.documents import sentence_id
from dtg.trees import SkippedSentence
from dtg.trees.conllu import FORM

Long = Literal["skip", "split"]
MAX_WORDS = 200
# Where a sentence is cut: after the last of these within reach, the first kind that there is.
MARKS = (frozenset(".!?"), frozenset(";:"), frozenset(",-–—)"))


@dataclass(slots=True)
class LengthLimit:
    """How many words a sentence may have, and what happens to longer ones; `found` lists those that `apply` has met."""

    max_words: int = MAX_WORDS
    long: Long = "skip"
    found: list[SkippedSentence] = field(default_factory=list)

    def apply(self, items: Iterable[Item[UnparsedSentence]]) -> Iterator[Item[UnparsedSentence]]:
        """The sentences that are short enough, and parts of the others, if they are to be split."""
        self.found.clear()
        for item in items:
            sentence = item.content
            if sentence.has_at_most(self.max_words):
                yield item
                continue
            parts = list(split(sentence, self.max_words)) if self.long == "split" else []
            reason = f"it has {len(sentence.words):,} words; the limit is {self.max_words:,}."
            reason += f" It was cut into {len(parts)} parts." if parts else ""
            source = sentence.source
            self.found.append(SkippedSentence(source.path, source.sentence, source.line, reason))
            for number, part in enumerate(parts, start=1):
                yield replace(item, content=part, written=item.written + b"\t%d" % number)


def split(sentence: UnparsedSentence, max_words: int) -> Iterator[UnparsedSentence]:
    """Parts of a limited number of words, in order; their sent_id is that of the sentence, with the number of the part."""
    first, number = 0, 0
    within = inside_tokens(sentence)
    while first < len(sentence.words):
        end = cut(sentence.words, first, max_words, within)
        number += 1
        yield part_of(sentence, first, end, number)
        first = end


def cut(words: tuple[str, ...], first: int, max_words: int, within: set[int]) -> int:
    """Where the part that begins with a word ends; never within a multiword token, unless that alone is too long."""
    most = first + max_words
    if most >= len(words):
        return len(words)
    reach = [end for end in range(first + max(1, max_words // 2), most + 1) if end not in within]
    for marks in MARKS:
        if marked := [end for end in reach if words[end - 1] in marks]:
            return marked[-1]
    return reach[-1] if reach else most


def inside_tokens(sentence: UnparsedSentence) -> set[int]:
    """Places between words where a multiword token ("du": de, le) goes on."""
    inside = set[int]()
    for before, line in sentence.source.inserted:
        _, is_range, last = line.split("\t")[0].partition("-")
        if is_range and last.isdecimal() and len(last) < 10:
            inside.update(range(before + 1, min(int(last), len(sentence.words))))
    return inside


def part_of(sentence: UnparsedSentence, first: int, end: int, number: int) -> UnparsedSentence:
    """Some words of a sentence, numbered from 1; comments stay with the first part, without the text."""
    source = sentence.source
    columns = tuple((str(place), *fields[1:]) for place, fields in enumerate(source.columns[first:end], start=1))
    inserted = tuple(
        (before - first, renumbered(line, first))
        for before, line in source.inserted
        if first <= before < end or (before == end == len(sentence.words))
    )
    others = [one for one in source.comments if not one.lstrip("# ").startswith(("sent_id", "text"))]
    name = f"# sent_id = {sentence_id(source)}-{number}"
    text = f"# text = {' '.join(fields[FORM] for fields in columns)}"
    comments = (*(others if number == 1 else []), name, text)
    return UnparsedSentence(
        sentence.words[first:end], replace(source, comments=comments, columns=columns, inserted=inserted)
    )


def renumbered(line: str, less: int) -> str:
    """A multiword token or an empty node, with lower numbers."""
    number, *rest = line.split("\t")
    sign = "-" if "-" in number else "."
    first, _, second = number.partition(sign)
    later = str(int(second) - less) if sign == "-" else second
    return "\t".join([f"{int(first) - less}{sign}{later}", *rest])
