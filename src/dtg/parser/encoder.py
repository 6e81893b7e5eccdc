"""Words in context: a `WordBatch` in, a vector for each word out. Word and characters, then a BiLSTM.

Another encoder, such as a pretrained one, is another module with a `width` and this `forward`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from dtg.parser.batch import WordBatch
from dtg.parser.config import ParserConfig
from dtg.parser.vocabulary import FIRST_CHARACTER, UNKNOWN, Vocabulary

WORD_DEVIATION = 0.1  # of the numbers in a new word's vector
WINDOWS = (3, 5)  # characters that a filter sees; odd, so that a window has a middle


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


class Encoder(nn.Module):
    """Word vectors beside character vectors, read in both directions."""

    def __init__(self, config: ParserConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.word_dropout = config.word_dropout
        self.embedding = nn.Embedding(len(vocabulary.words) + 1, config.word_width)
        # Rare words are seldom updated: what they begin with, they keep. It should be little, for it means nothing.
        nn.init.normal_(self.embedding.weight, std=WORD_DEVIATION)
        self.characters = CharacterEncoder(config, len(vocabulary.characters) + FIRST_CHARACTER)
        self.width = 2 * config.width
        widths = [config.word_width + self.characters.width, *[self.width] * (config.layers - 1)]
        self.layers = nn.ModuleList(
            nn.LSTM(width, config.width, batch_first=True, bidirectional=True) for width in widths
        )
        self.dropout = SharedDropout(config.dropout)

    def forward(self, batch: WordBatch) -> Tensor:
        """(batch, longest, width); what is past the end of a sentence is 0."""
        words = batch.words
        if self.training:
            words = words.masked_fill(torch.rand(words.shape, device=words.device) < self.word_dropout, UNKNOWN)
        spelt = self.characters(batch.characters)
        # index_select, for indexing by a tensor has a backward that adds up in any order.
        spelt = spelt.index_select(0, batch.forms.flatten()).view(*words.shape, -1)
        hidden: Tensor = self.dropout(torch.cat([self.embedding(words), spelt], 2))
        lengths = batch.lengths.cpu()
        for layer in self.layers:
            packed = pack_padded_sequence(hidden, lengths, batch_first=True, enforce_sorted=False)
            hidden, _ = pad_packed_sequence(layer(packed)[0], batch_first=True)
            hidden = self.dropout(hidden)
        return hidden


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
