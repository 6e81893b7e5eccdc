"""Tokens and the words or regions of a text are matched by their characters: what counts as one, and which part each is in.

White space does not count, nor do the marks that tokenizers put for it (▁the, Ġthe).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

SPACE_MARKS = "▁Ġ"  # of SentencePiece and of byte-level tokenizers, before a word


def without_space(text: str) -> str:
    """The characters of a text that count."""
    return "".join(text.split())


def visible(token: str) -> str:
    """What is left of a token without white space and its marks."""
    return without_space(token).lstrip(SPACE_MARKS)


@dataclass(frozen=True, slots=True)
class Characters:
    """The characters of a text, and the number of the part, from 0, that each is in."""

    text: str
    parts: tuple[int, ...]

    @classmethod
    def of(cls, parts: Iterable[str]) -> Characters:
        """Of words, or of other parts of a text, in order."""
        written = [without_space(part) for part in parts]
        return cls("".join(written), tuple(number for number, part in enumerate(written) for _ in part))

    def straddles(self, place: int, length: int) -> bool:
        """Whether characters from a place on are of more than one part."""
        return length > 0 and self.parts[place + length - 1] != self.parts[place]
