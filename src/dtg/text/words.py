"""Splits plain text into sentences and words, by the rules of a language.

The rules are those of spaCy's blank pipelines, by language code (no trained model is involved). English words are as UD
English writes them: "don't" is "do" and "n't", punctuation stands alone, but runs of marks ("!!") stay together. A sentence
ends with a mark such as . ! or ?, and whatever closing marks follow it. docs/text.md has measurements, and says where words
differ from those of the treebanks.
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


ENGLISH = "en"
LONG = re.compile(r"\S{501,}")  # nobody means this: base64, a dump of URLs
SHOWN = 200  # characters of a value in a message
NO_RULES = "none"  # the language of those who take words only


def split_words(text: str, language: str = ENGLISH) -> list[Word]:
    """The words of a text; what is between them is white space.

    >>> [word.text for word in split_words("I don't know!!")]
    ['I', 'do', "n't", 'know', '!!']
    """
    words, rules = list[Word](), word_rules(language)
    for token in rules(without_long(text, rules)):
        if token.is_space:
            continue
        start, end = token.idx, token.idx + len(token.text)
        is_run = language == ENGLISH and words and words[-1].end == start
        if is_run and RUN.fullmatch(text, words[-1].start, end):
            start = words.pop().start
        words.append(Word(text[start:end], start, end))
    return words


def split_sentences(text: str, language: str = ENGLISH) -> list[str]:
    """The sentences of a paragraph, in order; what is between them is white space.

    >>> split_sentences("Dr. Smith came. She left!")
    ['Dr. Smith came.', 'She left!']
    """
    rules = word_rules(language)
    sentences = sentencizer()(rules(without_long(text, rules))).sents
    return [found for one in sentences if (found := text[one.start_char : one.end_char].strip())]


def without_long(text: str, rules: Callable[[str], Iterable[Any]]) -> str:
    """The text for spaCy's rules, whose time grows with the square of what stands between spaces: if that is very long, letters
    take its place, so that it is one word. Languages without spaces have other rules, which are quick."""
    if type(rules).__module__ != "spacy.tokenizer":
        return text
    return LONG.sub(lambda found: "x" * len(found[0]), text)


def agreement(text: str, words: Sequence[str], language: str) -> int:
    """How many of a sentence's words, as a treebank has them, the rules of a language find at their place in its text."""
    places, end = set[tuple[int, int]](), 0
    for word in words:
        start = text.find(word, end)
        if start >= 0:  # a word that is not written as such (du: de, le) has no place
            end = start + len(word)
            places.add((start, end))
    return len(places & {(word.start, word.end) for word in split_words(text, language)})


def check_language(language: str) -> None:
    """Raise unless there are rules for a language, or it is `NO_RULES`."""
    if language != NO_RULES:
        word_rules(language)


def checked_words(words: Sequence[str]) -> tuple[str, ...]:
    """The words of one sentence as a tuple, or an error that says what is wrong with them."""
    if isinstance(words, str):
        raise InputError(
            f"a sequence of words is expected, not the text {words!r}; dtg.text.split_words splits a text."
        )
    if not isinstance(words, Iterable) or isinstance(words, bytes | bytearray | dict):
        raise InputError(f"a sentence is expected, a text or a sequence of words, not {shown(words)}.")
    given = tuple(words)  # once: an iterator is used up by being looked at
    if not given:
        raise InputError("there are no words; a sentence needs at least one.")
    for number, word in enumerate(given, start=1):
        if not isinstance(word, str) or not word:
            raise InputError(f"word {number} of {shown(list(given))} is {shown(word)}; a non-empty string is expected.")
    check_characters("".join(given), f"one of the words {shown(list(given))}")
    return tuple(map(str, given))  # without the types of others, such as numpy's


def check_characters(text: str, what: str) -> None:
    """Raise if half a surrogate pair is in a text, which no encoding has."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = f"\\u{ord(text[error.start]):04x}"
        raise InputError(f"{what} holds {half}, half a surrogate pair, which no text can contain.") from None


def shown(value: object) -> str:
    """A value that a user gave, short enough for a message."""
    written = repr(value)
    return written if len(written) <= SHOWN else f"{written[:SHOWN]}..."


@cache
def word_rules(language: str = ENGLISH) -> Callable[[str], Iterable[Any]]:
    """spaCy's tokenizer of a language. Imported when it is needed: it takes two seconds."""
    if language == NO_RULES:
        raise InputError(
            "raw text cannot be split into words here: no rules are known for the words that this was trained on. "
            "Give words, with spaces between them."
        )
    try:
        import spacy
    except ImportError:
        raise MissingExtraError("spaCy", "text", "splitting plain text into words") from None
    try:
        tokenizer: Callable[[str], Iterable[Any]] = spacy.blank(language).tokenizer
    except (ImportError, ValueError) as error:  # an unknown code, or a language whose rules need another package
        reason = str(error).splitlines()[0]
        raise InputError(f"there are no rules to split text of language {language!r} into words: {reason}") from None
    return tokenizer


@cache
def sentencizer() -> Any:
    """Imported when it is needed, after `word_rules` has said what to do where spaCy is missing."""
    word_rules()
    from spacy.pipeline import Sentencizer

    return Sentencizer()
