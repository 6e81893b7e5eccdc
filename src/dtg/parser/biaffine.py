"""The biaffine dependency parser of Dozat and Manning (2017), with a projective CRF over its arc scores.

A word has a vector as a dependent and another as a head; the score of an arc, and of each of its labels, is a bilinear form of
the two (sections 3.1 and 3.2). `<ROOT>` is a learned vector before the first word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from dtg.errors import ConfigError, NotFiniteError
from dtg.losses import BatchLoss
from dtg.parser.config import ParserConfig
from dtg.parser.crf.projective import ProjectiveCRF, TreeList
from dtg.parser.data import NO_LABEL, TreeBatch
from dtg.parser.encoder.vocabulary import Vocabulary, WordBatch
from dtg.parser.encoder.word_encoders import SharedDropout
from dtg.parser.parser import ParsedTree, Parser
from dtg.trees import DependencyTree


class Role(nn.Module):
    """The vector of a word as one side of an arc, head or dependent."""

    def __init__(self, width: int, role_width: int, dropout: float) -> None:
        super().__init__()
        self.linear = nn.Linear(width, role_width)
        self.dropout = SharedDropout(dropout)

    def forward(self, hidden: Tensor) -> Tensor:
        found: Tensor = self.dropout(functional.leaky_relu(self.linear(hidden), 0.1))
        return found


class ArcScorer(nn.Module):
    """Scores of every word, and `<ROOT>`, as the head of every word."""

    def __init__(self, width: int, role_width: int, dropout: float) -> None:
        super().__init__()
        self.dependent, self.head = Role(width, role_width, dropout), Role(width, role_width, dropout)
        self.weight = nn.Parameter(torch.zeros(role_width + 1, role_width))

    def forward(self, words: Tensor, heads: Tensor) -> Tensor:
        """(batch, words, width), (batch, words + 1, width) → (batch, words, words + 1)"""
        above: Tensor = self.head(heads)
        return with_one(self.dependent(words)) @ self.weight @ above.transpose(1, 2)


class LabelScorer(nn.Module):
    """Scores of the labels of arcs."""

    def __init__(self, width: int, role_width: int, labels: int, dropout: float) -> None:
        super().__init__()
        self.dependent, self.head = Role(width, role_width, dropout), Role(width, role_width, dropout)
        self.weight = nn.Parameter(torch.zeros(role_width + 1, labels, role_width + 1))

    def forward(self, words: Tensor, heads: Tensor, chosen: Tensor) -> Tensor:
        """(batch, words, labels) the scores of the labels of the arcs to the (batch, words) heads chosen."""
        batch, count, _ = words.shape
        starts = torch.arange(batch, device=words.device).unsqueeze(1) * (count + 1)
        rows = with_one(self.head(heads)).flatten(0, 1).index_select(0, (starts + chosen).flatten())
        # (batch × words, labels × width)
        forms = with_one(self.dependent(words)).flatten(0, 1) @ self.weight.flatten(1)
        return (forms.view(batch * count, *self.weight.shape[1:]) @ rows.unsqueeze(2)).view(batch, count, -1)

    def best(self, words: Tensor, heads: Tensor) -> Tensor:
        """(batch, words, words + 1) the best label of every arc there could be."""
        heads = with_one(self.head(heads)).transpose(1, 2)
        found = []
        # Sentence by sentence, because the table of all labels of all arcs is large.
        for dependents, above in zip(with_one(self.dependent(words)), heads, strict=True):
            forms = torch.einsum("md,dle->mle", dependents, self.weight)
            found.append((forms @ above).argmax(1))
        return torch.stack(found)


def with_one(vectors: Tensor) -> Tensor:
    """Vectors with a 1 added, so that a bilinear form has linear terms."""
    return torch.cat([vectors, vectors.new_ones(*vectors.shape[:-1], 1)], -1)


@dataclass(frozen=True, slots=True)
class Analysis:
    """The encoded words of a batch and the scores of their arcs."""

    words: Tensor  # (batch, words, width) from the encoder
    heads: Tensor  # (batch, words + 1, width) the same, with <ROOT> before them
    scores: Tensor  # (batch, words, words + 1) of arcs
    lengths: Tensor  # (batch,)


class BiaffineParser(Parser):
    """A dependency parser: made by `create` or `load`, trained by `dtg.training`."""

    kind = "dependency"

    def __init__(self, config: ParserConfig, vocabulary: Vocabulary) -> None:
        if config.labelled and not vocabulary.labels:
            raise ConfigError("labelled is true, but the training trees have no labels. Set labelled = false.")
        super().__init__(config, vocabulary)
        width = self.encoder.width
        self.root = nn.Parameter(torch.randn(width) / width**0.5)
        self.arcs = ArcScorer(width, config.arc_width, config.dropout)
        self.labels: LabelScorer | None = None
        if config.labelled:
            self.labels = LabelScorer(width, config.label_width, len(vocabulary.labels), config.dropout)
        self.tags: nn.Linear | None = None
        if config.tag_weight and vocabulary.tags:
            self.tags = nn.Linear(width, len(vocabulary.tags))

    @property
    def is_labelled(self) -> bool:
        """Whether its trees have labels."""
        return self.labels is not None

    def forward(self, batch: WordBatch) -> Analysis:
        """Score every arc."""
        words = self.encoder(batch)
        heads = torch.cat([self.root.expand(len(words), 1, -1), words], 1)
        return Analysis(words, heads, self.arcs(words, heads), batch.lengths)

    def loss(self, batch: TreeBatch) -> BatchLoss:
        """-log p(tree), and -log p(label) of each arc; what is minimised is their sum for each word.

        Args:
            batch: sentences with their trees, as `dtg.parser.data.ParserCorpus` gives them.

        Returns:
            The summed loss, and the number of words it is of.
        """
        analysis = self(batch.words)
        is_word = batch.words.is_word
        if self.config.loss == "crf":
            total = -ProjectiveCRF(analysis.scores, analysis.lengths).log_probability(batch.heads).sum()
        else:
            total = head_loss(analysis.scores, batch.heads)
        if self.labels is not None:
            labels = self.labels(analysis.words, analysis.heads, batch.heads.clamp(min=0))
            total = total + choice_loss(labels, batch.labels)
        if self.tags is not None and self.training:  # an auxiliary task, not part of what a parser is judged by
            total = total + self.config.tag_weight * choice_loss(self.tags(analysis.words), batch.tags)
        count = int(analysis.lengths.sum())
        return BatchLoss(total, count, count, count, 1 - count / is_word.numel())

    @torch.no_grad()
    def analyse(self, sentences: Sequence[Sequence[str]]) -> Analysis:
        """Score the arcs of sentences, without gradients.

        Args:
            sentences: the words of each.

        Returns:
            Encoded words and arc scores, padded to the longest sentence.
        """
        analysis: Analysis = self(self.vocabulary.batch(sentences, self.device))
        return analysis

    def distribution(self, sentences: Sequence[tuple[str, ...]]) -> DependencyDistribution:
        """The distributions over the projective trees of some sentences, computed together.

        Args:
            sentences: the words of each.

        Returns:
            The distributions, for k-best lists and samples.
        """
        analysis = self.analyse(sentences)
        if bool(analysis.scores.isnan().any()):
            raise NotFiniteError("the score of an arc")
        return DependencyDistribution(
            sentences, analysis, self.labels, self.vocabulary.labels, self.tags, self.vocabulary.tags
        )


@dataclass(frozen=True, slots=True)
class DependencyDistribution:
    """Trees from the arc scores of a batch; each arc has its best label. A `TreeDistribution`."""

    sentences: Sequence[tuple[str, ...]]
    analysis: Analysis
    scorer: LabelScorer | None
    labels: Sequence[str]
    tagger: nn.Linear | None
    tags: Sequence[str]

    @property
    def crf(self) -> ProjectiveCRF:
        return ProjectiveCRF(self.analysis.scores, self.analysis.lengths)

    def k_best(self, k: int) -> list[list[ParsedTree]]:
        return self._parsed(self.crf.k_best(k))

    def sample(self, k: int, generator: torch.Generator) -> list[list[ParsedTree]]:
        return self._parsed(self.crf.sample(k, generator))

    def sample_without_replacement(self, k: int, generator: torch.Generator) -> list[list[ParsedTree]]:
        return self._parsed(self.crf.sample_without_replacement(k, generator))

    @torch.no_grad()
    def annotate(self, trees: list[list[ParsedTree]]) -> list[list[ParsedTree]]:
        marginals = self.crf.marginals().clamp(0, 1)  # (batch, words, heads)
        tag_ids = None if self.tagger is None else self.tagger(self.analysis.words).argmax(2).tolist()
        found = []
        for index, of_sentence in enumerate(trees):
            arcs = marginals[index].tolist()
            tags = None
            if tag_ids is not None:
                tags = tuple(self.tags[number] for number in tag_ids[index][: len(self.sentences[index])])
            annotated = []
            for parsed in of_sentence:
                shares = tuple(arcs[place][head] for place, head in enumerate(parsed.tree.heads))
                annotated.append(replace(parsed, arc_probabilities=shares, tags=tags))
            found.append(annotated)
        return found

    def _parsed(self, found: TreeList) -> list[list[ParsedTree]]:
        """Tensors as trees."""
        label_ids = self._best_labels(found.heads.clamp(min=0))
        trees = []
        for index, words in enumerate(self.sentences):
            count, length = int(found.counts[index]), len(words)
            heads = found.heads[index, :count, :length].tolist()
            labels: list[tuple[str, ...] | None] = [None] * count
            if label_ids is not None:
                ids = label_ids[index, :count, :length].tolist()
                labels = [tuple(self.labels[number] for number in row) for row in ids]
            log_p = found.log_probabilities[index, :count].tolist()
            trees.append(
                [
                    ParsedTree(DependencyTree(words, tuple(row), label), value)
                    for row, label, value in zip(heads, labels, log_p, strict=True)
                ]
            )
        return trees

    @torch.no_grad()
    def _best_labels(self, heads: Tensor) -> Tensor | None:
        """(batch, k, words) the ids of the best labels of the arcs to (batch, k, words) heads."""
        if self.scorer is None:
            return None
        words, above = self.analysis.words, self.analysis.heads
        if heads.shape[1] == 1:  # cheaper than the labels of all arcs
            chosen: Tensor = self.scorer(words, above, heads[:, 0])
            return chosen.argmax(2).unsqueeze(1)
        return self.scorer.best(words, above).transpose(1, 2).gather(1, heads)  # from (batch, heads, words)


def head_loss(scores: Tensor, heads: Tensor) -> Tensor:
    """The sum over words of -log p(head), where each word chooses among all others and `<ROOT>`."""
    count = scores.shape[1]
    lengths = (heads >= 0).sum(1)
    numbers = torch.arange(count + 1, device=scores.device)
    is_head = (numbers <= lengths.view(-1, 1, 1)) & (numbers != numbers[1:].unsqueeze(1))
    # Past the end every head is allowed: a row of minus infinity has no softmax.
    is_head = is_head | (heads < 0).unsqueeze(2)
    logits = scores.masked_fill(~is_head, -torch.inf)
    return choice_loss(logits, heads)


def choice_loss(logits: Tensor, chosen: Tensor) -> Tensor:
    """The sum over words of -log p(choice), of (batch, words, choices) logits and (batch, words) choices; -1 is left out."""
    return functional.cross_entropy(logits.flatten(0, 1), chosen.flatten(), ignore_index=NO_LABEL, reduction="sum")
