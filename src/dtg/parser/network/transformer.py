"""A small Transformer as a parser's encoder: a `WordBatch` in, a vector for each word out."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from dtg.model.positions import sinusoids
from dtg.parser.config import ParserConfig
from dtg.parser.network.batch import WordBatch
from dtg.parser.network.vocabulary import Vocabulary
from dtg.parser.network.words import WordReader

HEAD_WIDTH = 64


class Transformer(WordReader):
    """Every word sees every other; layers begin with normalisation."""

    def __init__(self, config: ParserConfig, vocabulary: Vocabulary) -> None:
        super().__init__(config, vocabulary)
        self.width = 2 * config.width
        self.enter = nn.Linear(self.read_width, self.width)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                self.width,
                max(1, self.width // HEAD_WIDTH),
                dim_feedforward=2 * self.width,
                dropout=config.dropout / 2,  # beside that of whole units, which reading and scoring have
                batch_first=True,
                norm_first=True,
            )
            for _ in range(config.layers)
        )
        self.norm = nn.LayerNorm(self.width)

    def forward(self, batch: WordBatch) -> Tensor:
        hidden = self.enter(self.read(batch))
        places = torch.arange(hidden.shape[1], device=hidden.device)
        hidden = hidden + sinusoids(places, self.width).to(hidden.dtype)
        past_end = ~batch.is_word
        for layer in self.layers:
            hidden = layer(hidden, src_key_padding_mask=past_end)
        found: Tensor = self.dropout(self.norm(hidden))
        return found
