"""Pretrained encoders of the Hugging Face kind as a parser's encoder.

A word's vector is the mean of those of its subwords, each a mixture of all layers with learned weights. A sentence with more
subwords than the encoder reads is read in several segments, cut between words.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from dtg.errors import ConfigError
from dtg.parser.config import ParserConfig
from dtg.parser.encoder.subwords import first_line, load_transformers
from dtg.parser.encoder.vocabulary import Vocabulary, WordBatch
from dtg.parser.encoder.word_encoders import SentenceEncoder, SharedDropout


class PretrainedEncoder(SentenceEncoder):
    """The encoder that a vocabulary's subwords belong to. Its weights are random until they are loaded."""

    def __init__(self, config: ParserConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        assert vocabulary.subwords is not None
        self.subwords = vocabulary.subwords
        self.rate = config.pretrained_rate
        self.body = load_transformers().AutoModel.from_config(self.subwords.body, trust_remote_code=False)
        self.body.pooler = None  # for whole sentences; nothing here would train it
        self.width = self.subwords.body.hidden_size
        self.mixture = nn.Parameter(torch.zeros(self.subwords.body.num_hidden_layers + 1))
        self.dropout = SharedDropout(config.dropout)

    def load_pretrained(self, name: str) -> None:
        """Load the weights from a folder or from the hub."""
        try:
            body = load_transformers().AutoModel.from_pretrained(name, use_safetensors=True, trust_remote_code=False)
        except (OSError, ValueError) as error:
            raise ConfigError(f"cannot load the weights of the encoder {name!r}: {first_line(error)}") from None
        body.pooler = None
        self.body.load_state_dict(body.float().state_dict())

    def forward(self, batch: WordBatch) -> Tensor:
        counts = (batch.spelling != 0).sum(1)[batch.forms] * batch.is_word  # (batch, longest) subwords of each word
        before, after = self.subwords.special_tokens
        segments, starts = segment(counts.tolist(), self.subwords.longest - len(after), len(before))
        position = torch.tensor(starts, device=counts.device)  # (batch, longest, 2) segment, first subword's position
        ids, is_subword = self._input_ids(batch, counts, position, segments)
        outcome = self.body(input_ids=ids, attention_mask=is_subword.long(), output_hidden_states=True)
        weights = self.mixture.softmax(0).view(-1, 1, 1, 1)
        mixed = (torch.stack(outcome.hidden_states) * weights).sum(0).flatten(0, 1)
        # (batch, longest, most subwords): where each subword of each word is.
        order = torch.arange(int(counts.max()), device=counts.device)
        rows = (position[..., 0] * ids.shape[1] + position[..., 1]).unsqueeze(2) + order
        counted = order < counts.unsqueeze(2)
        vectors = mixed.index_select(0, rows.masked_fill(~counted, 0).flatten()).view(*rows.shape, -1)
        means = (vectors * counted.unsqueeze(3)).sum(2) / counts.clamp(min=1).unsqueeze(2)
        found: Tensor = self.dropout(means)
        return found

    def _input_ids(
        self, batch: WordBatch, counts: Tensor, position: Tensor, segments: Sequence[int]
    ) -> tuple[Tensor, Tensor]:
        """(segments, subwords) the ids of the subwords with special tokens around them, and which of them are not padding."""
        before, after = self.subwords.special_tokens
        ends = torch.tensor(segments, device=counts.device).unsqueeze(1)
        longest = int(ends.max()) + len(after)
        ids = counts.new_full((len(segments), longest), self.subwords.tokenizer.pad_token_id or 0)
        if before:
            ids[:, : len(before)] = torch.tensor(before, device=counts.device)
        for step, token in enumerate(after):
            ids.scatter_(1, ends + step, token)
        spelt = batch.spelling[batch.forms]  # (batch, longest, most subwords)
        order = torch.arange(spelt.shape[2], device=counts.device)
        counted = order < counts.unsqueeze(2)
        rows = (position[..., 0] * longest + position[..., 1]).unsqueeze(2) + order
        ids.view(-1)[rows[counted]] = spelt[counted] - 1
        return ids, torch.arange(longest, device=counts.device) < ends + len(after)


def segment(counts: Sequence[Sequence[int]], limit: int, first: int) -> tuple[list[int], list[list[tuple[int, int]]]]:
    """Lay out the words of sentences in segments that the encoder can read.

    Args:
        counts: for each sentence, how many subwords each word has.
        limit: where a segment must end.
        first: the position of a segment's first subword.

    Returns:
        The end of each segment; and of each word its segment and the position of its first subword there.
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
