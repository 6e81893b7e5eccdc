"""What a parser can tell apart: training trees in, numbers for words, characters and labels out.

Words are looked up in lower case; 0 is for those that are not known. Characters keep their case; 0 is for no character
and 1 for those that are not known. Every word is read by its characters too, so an unknown word is not nothing. For a
pretrained encoder a word is spelt in the encoder's pieces, from 1, and nothing else is known of it.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import torch

from dtg.parser.network.batch import WordBatch, pad
from dtg.parser.network.subwords import Pieces
from dtg.trees import DependencyTree

LETTERS = 24  # or pieces; of a longer word, half as many at its beginning and at its end are read
UNKNOWN = 0
UNKNOWN_CHARACTER = 1
FIRST_CHARACTER = 2
NAMES = ("words", "characters", "labels", "tags")
Spelt = TypeVar("Spelt", str, list[int])
UPOS, NO_TAG = 3, "_"  # a column of CoNLL-U, and what stands there if it is not known


@dataclass(frozen=True)
class Vocabulary:
    """Known words (in lower case), characters, labels and part-of-speech tags, each sorted."""

    words: tuple[str, ...]
    characters: tuple[str, ...]
    labels: tuple[str, ...]
    tags: tuple[str, ...]
    pieces: Pieces | None = None

    @classmethod
    def of(cls, trees: Iterable[DependencyTree], word_count: int, pieces: Pieces | None = None) -> Vocabulary:
        """From training trees; a word must occur `word_count` times. Trees without labels or tags give none."""
        words, characters, labels, tags = Counter[str](), set[str](), set[str](), set[str]()
        for tree in trees:
            if pieces is None:
                words.update(word.lower() for word in tree.words)
                characters.update(*tree.words)
            labels.update(tree.labels or ())
            tags.update(tags_of(tree))
        known = sorted(word for word, count in words.items() if count >= word_count)
        names = (tuple(sorted(some)) for some in (characters, labels, tags - {NO_TAG}))
        return cls(**dict(zip(NAMES, (tuple(known), *names), strict=True)), pieces=pieces)

    @cached_property
    def word_numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words, start=1)}

    @cached_property
    def character_numbers(self) -> dict[str, int]:
        return {character: number for number, character in enumerate(self.characters, start=FIRST_CHARACTER)}

    @cached_property
    def label_numbers(self) -> dict[str, int]:
        return {label: number for number, label in enumerate(self.labels)}

    @cached_property
    def tag_numbers(self) -> dict[str, int]:
        return {tag: number for number, tag in enumerate(self.tags)}

    def spell(self, word: str) -> list[int]:
        """The characters or the pieces of a word."""
        if self.pieces is not None:
            return [number + 1 for number in shortened(self.pieces.spell(word))]
        return [self.character_numbers.get(character, UNKNOWN_CHARACTER) for character in shortened(word)]

    def batch(self, sentences: Sequence[Sequence[str]], device: torch.device | str) -> WordBatch:
        """Sentences as tensors; each different word is spelt once."""
        forms = {form: row for row, form in enumerate(dict.fromkeys(word for words in sentences for word in words))}
        numbers = [self.word_numbers.get(form.lower(), UNKNOWN) for form in forms]
        rows = [np.array([forms[word] for word in words]) for words in sentences]
        return WordBatch.of(rows, np.array(numbers), pad([self.spell(form) for form in forms], 0), device)

    @property
    def hash(self) -> str:
        """The same for vocabularies with the same content."""
        pieces = "" if self.pieces is None else self.pieces.hash
        return hashlib.sha256((self.to_json() + pieces).encode()).hexdigest()

    def to_json(self) -> str:
        return json.dumps({name: getattr(self, name) for name in NAMES}, ensure_ascii=False, indent=0) + "\n"

    @classmethod
    def from_json(cls, text: str, pieces: Pieces | None = None) -> Vocabulary:
        """What `to_json` gave, with the pieces it was made for. Raises ValueError where the text is something else."""
        content: Any = json.loads(text)
        if not isinstance(content, dict) or set(content) != set(NAMES):
            raise ValueError(f"{', '.join(NAMES)} are expected, and nothing else")
        for name in NAMES:
            if not isinstance(content[name], list) or not all(isinstance(entry, str) for entry in content[name]):
                raise ValueError(f"{name} must be a list of strings")
        return cls(**{name: tuple(content[name]) for name in NAMES}, pieces=pieces)


def shortened(letters: Spelt) -> Spelt:
    """Not more than can be read, from the beginning and the end."""
    return letters if len(letters) <= LETTERS else letters[: LETTERS // 2] + letters[-(LETTERS // 2) :]


def tags_of(tree: DependencyTree) -> list[str]:
    """The universal part of speech of each word, as the treebank has it."""
    return [NO_TAG] * len(tree) if tree.source is None else [columns[UPOS] for columns in tree.source.columns]
