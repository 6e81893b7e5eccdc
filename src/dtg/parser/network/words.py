"""Words without context: a `WordBatch` in, a vector for each word out, from the word and from its characters.

Also what an encoder is, which adds the context.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn
from torch.nn import functional

from dtg.parser.config import ParserConfig
from dtg.parser.network.batch import WordBatch
from dtg.parser.network.vocabulary import FIRST_CHARACTER, UNKNOWN, Vocabulary

WORD_DEVIATION = 0.1  # of the numbers in a new word's vector
WINDOWS = (3, 5)  # characters that a filter sees; odd, so that a window has a middle


class Encoder(nn.Module, ABC):
    """Vectors of words in context."""

    width: int
    rate = 1.0  # its learning rate, as a share of the parser's

    @abstractmethod
    def forward(self, batch: WordBatch) -> Tensor:
        """(batch, longest, width); what is past the end of a sentence is of no meaning."""

    def load_pretrained(self, name: str) -> None:
        """Take weights from elsewhere, where an encoder does so."""


class WordReader(Encoder):
    """Word vectors beside character vectors; what comes after them is for those who inherit."""

    def __init__(self, config: ParserConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.word_dropout = config.word_dropout
        self.embedding = nn.Embedding(len(vocabulary.words) + 1, config.word_width)
        # Rare words are seldom updated: what they begin with, they keep. It should be little, for it means nothing.
        nn.init.normal_(self.embedding.weight, std=WORD_DEVIATION)
        self.characters = CharacterEncoder(config, len(vocabulary.characters) + FIRST_CHARACTER)
        self.read_width = config.word_width + self.characters.width
        self.dropout = SharedDropout(config.dropout)

    def read(self, batch: WordBatch) -> Tensor:
        """(batch, longest, read width)"""
        words = batch.words
        if self.training:
            words = words.masked_fill(torch.rand(words.shape, device=words.device) < self.word_dropout, UNKNOWN)
        spelt = self.characters(batch.spelling)
        # index_select, for indexing by a tensor has a backward that adds up in any order.
        spelt = spelt.index_select(0, batch.forms.flatten()).view(*words.shape, -1)
        hidden: Tensor = self.dropout(torch.cat([self.embedding(words), spelt], 2))
        return hidden


class CharacterEncoder(nn.Module):
    """A word's vector from its characters: filters over windows of them, the highest answer of each."""

    def __init__(self, config: ParserConfig, characters: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(characters, config.character_width, padding_idx=0)
        self.filters = nn.ModuleList(
            nn.Conv1d(config.character_width, config.character_filters, window, padding=window // 2)
            for window in WINDOWS
        )
        self.width = config.character_filters * len(WINDOWS)

    def forward(self, characters: Tensor) -> Tensor:
        """(forms, letters) → (forms, width)"""
        letters = self.embedding(characters).transpose(1, 2)  # (forms, character width, letters)
        past_end = (characters == 0).unsqueeze(1)
        found = [filter(letters).masked_fill(past_end, -torch.inf).amax(2) for filter in self.filters]
        return functional.relu(torch.cat(found, 1))


class SharedDropout(nn.Module):
    """Dropout that leaves out the same units at every word of a sentence (Gal and Ghahramani 2016)."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, hidden: Tensor) -> Tensor:
        """(batch, words, width)"""
        if not self.training or not self.rate:
            return hidden
        mask = torch.rand(hidden.shape[0], 1, hidden.shape[2], device=hidden.device) >= self.rate
        return hidden * mask / (1 - self.rate)
