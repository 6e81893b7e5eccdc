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
from dtg.parser.crf.checks import check_count, check_has_tree, check_heads, check_numbers, check_scores
from dtg.parser.crf.descent import Descent
from dtg.parser.crf.eisner import EisnerChart, fill_chart, log_partition, marginals
from dtg.parser.crf.eisner_items import EisnerItems
from dtg.parser.crf.selection import best_derivations, distinct_derivations, independent_derivations


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


class ProjectiveCRF:
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

    @torch.no_grad()
    def k_best(self, k: int) -> TreeList:
        """The k best trees, best first, all different; fewer where a sentence has fewer."""
        check_count(k)
        chart = fill_chart(self._exact_scores, self.lengths, torch.amax)
        check_has_tree(chart.roots.amax(0))
        items = EisnerItems.of(chart, self.lengths, torch.amax)
        descent = Descent(items, k)
        derivations, exists = best_derivations(descent, k)
        heads = items.heads(descent, derivations)
        scores = self._tree_scores(as_double(self.scores.detach()), heads).masked_fill(~exists, -torch.inf)
        order = scores.sort(dim=1, descending=True, stable=True).indices
        return self._tree_list(take_rows(heads, order), exists.gather(1, order), k)

    @torch.no_grad()
    def sample(self, k: int, generator: torch.Generator) -> TreeList:
        """k trees drawn independently, so that some may be equal."""
        check_count(k)
        items = EisnerItems.of(self._exact_chart, self.lengths, torch.logsumexp)
        descent = Descent(items, k)
        heads = items.heads(descent, independent_derivations(descent, k, generator))
        return self._tree_list(heads, heads.new_ones(heads.shape[:2], dtype=torch.bool), k)

    @torch.no_grad()
    def sample_without_replacement(self, k: int, generator: torch.Generator) -> DrawnTrees:
        """k different trees, each drawn from those not yet drawn; all trees, in such an order, where there are fewer."""
        check_count(k)
        items = EisnerItems.of(self._exact_chart, self.lengths, torch.logsumexp)
        descent = Descent(items, k)
        derivations, times = distinct_derivations(descent, k, generator)
        times, order = times.sort(dim=1)
        drawn = self._tree_list(take_rows(items.heads(descent, derivations), order), times < torch.inf, k)
        times = widened(times, k, torch.inf).to(self.scores.dtype)
        return DrawnTrees(drawn.heads, drawn.scores, drawn.log_probabilities, drawn.counts, times)

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

    def _tree_list(self, heads: Tensor, exists: Tensor, k: int) -> TreeList:
        """(batch, rows, words) heads, of which those that exist come first, as a list of k."""
        scores = self._tree_scores(as_double(self.scores.detach()), heads)
        log_p = self._tree_scores(self._exact_scores, heads) - self._exact_chart.roots.logsumexp(0).unsqueeze(1)
        present = torch.arange(heads.shape[2], device=heads.device) < self.lengths.view(-1, 1, 1)
        return TreeList(
            widened(heads.masked_fill(~(present & exists.unsqueeze(2)), -1), k, -1),
            widened(scores.masked_fill(~exists, -torch.inf), k, -torch.inf).to(self.scores.dtype),
            widened(log_p.masked_fill(~exists, -torch.inf), k, -torch.inf).to(self.scores.dtype),
            exists.sum(1),
        )

    def _tree_scores(self, scores: Tensor, heads: Tensor) -> Tensor:
        """(batch, k) the sum of the scores of (batch, k, words) heads."""
        present = torch.arange(heads.shape[2], device=heads.device) < self.lengths.view(-1, 1, 1)
        found = scores.gather(2, heads.clamp(min=0).transpose(1, 2)).transpose(1, 2)
        return torch.where(present, found, 0).sum(2)


def at_least_single(scores: Tensor) -> Tensor:
    """Half precision is too coarse for sums over trees."""
    return scores if scores.dtype in (torch.float32, torch.float64) else scores.float()


def as_double(scores: Tensor) -> Tensor:
    """Double precision where the device has it."""
    return scores.float() if scores.device.type == "mps" else scores.double()


def take_rows(heads: Tensor, order: Tensor) -> Tensor:
    """(batch, rows, words) heads with their rows in the (batch, rows) order given."""
    return heads.gather(1, order.unsqueeze(2).expand(-1, -1, heads.shape[2]))


def widened(table: Tensor, k: int, value: float) -> Tensor:
    """(batch, rows, ...) with rows of one value added up to k."""
    missing = table.new_full((table.shape[0], k - table.shape[1], *table.shape[2:]), value)
    return torch.cat([table, missing], 1)
