"""A parser: words in, a distribution over their projective trees out (Dozat and Manning 2017, with a CRF).

`BiaffineParser` scores arcs and labels and can be trained (dtg/training); what it is used for is in `uses.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from dtg.errors import ConfigError
from dtg.losses import BatchLoss
from dtg.parser.config import ParserConfig
from dtg.parser.crf.projective import ProjectiveCRF
from dtg.parser.data import NO_LABEL
from dtg.parser.network.batch import TreeBatch, WordBatch
from dtg.parser.network.biaffine import ArcScorer, LabelScorer
from dtg.parser.network.encoder import create_encoder
from dtg.parser.network.vocabulary import Vocabulary
from dtg.parser.uses import Find, Labels, ParsedTree, Uses, as_trees


@dataclass(frozen=True, slots=True)
class Analysis:
    """What is known of a batch before trees are looked for."""

    words: Tensor  # (batch, words, width) what the encoder says of each
    heads: Tensor  # (batch, words + 1, width) the same, with <ROOT> before them
    scores: Tensor  # (batch, words, words + 1) of arcs
    lengths: Tensor  # (batch,)


class BiaffineParser(nn.Module, Uses):
    """Made by `create` or `load`."""

    def __init__(self, config: ParserConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        if config.labelled and not vocabulary.labels:
            raise ConfigError("labelled is true, but the training trees have no labels. Set labelled = false.")
        self.config, self.vocabulary = config, vocabulary
        self.encoder = create_encoder(config, vocabulary)
        width = self.encoder.width
        self.root = nn.Parameter(torch.randn(width) / width**0.5)
        self.arcs = ArcScorer(width, config.arc_width, config.dropout)
        self.labels: LabelScorer | None = None
        if config.labelled:
            self.labels = LabelScorer(width, config.label_width, len(vocabulary.labels), config.dropout)
        self.tags: nn.Linear | None = None
        if config.tag_weight and vocabulary.tags:
            self.tags = nn.Linear(width, len(vocabulary.tags))

    @classmethod
    def create(cls, config: ParserConfig, vocabulary: Vocabulary, seed: int = 0) -> BiaffineParser:
        """A new parser with random weights, but for those of a pretrained encoder."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            parser = cls(config, vocabulary)
        parser.encoder.load_pretrained(config.encoder)
        return parser

    def save(self, folder: str | Path) -> None:
        """Write the parser into a folder: config.json, model.safetensors, vocabulary.json."""
        from dtg.parser.saving import save

        save(self, Path(folder))

    @classmethod
    def load(cls, folder: str | Path, device: torch.device | str = "cpu") -> BiaffineParser:
        """A parser from a folder that `save` wrote."""
        from dtg.parser.saving import load

        return load(cls, Path(folder), device)

    @property
    def device(self) -> torch.device:
        return self.root.device

    def forward(self, batch: WordBatch) -> Analysis:
        """Score every arc."""
        words = self.encoder(batch)
        heads = torch.cat([self.root.expand(len(words), 1, -1), words], 1)
        return Analysis(words, heads, self.arcs(words, heads), batch.lengths)

    def loss(self, batch: TreeBatch) -> BatchLoss:
        """-log p(tree), and -log p(label) of each arc; what is minimised is their sum for each word."""
        found = self(batch.words)
        is_word = batch.words.is_word
        if self.config.loss == "crf":
            total = -ProjectiveCRF(found.scores, found.lengths).log_probability(batch.heads).sum()
        else:
            total = head_loss(found.scores, batch.heads)
        if self.labels is not None:
            labels = self.labels(found.words, found.heads, batch.heads.clamp(min=0))
            total = total + choice_loss(labels, batch.labels)
        if self.tags is not None and self.training:  # a help in learning, and no part of what a parser is judged by
            total = total + self.config.tag_weight * choice_loss(self.tags(found.words), batch.tags)
        count = int(found.lengths.sum())
        return BatchLoss(total, count, count, count, 1 - count / is_word.numel())

    def analyse(self, sentences: Sequence[Sequence[str]]) -> Analysis:
        """Score the arcs of sentences, without gradients; a parser that is used is in eval mode."""
        with torch.no_grad():
            found: Analysis = self(self.vocabulary.batch(sentences, self.device))
        return found

    @torch.no_grad()
    def find_trees(self, sentences: Sequence[tuple[str, ...]], find: Find) -> list[list[ParsedTree]]:
        """See `Uses`. Labels are the best for each arc."""
        analysis = self.analyse(sentences)
        found = find(ProjectiveCRF(analysis.scores, analysis.lengths))
        if self.labels is None:
            return as_trees(sentences, found, None)
        heads = found.heads.clamp(min=0)
        if heads.shape[1] == 1:  # cheaper than the labels of all arcs
            best = self.labels(analysis.words, analysis.heads, heads[:, 0]).argmax(2).unsqueeze(1)
        else:
            every = self.labels.best(analysis.words, analysis.heads).transpose(1, 2)  # (batch, heads, words)
            best = every.gather(1, heads)
        return as_trees(sentences, found, Labels(best, self.vocabulary.labels))

    def parameter_groups(self, learning_rate: float) -> list[dict[str, Any]]:
        """The encoder's parameters at its own rate."""
        encoder = list(self.encoder.parameters())
        known = set(map(id, encoder))
        others = [parameter for parameter in self.parameters() if id(parameter) not in known]
        groups = ((encoder, self.encoder.rate), (others, 1.0))
        return [{"params": group, "lr": learning_rate * scale, "scale": scale} for group, scale in groups]


def head_loss(scores: Tensor, heads: Tensor) -> Tensor:
    """The sum over words of -log p(head), where each word chooses among all others and `<ROOT>`."""
    count = scores.shape[1]
    lengths = (heads >= 0).sum(1)
    places = torch.arange(count + 1, device=scores.device)
    is_head = (places <= lengths.view(-1, 1, 1)) & (places != places[1:].unsqueeze(1))
    # Past the end every head is allowed: a row of minus infinity has no softmax.
    is_head = is_head | (heads < 0).unsqueeze(2)
    logits = scores.masked_fill(~is_head, -torch.inf)
    return choice_loss(logits, heads)


def choice_loss(logits: Tensor, chosen: Tensor) -> Tensor:
    """The sum over words of -log p(what was chosen); (batch, words, choices), (batch, words) with -1 for nothing."""
    return functional.cross_entropy(logits.flatten(0, 1), chosen.flatten(), ignore_index=NO_LABEL, reduction="sum")
