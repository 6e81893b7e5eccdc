"""A pretrained encoder of the Hugging Face kind: a `WordBatch` spelt in its pieces in, a vector for each word out.

A word's vector is the mean of those of its pieces, each a mixture of all layers whose weights are learned. A sentence with
more pieces than the encoder reads is read in several stretches, cut between words.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from dtg.errors import ConfigError
from dtg.parser.config import ParserConfig
from dtg.parser.network.batch import WordBatch
from dtg.parser.network.subwords import first_line, load_transformers
from dtg.parser.network.vocabulary import Vocabulary
from dtg.parser.network.words import Encoder, SharedDropout


class PretrainedEncoder(Encoder):
    """The encoder that a vocabulary's pieces are of. Its weights are random until they are loaded."""

    def __init__(self, config: ParserConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        assert vocabulary.pieces is not None
        self.pieces = vocabulary.pieces
        self.rate = config.pretrained_rate
        self.body = load_transformers().AutoModel.from_config(self.pieces.body)
        self.body.pooler = None  # for whole sentences; nothing here would train it
        self.width = self.pieces.body.hidden_size
        self.mixture = nn.Parameter(torch.zeros(self.pieces.body.num_hidden_layers + 1))
        self.dropout = SharedDropout(config.dropout)

    def load_pretrained(self, name: str) -> None:
        """Take the weights from a folder or from the hub."""
        try:
            body = load_transformers().AutoModel.from_pretrained(name, use_safetensors=True)
        except (OSError, ValueError) as error:
            raise ConfigError(f"cannot load the weights of the encoder {name!r}: {first_line(error)}") from None
        body.pooler = None
        self.body.load_state_dict(body.float().state_dict())

    def forward(self, batch: WordBatch) -> Tensor:
        counts = (batch.spelling != 0).sum(1)[batch.forms] * batch.is_word  # (batch, longest) pieces of each word
        before, after = self.pieces.frame
        stretches, starts = lay_out(counts.tolist(), self.pieces.longest - len(after), len(before))
        places = torch.tensor(starts, device=counts.device)  # (batch, longest, 2) stretch, place of first piece
        numbers, is_piece = self.written(batch, counts, places, stretches)
        outcome = self.body(input_ids=numbers, attention_mask=is_piece.long(), output_hidden_states=True)
        weights = self.mixture.softmax(0).view(-1, 1, 1, 1)
        mixed = (torch.stack(outcome.hidden_states) * weights).sum(0).flatten(0, 1)
        # (batch, longest, most pieces): where each piece of each word is.
        order = torch.arange(int(counts.max()), device=counts.device)
        rows = (places[..., 0] * numbers.shape[1] + places[..., 1]).unsqueeze(2) + order
        counted = order < counts.unsqueeze(2)
        vectors = mixed.index_select(0, rows.masked_fill(~counted, 0).flatten()).view(*rows.shape, -1)
        means = (vectors * counted.unsqueeze(3)).sum(2) / counts.clamp(min=1).unsqueeze(2)
        found: Tensor = self.dropout(means)
        return found

    def written(
        self, batch: WordBatch, counts: Tensor, places: Tensor, stretches: Sequence[int]
    ) -> tuple[Tensor, Tensor]:
        """(stretches, pieces) the numbers of the pieces with their frame, and where there are any."""
        before, after = self.pieces.frame
        ends = torch.tensor(stretches, device=counts.device).unsqueeze(1)
        longest = int(ends.max()) + len(after)
        numbers = counts.new_full((len(stretches), longest), self.pieces.tokenizer.pad_token_id or 0)
        if before:
            numbers[:, : len(before)] = torch.tensor(before, device=counts.device)
        for step, mark in enumerate(after):
            numbers.scatter_(1, ends + step, mark)
        spelt = batch.spelling[batch.forms]  # (batch, longest, most pieces)
        order = torch.arange(spelt.shape[2], device=counts.device)
        counted = order < counts.unsqueeze(2)
        rows = (places[..., 0] * longest + places[..., 1]).unsqueeze(2) + order
        numbers.view(-1)[rows[counted]] = spelt[counted] - 1
        return numbers, torch.arange(longest, device=counts.device) < ends + len(after)


def lay_out(counts: Sequence[Sequence[int]], limit: int, first: int) -> tuple[list[int], list[list[tuple[int, int]]]]:
    """Put the words of sentences, given by their numbers of pieces, into stretches of up to `limit` pieces.

    Out come the end of each stretch, and of each word its stretch and its first place there, which is `first` or later.
    """
    ends, starts = list[int](), list[list[tuple[int, int]]]()
    for sentence in counts:
        ends.append(first)
        placed = list[tuple[int, int]]()
        for count in sentence:
            if ends[-1] + count > limit:
                ends.append(first)
            placed.append((len(ends) - 1, ends[-1]))
            ends[-1] += count
        starts.append(placed)
    return ends, starts
