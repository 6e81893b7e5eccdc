"""Words in context: a `WordBatch` in, a vector for each word out.

A new kind of encoder is a module of its own and a line in `create_encoder`.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from dtg.parser.config import ParserConfig
from dtg.parser.network.batch import WordBatch
from dtg.parser.network.vocabulary import Vocabulary
from dtg.parser.network.words import Encoder, WordReader


def create_encoder(config: ParserConfig, vocabulary: Vocabulary) -> Encoder:
    """The encoder that a configuration names, with random weights."""
    if config.encoder == "bilstm":
        return BiLSTM(config, vocabulary)
    if config.encoder == "transformer":
        from dtg.parser.network.transformer import Transformer

        return Transformer(config, vocabulary)
    from dtg.parser.network.pretrained import PretrainedEncoder

    return PretrainedEncoder(config, vocabulary)


class BiLSTM(WordReader):
    """Words read in both directions."""

    def __init__(self, config: ParserConfig, vocabulary: Vocabulary) -> None:
        super().__init__(config, vocabulary)
        self.width = 2 * config.width
        widths = [self.read_width, *[self.width] * (config.layers - 1)]
        self.layers = nn.ModuleList(
            nn.LSTM(width, config.width, batch_first=True, bidirectional=True) for width in widths
        )

    def forward(self, batch: WordBatch) -> Tensor:
        hidden = self.read(batch)
        lengths = batch.lengths.cpu()
        for layer in self.layers:
            packed = pack_padded_sequence(hidden, lengths, batch_first=True, enforce_sorted=False)
            hidden, _ = pad_packed_sequence(layer(packed)[0], batch_first=True)
            hidden = self.dropout(hidden)
        return hidden
