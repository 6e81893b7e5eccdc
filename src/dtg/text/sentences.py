"""Running text to sentences: a paragraph in English in, its sentences out.

The rules are those of spaCy's sentencizer (no trained model is involved): a sentence ends with a mark such as . ! or ?,
and whatever closing marks follow it. docs/text.md has measurements.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from dtg.text.words import english


def split_sentences(text: str) -> list[str]:
    """The sentences of a paragraph, in order; what is between them is white space.

    >>> split_sentences("Dr. Smith came. She left!")
    ['Dr. Smith came.', 'She left!']
    """
    sentences = sentencizer()(english()(text)).sents
    return [found for sentence in sentences if (found := sentence.text.strip())]


@cache
def sentencizer() -> Any:
    """Imported when it is needed, after `english` has said what to do where spaCy is missing."""
    english()
    from spacy.pipeline import Sentencizer

    return Sentencizer()
