"""`SpanCRF`: the distribution over n-ary phrase-structure trees that the scores of labelled spans define.

p(tree) is proportional to exp of the sum of its constituents' scores. The whole sentence is a constituent; every other span is
one or is not, and has one label at most: a unary chain is a label of its own. A word may be a constituent too. Everything is
computed exactly, for a batch at once; docs/crf.md explains how.

In results, a tree is its constituents in preorder: (first word, last word, label), words counted from 1 and labels from 0; -1
stands where there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from dtg.parser.crf.descent import Derivations, Descent
from dtg.parser.crf.eisner import Reduce
from dtg.parser.crf.span_chart import SpanChart, fill_span_chart, span_log_partition, span_marginals
from dtg.parser.crf.span_checks import (
    check_nodes,
    check_sentences_have_trees,
    check_span_numbers,
    check_span_scores,
)
from dtg.parser.crf.span_items import SpanItems
from dtg.parser.crf.tree_crf import FoundTrees, TreeCRF, as_double, at_least_single


@dataclass(frozen=True, slots=True)
class BestPhrases:
    """The best tree of each sentence."""

    nodes: Tensor  # (batch, 2 * words - 1, 3)
    scores: Tensor  # (batch,) the sum of its constituents' scores
    log_probabilities: Tensor  # (batch,)


@dataclass(frozen=True, slots=True)
class PhraseList:
    """Several trees of each sentence. Those past `counts` are no trees: their log-probability is minus infinity."""

    nodes: Tensor  # (batch, k, 2 * words - 1, 3)
    scores: Tensor  # (batch, k) the sum of the constituents' scores
    log_probabilities: Tensor  # (batch, k)
    counts: Tensor  # (batch,) how many of the k there are


@dataclass(frozen=True, slots=True)
class DrawnPhrases(PhraseList):
    """Trees drawn without replacement, in the order drawn; for the times see `DrawnTrees`."""

    log_times: Tensor  # (batch, k) rising; infinity past `counts`


class SpanCRF(TreeCRF[SpanItems]):
    """The distribution that (batch, words, words, labels) scores define over the trees of (batch,) lengths words.

    `scores[b, i - 1, j - 1, l]` is the score of label l for words i to j, both counted from 1. Spans that end before they
    begin, and words past the sentence's end, are not read. Minus infinity forbids a label.

    What comes back has the scores' type and device. Sums over trees are computed in double precision. Trees are found without
    gradients; for gradients of their probabilities, give their nodes to `log_probability`.
    """

    def __init__(self, scores: Tensor, lengths: Tensor) -> None:
        check_span_scores(scores, lengths)
        self.scores, self.lengths = scores, lengths.long()
        word = torch.arange(scores.shape[1], device=scores.device)
        self._is_span = (word.unsqueeze(1) <= word) & (word < self.lengths.view(-1, 1, 1))
        check_span_numbers(scores.detach(), self._is_span)

    def log_partition(self) -> Tensor:
        """(batch,) log of the sum over trees of exp(score); differentiable once. Minus infinity if there is no tree."""
        return span_log_partition(self._spans(), self.lengths).to(self.scores.dtype)

    @torch.no_grad()
    def marginals(self) -> Tensor:
        """(batch, words, words, labels) the probability of each labelled constituent: the gradient of `log_partition`."""
        scores = as_double(self.scores)
        shares = torch.where(self._is_span.unsqueeze(3), scores, -torch.inf).softmax(3).nan_to_num_(0)
        return (shares * span_marginals(self._any_chart, self.lengths).unsqueeze(3)).to(self.scores.dtype)

    @torch.no_grad()
    def entropy(self) -> Tensor:
        """(batch,) in nats: log Z minus the expected score."""
        scores, spans = self._exact_scores, self._exact_spans
        shares = (scores - torch.where(spans > -torch.inf, spans, 0).unsqueeze(3)).exp()
        expected = torch.where(shares > 0, scores * shares, 0).sum(3) * span_marginals(self._exact_chart, self.lengths)
        return (self._exact_chart.total - expected.sum((1, 2))).clamp(min=0).to(self.scores.dtype)

    def log_probability(self, nodes: Tensor) -> Tensor:
        """(batch,) log p of trees of (batch, nodes, 3) constituents, or (batch, k) of (batch, k, nodes, 3); differentiable.

        A label of -1 is whichever label: p is then the sum over all of them. Rows of -1 are no constituents.
        """
        check_nodes(nodes, self.lengths, self.scores.shape[3])
        several = (nodes if nodes.dim() == 4 else nodes.unsqueeze(1)).long()
        spans = self._spans()
        total = span_log_partition(spans, self.lengths)
        check_sentences_have_trees(total)
        found = self._tree_scores(at_least_single(self.scores), spans, several) - total.unsqueeze(1)
        found = found.to(self.scores.dtype)
        return found if nodes.dim() == 4 else found.squeeze(1)

    def best(self) -> BestPhrases:
        """The best tree of each sentence."""
        found = self._find_best(1)
        return BestPhrases(found.trees[:, 0], found.scores[:, 0], found.log_probabilities[:, 0])

    def k_best(self, k: int) -> PhraseList:
        """The k best trees, best first, all different; fewer where a sentence has fewer."""
        return phrase_list(self._find_best(k))

    def sample(self, k: int, generator: torch.Generator) -> PhraseList:
        """k trees drawn independently, so that some may be equal."""
        return phrase_list(self._draw(k, generator))

    def sample_without_replacement(self, k: int, generator: torch.Generator) -> DrawnPhrases:
        """k different trees, each drawn from those not yet drawn; all trees, in such an order, where there are fewer."""
        drawn = self._draw_distinct(k, generator)
        assert drawn.log_times is not None
        return DrawnPhrases(drawn.trees, drawn.scores, drawn.log_probabilities, drawn.counts, drawn.log_times)

    def _items(self, reduce: Reduce) -> SpanItems:
        scores = self._exact_scores
        if reduce is torch.logsumexp:
            return SpanItems.of(self._exact_chart, scores, self.lengths, reduce)
        spans = torch.where(self._is_span, reduce(scores, 3), 0)
        chart = fill_span_chart(spans, self.lengths, reduce)
        check_sentences_have_trees(chart.total)
        return SpanItems.of(chart, scores, self.lengths, reduce)

    def _trees(self, items: SpanItems, descent: Descent, derivations: Derivations) -> Tensor:
        return items.nodes(descent, derivations)

    def _scores_of(self, trees: Tensor) -> Tensor:
        return self._tree_scores(self._exact_scores, self._exact_spans, trees)

    def _log_probabilities_of(self, trees: Tensor) -> Tensor:
        return self._scores_of(trees) - self._exact_chart.total.unsqueeze(1)

    def _spans(self) -> Tensor:
        """(batch, words, words) the score of all labels of a span together, in double precision; 0 where there is no span."""
        found = as_double(at_least_single(self.scores).logsumexp(3))
        return torch.where(self._is_span, found, 0)

    @cached_property
    def _exact_scores(self) -> Tensor:
        """In double precision, without gradients."""
        return as_double(self.scores.detach())

    @cached_property
    def _exact_spans(self) -> Tensor:
        """As `_spans`, without gradients."""
        return torch.where(self._is_span, self._exact_scores.logsumexp(3), 0)

    @cached_property
    def _any_chart(self) -> SpanChart:
        """The sums over trees, also where a sentence has none."""
        return fill_span_chart(self._exact_spans, self.lengths, torch.logsumexp)

    @property
    def _exact_chart(self) -> SpanChart:
        """The sums over trees; raises if a sentence has no tree."""
        check_sentences_have_trees(self._any_chart.total)
        return self._any_chart

    def _tree_scores(self, scores: Tensor, spans: Tensor, nodes: Tensor) -> Tensor:
        """(batch, k) the sum of the scores of (batch, k, nodes, 3) constituents."""
        batch, words, _, labels = scores.shape
        first, last, label = nodes.unbind(3)
        span = (first - 1).clamp(min=0) * words + (last - 1).clamp(min=0)
        labelled = scores.reshape(batch, -1).gather(1, (span * labels + label.clamp(min=0)).flatten(1)).view_as(span)
        whichever = spans.reshape(batch, -1).gather(1, span.flatten(1)).view_as(span)
        found = torch.where(label >= 0, labelled.to(spans.dtype), whichever)
        return torch.where(first > 0, found, 0).sum(2)


def phrase_list(found: FoundTrees) -> PhraseList:
    return PhraseList(found.trees, found.scores, found.log_probabilities, found.counts)
