"""`ProjectiveCRF`: the distribution over projective dependency trees that arc scores define.

p(tree) is proportional to exp of the sum of its arcs' scores, over projective trees with exactly one root word. Everything
is computed exactly, for a batch at once, with Eisner's algorithm; docs/crf.md explains how.

In results, a head is the number of a word counted from 1, or 0 for `<ROOT>`; -1 stands where there is no word, or no tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from dtg.errors import InputError
from dtg.parser.crf.checks import check_has_tree, check_heads, check_numbers, check_scores
from dtg.parser.crf.descent import Derivations, Descent
from dtg.parser.crf.eisner import EisnerChart, Reduce, fill_chart, log_partition, marginals
from dtg.parser.crf.eisner_items import EisnerItems
from dtg.parser.crf.tree_crf import FoundTrees, TreeCRF, as_double, at_least_single


@dataclass(frozen=True, slots=True)
class BestTrees:
    """The best tree of each sentence."""

    heads: Tensor  # (batch, words)
    scores: Tensor  # (batch,) the sum of its arcs' scores
    log_probabilities: Tensor  # (batch,)


@dataclass(frozen=True, slots=True)
class TreeList:
    """Several trees of each sentence. Those past `counts` are no trees: their log-probability is minus infinity."""

    heads: Tensor  # (batch, k, words)
    scores: Tensor  # (batch, k) the sum of the arcs' scores
    log_probabilities: Tensor  # (batch, k)
    counts: Tensor  # (batch,) how many of the k there are


@dataclass(frozen=True, slots=True)
class DrawnTrees(TreeList):
    """Trees drawn without replacement, in the order drawn.

    Each tree arrives after an exponential time whose rate is its probability, and those drawn are the first to arrive.
    Before time t, a tree of probability p is drawn with probability 1 - exp(-p t): what estimators need for their weights.
    """

    log_times: Tensor  # (batch, k) rising; infinity past `counts`


class ProjectiveCRF(TreeCRF[EisnerItems]):
    """The distribution that (batch, words, words + 1) arc scores define over the trees of (batch,) lengths words.

    `scores[b, m - 1, h]` is the score of head h for word m, both counted from 1, with head 0 for `<ROOT>`. A word as its own
    head, and words and heads past the sentence's end, are not read. Minus infinity forbids an arc.

    What comes back has the scores' type and device. Trees are found in double precision, and without gradients; for
    gradients of their probabilities, give their heads to `log_probability`.
    """

    def __init__(self, scores: Tensor, lengths: Tensor) -> None:
        check_scores(scores, lengths)
        self.scores, self.lengths = scores, lengths.long()
        words = torch.arange(1, scores.shape[1] + 1, device=scores.device)
        heads = torch.arange(scores.shape[2], device=scores.device)
        end = self.lengths.view(-1, 1, 1)
        self._is_arc = (words.unsqueeze(1) <= end) & (heads <= end) & (heads != words.unsqueeze(1))
        check_numbers(torch.where(self._is_arc, scores.detach(), 0))

    def log_partition(self) -> Tensor:
        """(batch,) log of the sum over trees of exp(score); differentiable once. Minus infinity if there is no tree."""
        scores, shift = self._normalised(at_least_single(self.scores))
        return (log_partition(scores, self.lengths) + shift).to(self.scores.dtype)

    @torch.no_grad()
    def marginals(self) -> Tensor:
        """(batch, words, heads) the probability of each arc: the gradient of `log_partition`."""
        scores, _ = self._normalised(at_least_single(self.scores))
        return marginals(fill_chart(scores, self.lengths, torch.logsumexp), self.lengths).to(self.scores.dtype)

    @torch.no_grad()
    def entropy(self) -> Tensor:
        """(batch,) in nats: log Z minus the expected score."""
        scores, chart = self._exact_scores, self._exact_chart
        expected = torch.where(scores > -torch.inf, scores * marginals(chart, self.lengths), 0)
        return (chart.roots.logsumexp(0) - expected.sum((1, 2))).clamp(min=0).to(self.scores.dtype)

    def log_probability(self, heads: Tensor) -> Tensor:
        """(batch,) log p of (batch, words) heads, or (batch, k) of (batch, k, words); differentiable."""
        batch, words, _ = self.scores.shape
        if (
            heads.dim() not in (2, 3)
            or (heads.shape[0], heads.shape[-1]) != (batch, words)
            or heads.is_floating_point()
        ):
            raise InputError(
                f"whole heads of shape ({batch}, {words}) or ({batch}, k, {words}) are expected; "
                f"{tuple(heads.shape)} of {heads.dtype} arrived."
            )
        several = (heads if heads.dim() == 3 else heads.unsqueeze(1)).long()
        check_heads(several, self.lengths)
        scores, _ = self._normalised(at_least_single(self.scores))
        total = log_partition(scores, self.lengths)
        check_has_tree(total)
        found = (self._tree_scores(scores, several) - total.unsqueeze(1)).to(self.scores.dtype)
        return found if heads.dim() == 3 else found.squeeze(1)

    def best(self) -> BestTrees:
        """The best tree of each sentence (Eisner 1996)."""
        found = self.k_best(1)
        return BestTrees(found.heads[:, 0], found.scores[:, 0], found.log_probabilities[:, 0])

    def k_best(self, k: int) -> TreeList:
        """The k best trees, best first, all different; fewer where a sentence has fewer."""
        return tree_list(self._find_best(k))

    def sample(self, k: int, generator: torch.Generator) -> TreeList:
        """k trees drawn independently, so that some may be equal."""
        return tree_list(self._draw(k, generator))

    def sample_without_replacement(self, k: int, generator: torch.Generator) -> DrawnTrees:
        """k different trees, each drawn from those not yet drawn; all trees, in such an order, where there are fewer."""
        drawn = self._draw_distinct(k, generator)
        assert drawn.log_times is not None
        return DrawnTrees(drawn.trees, drawn.scores, drawn.log_probabilities, drawn.counts, drawn.log_times)

    def _items(self, reduce: Reduce) -> EisnerItems:
        if reduce is torch.logsumexp:
            return EisnerItems.of(self._exact_chart, self.lengths, reduce)
        chart = fill_chart(self._exact_scores, self.lengths, reduce)
        check_has_tree(reduce(chart.roots, 0))
        return EisnerItems.of(chart, self.lengths, reduce)

    def _trees(self, items: EisnerItems, descent: Descent, derivations: Derivations) -> Tensor:
        heads = items.heads(descent, derivations)
        is_word = torch.arange(heads.shape[2], device=heads.device) < self.lengths.view(-1, 1, 1)
        return heads.masked_fill(~is_word, -1)

    def _scores_of(self, trees: Tensor) -> Tensor:
        return self._tree_scores(as_double(self.scores.detach()), trees)

    def _log_probabilities_of(self, trees: Tensor) -> Tensor:
        return self._tree_scores(self._exact_scores, trees) - self._exact_chart.roots.logsumexp(0).unsqueeze(1)

    @cached_property
    def _exact_scores(self) -> Tensor:
        """Normalised, in double precision, without gradients."""
        return self._normalised(as_double(self.scores.detach()))[0]

    @cached_property
    def _exact_chart(self) -> EisnerChart:
        """The sums over trees in double precision; raises if a sentence has no tree."""
        chart = fill_chart(self._exact_scores, self.lengths, torch.logsumexp)
        check_has_tree(chart.roots.logsumexp(0))
        return chart

    def _normalised(self, scores: Tensor) -> tuple[Tensor, Tensor]:
        """Scores that make each word's heads a distribution, and the (batch,) sum that this takes from a tree's score.

        It changes no tree's probability, and keeps the chart's numbers small however large the scores are.
        """
        scores = torch.where(self._is_arc, scores, -torch.inf)
        shift = scores.detach().logsumexp(2, keepdim=True)
        shift = torch.where(shift > -torch.inf, shift, 0)
        return scores - shift, shift.sum((1, 2))

    def _tree_scores(self, scores: Tensor, heads: Tensor) -> Tensor:
        """(batch, k) the sum of the scores of (batch, k, words) heads."""
        present = torch.arange(heads.shape[2], device=heads.device) < self.lengths.view(-1, 1, 1)
        found = scores.gather(2, heads.clamp(min=0).transpose(1, 2)).transpose(1, 2)
        return torch.where(present, found, 0).sum(2)


def tree_list(found: FoundTrees) -> TreeList:
    return TreeList(found.trees, found.scores, found.log_probabilities, found.counts)
