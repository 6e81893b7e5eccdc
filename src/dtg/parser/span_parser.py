"""A constituency parser: scores of labelled spans from what an encoder says at their ends, with a `SpanCRF` over trees.

A span has a vector made of four words: its first and its last, and those before and after it. The first layer is linear in
these, so that it is computed for each word and only added up for each span; a second layer gives the scores of the labels
(after Stern, Andreas and Klein 2017, and Kitaev and Klein 2018, whose spans are differences of vectors at their ends).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from dtg.errors import NotFiniteError
from dtg.losses import BatchLoss
from dtg.parser.biaffine import choice_loss
from dtg.parser.config import ParserConfig
from dtg.parser.crf.spans import PhraseList, SpanCRF
from dtg.parser.encoder.vocabulary import Vocabulary, WordBatch
from dtg.parser.encoder.word_encoders import SharedDropout
from dtg.parser.parser import ParsedTree, Parser
from dtg.parser.phrase_data import PhraseBatch, constituents, nodes_of
from dtg.trees import ConstituencyTree


class SpanScorer(nn.Module):
    """Scores of the labels of every span."""

    def __init__(self, width: int, span_width: int, labels: int, dropout: float) -> None:
        super().__init__()
        self.edges = nn.Parameter(
            torch.randn(2, width) / width**0.5
        )  # what is before the first word, and after the last
        self.ends = nn.ModuleList(
            nn.Linear(width, span_width, bias=False) for _ in range(4)
        )  # before, first, last, after
        self.norm = nn.LayerNorm(span_width)
        self.dropout = SharedDropout(dropout)
        self.labels = nn.Linear(span_width, labels)
        # One span in twenty is a constituent; a new parser should not think that all are.
        nn.init.constant_(self.labels.bias, -math.log(20 * labels))

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """(batch, words, width) → (batch, words, words, labels), by first and last word; 0 where there is no span."""
        batch, count, _ = words.shape
        words = self.dropout(words)
        begin, end = (edge.expand(batch, 1, -1) for edge in self.edges)
        place = torch.arange(count, device=words.device)
        followed = torch.cat([words[:, 1:], end], 1)
        followed = torch.where((place == lengths.unsqueeze(1) - 1).unsqueeze(2), end, followed)
        before, first, last, after = self.ends
        lower = before(torch.cat([begin, words[:, :-1]], 1)) + first(words)  # (batch, words, span width)
        upper = last(words) + after(followed)
        is_span = (place.unsqueeze(1) <= place) & (place < lengths.view(-1, 1, 1))
        sentence, i, j = is_span.nonzero().unbind(1)
        # index_select, because the backward pass of indexing by a tensor adds up in any order.
        vectors = lower.flatten(0, 1).index_select(0, sentence * count + i)
        vectors = vectors + upper.flatten(0, 1).index_select(0, sentence * count + j)
        scores: Tensor = self.labels(functional.relu(self.norm(vectors)))  # (spans, labels)
        table = scores.new_zeros(batch * count * count, scores.shape[1])
        return table.index_copy(0, (sentence * count + i) * count + j, scores).view(batch, count, count, -1)


@dataclass(frozen=True, slots=True)
class SpanAnalysis:
    """The encoded words of a batch and the scores of their spans."""

    words: Tensor  # (batch, words, width) from the encoder
    scores: Tensor  # (batch, words, words, labels)
    lengths: Tensor  # (batch,)


class SpanParser(Parser):
    """A constituency parser: made by `create` or `load`, trained by `dtg.training`."""

    kind = "constituency"

    def __init__(self, config: ParserConfig, vocabulary: Vocabulary) -> None:
        super().__init__(config, vocabulary)
        width = self.encoder.width
        self.spans = SpanScorer(width, config.span_width, len(vocabulary.labels), config.dropout)
        self.tags: nn.Linear | None = None
        if config.tag_weight and vocabulary.tags:
            self.tags = nn.Linear(width, len(vocabulary.tags))

    @property
    def is_labelled(self) -> bool:
        """Always: labels are part of its trees."""
        return True

    def forward(self, batch: WordBatch) -> SpanAnalysis:
        """Score every span."""
        words = self.encoder(batch)
        return SpanAnalysis(words, self.spans(words, batch.lengths), batch.lengths)

    def loss(self, batch: PhraseBatch) -> BatchLoss:
        """-log p(tree); what is minimised is the sum for each word.

        Args:
            batch: sentences with their trees, as `dtg.parser.phrase_data.PhraseCorpus` gives them.

        Returns:
            The summed loss, and the number of words it is of.
        """
        analysis = self(batch.words)
        total = -SpanCRF(analysis.scores, analysis.lengths).log_probability(batch.nodes).sum()
        if self.tags is not None and self.training:  # an auxiliary task, not part of what a parser is judged by
            total = total + self.config.tag_weight * choice_loss(self.tags(analysis.words), batch.tags)
        count = int(analysis.lengths.sum())
        return BatchLoss(total, count, count, count, 1 - count / batch.words.is_word.numel())

    @torch.no_grad()
    def analyse(self, sentences: Sequence[Sequence[str]]) -> SpanAnalysis:
        """Score the spans of sentences, without gradients.

        Args:
            sentences: the words of each.

        Returns:
            Encoded words and span scores, padded to the longest sentence.
        """
        analysis: SpanAnalysis = self(self.vocabulary.batch(sentences, self.device))
        return analysis

    def distribution(self, sentences: Sequence[tuple[str, ...]]) -> PhraseDistribution:
        """The distributions over the trees of some sentences, computed together.

        Args:
            sentences: the words of each.

        Returns:
            The distributions, for k-best lists and samples.
        """
        analysis = self.analyse(sentences)
        if bool(analysis.scores.isnan().any()):
            raise NotFiniteError("the score of a phrase")
        crf = SpanCRF(analysis.scores, analysis.lengths)
        return PhraseDistribution(sentences, analysis, crf, self.vocabulary, self.tags)


@dataclass(frozen=True, slots=True)
class PhraseDistribution:
    """Trees from the span scores of a batch. A `TreeDistribution`."""

    sentences: Sequence[tuple[str, ...]]
    analysis: SpanAnalysis
    crf: SpanCRF
    vocabulary: Vocabulary
    tagger: nn.Linear | None

    def k_best(self, k: int) -> list[list[ParsedTree]]:
        return self._parsed(self.crf.k_best(k))

    def sample(self, k: int, generator: torch.Generator) -> list[list[ParsedTree]]:
        return self._parsed(self.crf.sample(k, generator))

    def sample_without_replacement(self, k: int, generator: torch.Generator) -> list[list[ParsedTree]]:
        return self._parsed(self.crf.sample_without_replacement(k, generator))

    @torch.no_grad()
    def annotate(self, trees: list[list[ParsedTree]]) -> list[list[ParsedTree]]:
        marginals = self.crf.marginals().clamp(0, 1)
        label_ids = self.vocabulary.label_ids
        tag_ids = None if self.tagger is None else self.tagger(self.analysis.words).argmax(2).tolist()
        found = []
        for index, of_sentence in enumerate(trees):
            tags = None
            if tag_ids is not None:
                tags = tuple(self.vocabulary.tags[number] for number in tag_ids[index][: len(self.sentences[index])])
            annotated = []
            for parsed in of_sentence:
                shares = {
                    (first, last): float(marginals[index, first - 1, last - 1, label_ids[label]])
                    for first, last, label in constituents(parsed.tree)
                }
                of_nodes = tuple(shares[node.first, node.last] for node in parsed.tree.nodes)
                tree = replace(parsed.tree, tags=tags)
                annotated.append(replace(parsed, tree=tree, node_probabilities=of_nodes, tags=tags))
            found.append(annotated)
        return found

    def _parsed(self, found: PhraseList) -> list[list[ParsedTree]]:
        """Tensors as trees."""
        labels, trees = self.vocabulary.labels, []
        nodes, log_p = found.nodes.tolist(), found.log_probabilities.tolist()
        for index, words in enumerate(self.sentences):
            of_sentence = []
            for row, value in zip(nodes[index][: int(found.counts[index])], log_p[index], strict=False):
                spans = [(first, last, labels[label]) for first, last, label in row if first > 0]
                of_sentence.append(ParsedTree(ConstituencyTree(words, nodes_of(spans)), value))
            trees.append(of_sentence)
        return trees
