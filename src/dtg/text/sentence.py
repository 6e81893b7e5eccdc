"""`Sentence`: the words of a text, where each of them stands, and the whitespace word it belongs to.

Reading-time data are per whitespace word ("dog.", "don't"), models read syntactic words ("dog" ".", "do" "n't"). A
`Sentence` knows both, and where each word is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from dtg.errors import InputError
from dtg.text.words import ENGLISH, check_characters, checked_words, split_words
from dtg.trees import DependencyTree
from dtg.trees.conllu import FORM

MISC = 9  # a column of CoNLL-U


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words in order; `starts` and `ends` are character offsets, from 0, the end not included."""

    words: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    # For each word the number, from 0, of the whitespace-separated word it belongs to.
    whitespace: tuple[int, ...]
    # What is written for each whitespace-separated word, where that is not its words joined ("du" for "de" "le").
    surfaces: tuple[str, ...] | None = None

    @classmethod
    def of_text(cls, text: str, language: str = ENGLISH) -> Sentence:
        """A plain text, split with `dtg.text.split_words`; offsets are those in `text`.

        >>> Sentence.of_text("I don't.").whitespace
        (0, 1, 1, 1)
        """
        words = split_words(text, language)
        if not words:
            raise InputError(f"the text {text!r} has no words; a sentence needs at least one.")
        # Nothing but white space is left out between words, so a gap is where a whitespace word ends.
        gaps = [before.end < word.start for before, word in pairwise(words)]
        return cls(
            tuple(word.text for word in words),
            tuple(word.start for word in words),
            tuple(word.end for word in words),
            tuple(accumulate(gaps, initial=0)),
        )

    @classmethod
    def of_words(cls, words: Sequence[str]) -> Sentence:
        """Words taken as they are, each a whitespace word of its own; offsets are those in the words joined by spaces."""
        words = checked_words(words)
        ends = tuple(accumulate((len(word) + 1 for word in words), initial=-1))[1:]
        starts = tuple(end - len(word) for end, word in zip(ends, words, strict=True))
        return cls(words, starts, ends, tuple(range(len(words))))

    @classmethod
    def of_tree(cls, tree: DependencyTree) -> Sentence:
        """The words of a tree from CoNLL-U; multiword tokens (du: de, le) and SpaceAfter=No say how they are written.

        Offsets are those in the text as the file writes it; the words of a multiword token all have its offsets.
        """
        source = tree.source
        if source is None:
            return cls.of_words(tree.words)
        tokens, last = list[tuple[str, int, bool]](), 0  # (surface, words, whether a space follows)
        ranges = {before: line.split("\t") for before, line in source.inserted if "-" in line.split("\t")[0]}
        while last < len(tree):
            fields: Sequence[str] = ranges.get(last, source.columns[last])
            # A range that ends before it begins, or after the sentence, is one word, or all that are left.
            count = max(1, min(int(fields[0].split("-")[1]), len(tree)) - last) if last in ranges else 1
            tokens.append((fields[FORM], count, "SpaceAfter=No" not in fields[MISC].split("|")))
            last += count
        starts, ends, whitespace, surfaces, place = list[int](), list[int](), list[int](), [""], 0
        for surface, count, has_space in tokens:
            starts += [place] * count
            ends += [place + len(surface)] * count
            whitespace += [len(surfaces) - 1] * count
            surfaces[-1] += surface
            place += len(surface) + has_space
            if has_space:
                surfaces.append("")
        written = tuple(surfaces if surfaces[-1] else surfaces[:-1])
        return cls(tree.words, tuple(starts), tuple(ends), tuple(whitespace), written)

    def __len__(self) -> int:
        return len(self.words)

    @property
    def text(self) -> str:
        """Every word at its offset, and spaces between them (whatever white space was there)."""
        if self.surfaces is not None:
            return " ".join(self.surfaces)
        text = ""
        for word, start in zip(self.words, self.starts, strict=True):
            text = text.ljust(start) + word
        return text

    @property
    def whitespace_words(self) -> tuple[str, ...]:
        """The whitespace-separated words, in order."""
        if self.surfaces is not None:
            return self.surfaces
        joined = [""] * (self.whitespace[-1] + 1)
        for word, number in zip(self.words, self.whitespace, strict=True):
            joined[number] += word
        return tuple(joined)


GivenSentence = str | Sequence[str] | Sentence


def as_sentence(given: GivenSentence, language: str = ENGLISH) -> Sentence:
    """A text is split into words, by the rules of a language; words are taken as they are."""
    if isinstance(given, Sentence):
        return given
    if isinstance(given, str):
        check_characters(given, "the text")
    return Sentence.of_text(given, language) if isinstance(given, str) else Sentence.of_words(given)
