"""Splits words into subwords with a SentencePiece model, and joins them again.

Every word is encoded on its own, so words and subwords align exactly: the first subword of a word begins with U+2581 (▁) and
no later one does. Nothing is normalised: decoding gives the word back, except that a space inside a word ("10 000") becomes
U+00A0. Characters that the model does not know are spelt in bytes, and so is a whole word that SentencePiece would not
give back (one with a literal ▁).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

import torch
from sentencepiece import SentencePieceProcessor
from torch import Tensor

from dtg.errors import TokenizerError
from dtg.io.atomic import replacing
from dtg.io.hashing import content_hash
from dtg.text.tokenizer_training import TokenizerTraining, train_model

WORD_START = "\u2581"
SPACE_IN_WORD = "\u00a0"
CACHED_WORDS = 200_000
MOST_SUBWORDS = 256  # of one word that a model reads: a search takes as long as for as many words
# What a model that normalises would change: a ligature, a zero-width space, a decomposed letter, a full-width letter.
UNTOUCHED = ("\ufb01", "\u200b", "e\u0301", "\uff21", "a\u00a0\u00a0b")
ADVICE = "Train one with dtg prepare, or with spm_train --byte_fallback --normalization_rule_name=identity."


class Tokenizer:
    """Subwords by id. `root` is what the `<ROOT>` row reads; `starts_word` (size,) marks the subwords that begin words.

    `training` says how the model was trained, if this process trained it.
    """

    def __init__(self, model: bytes, *, training: TokenizerTraining | None = None, origin: str = "this model") -> None:
        try:
            self._processor = SentencePieceProcessor(model_proto=model)
            ids = list(range(self._processor.get_piece_size()))
            self._pieces: list[str] = self._processor.id_to_piece(ids)
        except (RuntimeError, UnicodeDecodeError):
            raise TokenizerError(f"{origin} is not a SentencePiece model, or is damaged. {ADVICE}") from None
        if not ids:
            raise TokenizerError(f"{origin} is empty: a SentencePiece model is expected. {ADVICE}")
        self._model, self.training = model, training
        self.hash = content_hash(model)
        self.size = len(ids)
        of_each = (self._processor.is_byte, self._processor.is_control, self._processor.is_unknown)
        byte, control, unknown = (torch.tensor(kind(ids)) for kind in of_each)
        self.is_byte: Tensor = byte  # (size,) bool: for characters that are not in the vocabulary
        self.is_text: Tensor = ~(byte | control | unknown)  # (size,) bool: for all other characters
        begins = torch.tensor([piece.startswith(WORD_START) for piece in self._pieces])
        self.starts_word: Tensor = self.is_text & begins  # (size,) bool
        self._starts: list[bool] = self.starts_word.tolist()
        self._surfaces = list(map(surface, self._pieces, self.is_byte.tolist(), self.is_text.tolist()))
        self.root = self._processor.bos_id()
        # Byte fallback leaves <unk> unused, so it can pad where a model has no padding symbol.
        self.pad = self._processor.pad_id() if self._processor.pad_id() >= 0 else self._processor.unk_id()
        self._bytes = {self._surfaces[id][0]: id for id in self.is_byte.nonzero()[:, 0].tolist()}
        self._word_start = self._processor.piece_to_id(WORD_START)
        self._check(origin)
        # Bounded, so that a corpus of any size can be encoded; most words of a text are among those cached.
        self._cached = lru_cache(maxsize=CACHED_WORDS)(self._encode)

    @classmethod
    def load(cls, path: str | Path) -> Tokenizer:
        """Read a `.model` file."""
        path = Path(path)
        if not path.is_file():
            raise TokenizerError(f"cannot read the tokenizer {path}: there is no such file.")
        return cls(path.read_bytes(), origin=str(path))

    @classmethod
    def train(cls, words: Iterable[str], size: int) -> Tokenizer:
        """A model of at most `size` subwords for these words; the same words, in any order, give the same model."""
        model, training = train_model((spaces_kept(word) for word in words), size)
        return cls(model, training=training)

    def save(self, path: str | Path) -> None:
        """Write the model atomically."""
        with replacing(Path(path)) as temporary:
            temporary.write_bytes(self._model)

    def encode(self, word: str) -> tuple[int, ...]:
        """The subwords of one word: the first is word-initial, the others are not."""
        return self._cached(word)

    def encode_all(self, words: Sequence[str]) -> list[tuple[int, ...]]:
        """The subwords of each word."""
        encode = self._cached
        return [encode(word) for word in words]

    def encode_sentence(self, words: Sequence[str], where: str = "") -> list[tuple[int, ...]]:
        """The subwords of each word of a sentence that a model is to read.

        Args:
            words: the words.
            where: what the message about a word that is far too long begins with, such as "sentence 3, ".

        Returns:
            Ids, word by word.
        """
        found = self.encode_all(words)
        for number, (word, ids) in enumerate(zip(words, found, strict=True), start=1):
            if len(ids) > MOST_SUBWORDS:
                raise TokenizerError(
                    f"{where}word {number} ({word[:20]!r} ..., {len(word):,} characters) has {len(ids):,} subwords; at most "
                    f"{MOST_SUBWORDS} are read. Is this text? Take the word out, or split it."
                )
        return found

    def piece(self, id: int) -> str:
        """The subword as the model writes it, such as `▁differ` or `<0xE2>`."""
        if not 0 <= id < self.size:
            raise TokenizerError(f"there is no subword {id}; the vocabulary has subwords 0 to {self.size - 1}.")
        return self._pieces[id]

    def decode(self, ids: Sequence[int]) -> str:
        """The word again. Of several words, those after the first are set off by spaces."""
        text = b"".join(b" " * self._starts[id] + self._surfaces[id] for id in ids)
        if len(ids) and self._starts[ids[0]]:
            text = text[1:]
        return text.decode("utf-8", errors="replace")  # a model may generate bytes that spell no character

    def _encode(self, word: str) -> tuple[int, ...]:
        written = spaces_kept(word)
        try:
            spelt = written.encode()
        except UnicodeEncodeError:
            raise TokenizerError(f"the word {word!r} holds half a surrogate pair, which no text can contain.") from None
        if not spelt:
            raise TokenizerError(f"the word {word!r} has no subwords; a word needs at least one character.")
        ids: tuple[int, ...] = tuple(self._processor.encode(written))
        aligned = ids and self._starts[ids[0]] and not any(self._starts[id] for id in ids[1:])
        if aligned and self.decode(ids) == written:
            return ids
        return (self._word_start, *(self._bytes[byte] for byte in spelt))

    def _check(self, origin: str) -> None:
        if self.root < 0:
            raise TokenizerError(f"{origin} has no subword <s>, which the <ROOT> row reads. {ADVICE}")
        if len(self._bytes) < 256:
            raise TokenizerError(f"{origin} has no byte fallback, so some words would have no subwords. {ADVICE}")
        if not self._starts[self._word_start]:
            raise TokenizerError(
                f"{origin} has no subword {WORD_START}, which begins words that it does not know. {ADVICE}"
            )
        for word in UNTOUCHED:
            if self.decode(self._processor.encode(word)) != word:
                raise TokenizerError(f"{origin} changes words: {word!r} is not decoded as it was encoded. {ADVICE}")


def spaces_kept(word: str) -> str:
    """The word as it is encoded: SentencePiece would begin a new word at a space."""
    return word.replace(" ", SPACE_IN_WORD)


def surface(piece: str, is_byte: bool, is_text: bool) -> bytes:
    """What a subword stands for in a text, without its ▁."""
    if is_byte:
        return bytes([int(piece[3:5], 16)])  # <0xE2>
    return piece.removeprefix(WORD_START).encode() if is_text else b""
