"""Words as numbers and tensors: the vocabulary of a parser, and batches of sentences for its encoder.

Words are looked up in lower case; id 0 is for unknown words. Characters keep their case; id 0 is padding and 1 is for unknown
characters. Every word is read by its characters too, so an unknown word is not nothing. For a pretrained encoder a word is
spelt in the encoder's subwords, with ids from 1, and nothing else is known of it.
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
from numpy.typing import NDArray
from torch import Tensor

from dtg.io.json_files import parse_json
from dtg.parser.encoder.subwords import Subwords
from dtg.trees import DependencyTree

LETTERS = 24  # or subwords; of a longer word, half as many at its beginning and at its end are read
UNKNOWN = 0
UNKNOWN_CHARACTER = 1
FIRST_CHARACTER = 2
NAMES = ("words", "characters", "labels", "tags")
Spelt = TypeVar("Spelt", str, list[int])
UPOS, NO_TAG = 3, "_"  # a column of CoNLL-U, and what stands there if it is not known
Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class WordBatch:
    """Words by id and by spelling. The distinct words of a batch are its forms; each is spelt once."""

    words: Tensor  # (batch, longest) the id of each word; 0 past the end
    forms: Tensor  # (batch, longest) its row in `spelling`; 0 past the end
    spelling: Tensor  # (forms, letters) the characters of each form, or its subwords; 0 past the end
    lengths: Tensor  # (batch,)

    @classmethod
    def of(cls, rows: Sequence[Ids], word_ids: Ids, spelling: Ids, device: torch.device | str) -> WordBatch:
        """Sentences as tensors.

        Args:
            rows: the forms of each sentence, as indices into the following two.
            word_ids: (forms,) the id of each form's word.
            spelling: (forms, letters) how each form is spelt.
            device: where the tensors are to be.
        """
        lengths = np.array([len(row) for row in rows])
        forms = pad(rows, 0)
        words = np.where(np.arange(forms.shape[1]) < lengths[:, None], word_ids[forms], 0)
        tensors = (torch.from_numpy(np.ascontiguousarray(array)) for array in (words, forms, spelling, lengths))
        return cls(*(tensor.long().to(device) for tensor in tensors))

    @property
    def is_word(self) -> Tensor:
        """(batch, longest)"""
        return torch.arange(self.words.shape[1], device=self.words.device) < self.lengths.unsqueeze(1)


@dataclass(frozen=True)
class Vocabulary:
    """Known words (in lower case), characters, labels and part-of-speech tags, each sorted."""

    words: tuple[str, ...]
    characters: tuple[str, ...]
    labels: tuple[str, ...]
    tags: tuple[str, ...]
    subwords: Subwords | None = None

    @classmethod
    def of(cls, trees: Iterable[DependencyTree], word_count: int, subwords: Subwords | None = None) -> Vocabulary:
        """From training trees; a word must occur `word_count` times. Trees without labels or tags give none."""
        labels, tags, sentences = set[str](), set[str](), list[Sequence[str]]()
        for tree in trees:
            sentences.append(tree.words)
            labels.update(tree.labels or ())
            tags.update(tags_of(tree))
        return cls.of_words(sentences, word_count, sorted(labels), sorted(tags - {NO_TAG}), subwords)

    @classmethod
    def of_words(
        cls,
        sentences: Iterable[Sequence[str]],
        word_count: int,
        labels: Sequence[str],
        tags: Sequence[str],
        subwords: Subwords | None = None,
    ) -> Vocabulary:
        """From the words of training sentences, and labels and tags as they are."""
        words, characters = Counter[str](), set[str]()
        for sentence in sentences:
            if subwords is None:
                words.update(word.lower() for word in sentence)
                characters.update(*sentence)
        known = sorted(word for word, count in words.items() if count >= word_count)
        return cls(tuple(known), tuple(sorted(characters)), tuple(labels), tuple(tags), subwords)

    @cached_property
    def word_ids(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words, start=1)}

    @cached_property
    def character_ids(self) -> dict[str, int]:
        return {character: number for number, character in enumerate(self.characters, start=FIRST_CHARACTER)}

    @cached_property
    def label_ids(self) -> dict[str, int]:
        return {label: number for number, label in enumerate(self.labels)}

    @cached_property
    def tag_ids(self) -> dict[str, int]:
        return {tag: number for number, tag in enumerate(self.tags)}

    def word_id(self, form: str) -> int:
        """The id of a word as it is written."""
        return self.word_ids.get(form.lower(), UNKNOWN)

    def spell(self, form: str) -> list[int]:
        """The characters or the subwords of a word."""
        if self.subwords is not None:
            return [number + 1 for number in shortened(self.subwords.spell(form))]
        return [self.character_ids.get(character, UNKNOWN_CHARACTER) for character in shortened(form)]

    def batch(self, sentences: Sequence[Sequence[str]], device: torch.device | str) -> WordBatch:
        """Sentences as tensors; each distinct word is spelt once."""
        forms = {form: row for row, form in enumerate(dict.fromkeys(word for words in sentences for word in words))}
        rows = [np.array([forms[word] for word in words]) for words in sentences]
        word_ids = np.array([self.word_id(form) for form in forms])
        return WordBatch.of(rows, word_ids, pad([self.spell(form) for form in forms], 0), device)

    @property
    def hash(self) -> str:
        """The same for vocabularies with the same content."""
        subwords = "" if self.subwords is None else self.subwords.hash
        return hashlib.sha256((self.to_json() + subwords).encode()).hexdigest()

    def to_json(self) -> str:
        return json.dumps({name: getattr(self, name) for name in NAMES}, ensure_ascii=False, indent=0) + "\n"

    @classmethod
    def from_json(cls, text: str, subwords: Subwords | None = None) -> Vocabulary:
        """What `to_json` gave, with the subwords it was made for. Raises ValueError where the text is something else."""
        content: Any = parse_json(text)
        if not isinstance(content, dict) or set(content) != set(NAMES):
            raise ValueError(f"{', '.join(NAMES)} are expected, and nothing else")
        for name in NAMES:
            if not isinstance(content[name], list) or not all(isinstance(entry, str) for entry in content[name]):
                raise ValueError(f"{name} must be a list of strings")
        return cls(**{name: tuple(content[name]) for name in NAMES}, subwords=subwords)


def pad(rows: Sequence[Sequence[int] | Ids], value: int) -> Ids:
    """Rows of different lengths as a rectangle."""
    table = np.full((len(rows), max(map(len, rows))), value, dtype=np.int64)
    for index, row in enumerate(rows):
        table[index, : len(row)] = row
    return table


def shortened(letters: Spelt) -> Spelt:
    """Not more than can be read, from the beginning and the end."""
    return letters if len(letters) <= LETTERS else letters[: LETTERS // 2] + letters[-(LETTERS // 2) :]


def tags_of(tree: DependencyTree) -> list[str]:
    """The universal part of speech of each word, as the treebank has it."""
    return [NO_TAG] * len(tree) if tree.source is None else [columns[UPOS] for columns in tree.source.columns]
