"""Which region a token belongs to, whatever tokenizer made it: a sentence's regions and its tokens in, region numbers out.

Tokens and sentence must have the same characters in the same order; white space does not count, nor do the marks that
tokenizers put for it (▁the, Ġthe). A token belongs to the region in which its first character is. One that reaches into
the next region *straddles* the boundary: all of its surprisal is counted where it begins. A token without characters, such
as a lone ▁, belongs to what follows it. After the last character a full stop or an end symbol (<END>, </s>) may follow;
that is left out. Both are counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dtg.errors import InputError
from dtg.evaluation.sg.suites import SuiteSentence

SPACE_MARKS = "▁Ġ"  # of SentencePiece and of byte-level tokenizers, before a word
ENDING = re.compile(r"[.?!]|<[^<>]+>|\[[^\[\]]+\]")


@dataclass(frozen=True, slots=True)
class Alignment:
    """Region numbers, from 1, of the tokens up to the sentence's end; what follows is only counted."""

    regions: tuple[int, ...]
    straddling: int
    after_end: int


def align(sentence: SuiteSentence, tokens: Sequence[str]) -> Alignment:
    """The regions of a sentence's tokens."""
    characters = [
        (character, number)
        for number, region in enumerate(sentence.regions, start=1)
        for character in "".join(region.split())
    ]
    written = "".join(character for character, _ in characters)
    regions: list[int] = []
    place = straddling = 0
    for number, token in enumerate(tokens, start=1):
        visible = "".join(token.split()).lstrip(SPACE_MARKS)
        if place == len(written):
            if visible and not ENDING.fullmatch(visible):
                raise InputError(
                    f"{sentence.key}: token {number} is {token!r}, but the sentence has ended. "
                    f"Expected were the words of: {sentence.text}"
                )
            continue
        if not written.startswith(visible, place):
            raise InputError(
                f"{sentence.key}: token {number} is {token!r} where the sentence goes on with "
                f"{written[place : place + max(10, len(visible))]!r}. Expected were the words of: {sentence.text}\n"
                "Leave out symbols for the beginning of a sentence; letters must be as they are in the suite."
            )
        region = characters[place][1]
        place += len(visible)
        straddling += bool(visible) and characters[place - 1][1] != region
        regions.append(region)
    if place < len(written):
        raise InputError(
            f"{sentence.key}: its {len(tokens)} tokens end before {written[place:]!r}. "
            f"Expected were the words of: {sentence.text}"
        )
    return Alignment(tuple(regions), straddling, len(tokens) - len(regions))
