"""Splits plain English text into sentences, and sentences into words as UD English writes them.

The rules are those of spaCy's English tokenizer and sentencizer (no trained model is involved): "don't" is "do" and "n't",
punctuation stands alone, but runs of marks ("!!") stay together; a sentence ends with a mark such as . ! or ?, and whatever
closing marks follow it. docs/text.md has measurements, and says where words differ from those of the treebanks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from dtg.errors import InputError, MissingExtraError


@dataclass(frozen=True, slots=True)
class Word:
    """A word and its position in the text: `text[start:end]` is the word."""

    text: str
    start: int
    end: int


# UD English writes a run of marks as one word: "!!!", "?!", "*****". spaCy gives them one by one.
RUN = re.compile(r"[!?]+|([=*_$<>~])\1*")


def split_words(text: str) -> list[Word]:
    """The words of a text; what is between them is white space.

    >>> [word.text for word in split_words("I don't know!!")]
    ['I', 'do', "n't", 'know', '!!']
    """
    words = list[Word]()
    for token in english()(text):
        if token.is_space:
            continue
        start, end = token.idx, token.idx + len(token.text)
        if words and words[-1].end == start and RUN.fullmatch(text, words[-1].start, end):
            start = words.pop().start
        words.append(Word(text[start:end], start, end))
    return words


def split_sentences(text: str) -> list[str]:
    """The sentences of a paragraph, in order; what is between them is white space.

    >>> split_sentences("Dr. Smith came. She left!")
    ['Dr. Smith came.', 'She left!']
    """
    sentences = sentencizer()(english()(text)).sents
    return [found for sentence in sentences if (found := sentence.text.strip())]


def checked_words(words: Sequence[str]) -> tuple[str, ...]:
    """The words of one sentence as a tuple, or an error that says what is wrong with them."""
    if isinstance(words, str):
        raise InputError(
            f"a sequence of words is expected, not the text {words!r}; dtg.text.split_words splits a text."
        )
    if not words:
        raise InputError("there are no words; a sentence needs at least one.")
    for number, word in enumerate(words, start=1):
        if not isinstance(word, str) or not word:
            raise InputError(f"word {number} of {list(words)!r} is {word!r}; a non-empty string is expected.")
    return tuple(words)


@cache
def english() -> Callable[[str], Iterable[Any]]:
    """Imported when it is needed: it takes two seconds."""
    try:
        import spacy
    except ImportError:
        raise MissingExtraError("spaCy", "text", "splitting plain text into words") from None
    tokenizer: Callable[[str], Iterable[Any]] = spacy.blank("en").tokenizer
    return tokenizer


@cache
def sentencizer() -> Any:
    """Imported when it is needed, after `english` has said what to do where spaCy is missing."""
    english()
    from spacy.pipeline import Sentencizer

    return Sentencizer()
