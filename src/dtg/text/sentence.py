"""`Sentence`: the words of a text, where each of them stands, and the whitespace word it belongs to.

Reading-time data are per whitespace word ("dog.", "don't"), models read syntactic words ("dog" ".", "do" "n't"). A
`Sentence` knows both, and where each word is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from dtg.errors import InputError
from dtg.text.words import checked_words, split_words


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words in order; `starts` and `ends` are character offsets, from 0, the end not included."""

    words: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    # For each word the number, from 0, of the whitespace-separated word it belongs to.
    whitespace: tuple[int, ...]

    @classmethod
    def of_text(cls, text: str) -> Sentence:
        """A plain text, split with `dtg.text.split_words`; offsets are those in `text`.

        >>> Sentence.of_text("I don't.").whitespace
        (0, 1, 1, 1)
        """
        words = split_words(text)
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

    def __len__(self) -> int:
        return len(self.words)

    @property
    def text(self) -> str:
        """Every word at its offset, and spaces between them (whatever white space was there)."""
        text = ""
        for word, start in zip(self.words, self.starts, strict=True):
            text = text.ljust(start) + word
        return text

    @property
    def whitespace_words(self) -> tuple[str, ...]:
        """The whitespace-separated words, in order."""
        joined = [""] * (self.whitespace[-1] + 1)
        for word, number in zip(self.words, self.whitespace, strict=True):
            joined[number] += word
        return tuple(joined)


GivenSentence = str | Sequence[str] | Sentence


def as_sentence(given: GivenSentence) -> Sentence:
    """A text is split into words; words are taken as they are."""
    if isinstance(given, Sentence):
        return given
    return Sentence.of_text(given) if isinstance(given, str) else Sentence.of_words(given)
