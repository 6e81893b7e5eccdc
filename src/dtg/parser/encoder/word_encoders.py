"""Encoders that are trained with the parser: embeddings of words and characters, and a BiLSTM or a Transformer over them.

Also `SentenceEncoder`, what the rest of a parser knows of any encoder.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from dtg.model.positions import sinusoids
from dtg.parser.config import ParserConfig
from dtg.parser.encoder.vocabulary import FIRST_CHARACTER, UNKNOWN, Vocabulary, WordBatch

WORD_DEVIATION = 0.1  # standard deviation of a new word embedding
WINDOWS = (3, 5)  # characters that a filter sees; odd, so that a window has a middle
HEAD_WIDTH = 64  # of the Transformer's attention


class SentenceEncoder(nn.Module, ABC):
    """Vectors of words in context."""

    width: int
    rate = 1.0  # its learning rate, as a share of the parser's

    @abstractmethod
    def forward(self, batch: WordBatch) -> Tensor:
        """(batch, longest, width); what is past the end of a sentence has no meaning."""

    def load_pretrained(self, name: str) -> None:
        """Load pretrained weights, where an encoder has any."""


class SharedDropout(nn.Module):
    """Dropout with one mask for all words of a sentence (variational dropout, Gal and Ghahramani 2016)."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, hidden: Tensor) -> Tensor:
        """(batch, words, width)"""
        if not self.training or not self.rate:
            return hidden
        mask = torch.rand(hidden.shape[0], 1, hidden.shape[2], device=hidden.device) >= self.rate
        return hidden * mask / (1 - self.rate)


class CharacterEncoder(nn.Module):
    """A word's vector from its characters: convolutions over windows of them, then the maximum over the word."""

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


class WordEncoder(SentenceEncoder):
    """Embeds each word, from the word and from its characters; subclasses add the context."""

    def __init__(self, config: ParserConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.word_dropout = config.word_dropout
        self.embedding = nn.Embedding(len(vocabulary.words) + 1, config.word_width)
        # Rare words are seldom updated and keep their initial vectors, which mean nothing and should be small.
        nn.init.normal_(self.embedding.weight, std=WORD_DEVIATION)
        self.characters = CharacterEncoder(config, len(vocabulary.characters) + FIRST_CHARACTER)
        self.embedded_width = config.word_width + self.characters.width
        self.dropout = SharedDropout(config.dropout)

    def embed(self, batch: WordBatch) -> Tensor:
        """(batch, longest, embedded width)"""
        words = batch.words
        if self.training:
            words = words.masked_fill(torch.rand(words.shape, device=words.device) < self.word_dropout, UNKNOWN)
        spelt = self.characters(batch.spelling)
        # index_select, because the backward pass of indexing by a tensor adds up in any order.
        spelt = spelt.index_select(0, batch.forms.flatten()).view(*words.shape, -1)
        hidden: Tensor = self.dropout(torch.cat([self.embedding(words), spelt], 2))
        return hidden


class BiLSTM(WordEncoder):
    """Words read in both directions."""

    def __init__(self, config: ParserConfig, vocabulary: Vocabulary) -> None:
        super().__init__(config, vocabulary)
        self.width = 2 * config.width
        widths = [self.embedded_width, *[self.width] * (config.layers - 1)]
        self.layers = nn.ModuleList(
            nn.LSTM(width, config.width, batch_first=True, bidirectional=True) for width in widths
        )

    def forward(self, batch: WordBatch) -> Tensor:
        hidden = self.embed(batch)
        lengths = batch.lengths.cpu()
        for layer in self.layers:
            packed = pack_padded_sequence(hidden, lengths, batch_first=True, enforce_sorted=False)
            hidden, _ = pad_packed_sequence(layer(packed)[0], batch_first=True)
            hidden = self.dropout(hidden)
        return hidden


class Transformer(WordEncoder):
    """Every word attends to every other; pre-norm layers."""

    def __init__(self, config: ParserConfig, vocabulary: Vocabulary) -> None:
        super().__init__(config, vocabulary)
        self.width = 2 * config.width
        self.enter = nn.Linear(self.embedded_width, self.width)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                self.width,
                max(1, self.width // HEAD_WIDTH),
                dim_feedforward=2 * self.width,
                dropout=config.dropout / 2,  # beside the shared dropout of embeddings and scorers
                batch_first=True,
                norm_first=True,
            )
            for _ in range(config.layers)
        )
        self.norm = nn.LayerNorm(self.width)

    def forward(self, batch: WordBatch) -> Tensor:
        hidden = self.enter(self.embed(batch))
        positions = torch.arange(hidden.shape[1], device=hidden.device)
        hidden = hidden + sinusoids(positions, self.width).to(hidden.dtype)
        past_end = ~batch.is_word
        for layer in self.layers:
            hidden = layer(hidden, src_key_padding_mask=past_end)
        found: Tensor = self.dropout(self.norm(hidden))
        return found
