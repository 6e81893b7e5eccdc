"""What CRFs over trees of any kind share: lists of the best trees and samples, read off a chart by one descent.

A subclass says which chart it fills, what a derivation builds, and what a tree is worth.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, TypeVar

import torch
from torch import Tensor

from dtg.parser.crf.checks import check_count
from dtg.parser.crf.descent import ChartItems, Derivations, Descent
from dtg.parser.crf.eisner import Reduce
from dtg.parser.crf.selection import best_derivations, distinct_derivations, independent_derivations

Items = TypeVar("Items", bound=ChartItems)


@dataclass(frozen=True, slots=True)
class FoundTrees:
    """Several trees of each sentence; those that exist come first."""

    trees: Tensor  # (batch, k, ...) as the subclass writes a tree; -1 where there is none
    scores: Tensor  # (batch, k) minus infinity past `counts`
    log_probabilities: Tensor  # (batch, k) minus infinity past `counts`
    counts: Tensor  # (batch,) how many of the k there are
    log_times: Tensor | None = None  # (batch, k) of arrival, for draws without replacement; infinity past `counts`


class TreeCRF(ABC, Generic[Items]):
    """A distribution over the trees of each sentence of a batch, by the scores of what a tree consists of."""

    scores: Tensor

    @abstractmethod
    def _items(self, reduce: Reduce) -> Items:
        """The items of the chart filled with `reduce`, in double precision; raises if a sentence has no tree."""

    @abstractmethod
    def _trees(self, items: Items, descent: Descent, derivations: Derivations) -> Tensor:
        """(batch, rows of a sentence, ...) the trees of finished derivations; -1 past a sentence's end."""

    @abstractmethod
    def _scores_of(self, trees: Tensor) -> Tensor:
        """(batch, rows) the scores of trees, in double precision, without gradients."""

    @abstractmethod
    def _log_probabilities_of(self, trees: Tensor) -> Tensor:
        """(batch, rows) the log-probabilities of trees, in double precision, without gradients."""

    @torch.no_grad()
    def _find_best(self, k: int) -> FoundTrees:
        """The k best trees, best first, all different; fewer where a sentence has fewer."""
        check_count(k)
        items = self._items(torch.amax)
        descent = Descent(items, k)
        derivations, exists = best_derivations(descent, k)
        trees = self._trees(items, descent, derivations)
        order = (
            self._scores_of(trees).masked_fill(~exists, -torch.inf).sort(dim=1, descending=True, stable=True).indices
        )
        return self._listed(take_rows(trees, order), exists.gather(1, order), k)

    @torch.no_grad()
    def _draw(self, k: int, generator: torch.Generator) -> FoundTrees:
        """k trees drawn independently."""
        check_count(k)
        items = self._items(torch.logsumexp)
        descent = Descent(items, k)
        trees = self._trees(items, descent, independent_derivations(descent, k, generator))
        return self._listed(trees, trees.new_ones(trees.shape[:2], dtype=torch.bool), k)

    @torch.no_grad()
    def _draw_distinct(self, k: int, generator: torch.Generator) -> FoundTrees:
        """k different trees, each drawn from those not yet drawn."""
        check_count(k)
        items = self._items(torch.logsumexp)
        descent = Descent(items, k)
        derivations, times = distinct_derivations(descent, k, generator)
        times, order = times.sort(dim=1)
        trees = take_rows(self._trees(items, descent, derivations), order)
        return self._listed(trees, times < torch.inf, k, widened(times, k, torch.inf).to(self.scores.dtype))

    def _listed(self, trees: Tensor, exists: Tensor, k: int, log_times: Tensor | None = None) -> FoundTrees:
        """(batch, rows, ...) trees, of which those that exist come first, as a list of k."""
        scores, log_p = self._scores_of(trees), self._log_probabilities_of(trees)
        there = exists.view(*exists.shape, *[1] * (trees.dim() - 2))
        return FoundTrees(
            widened(trees.masked_fill(~there, -1), k, -1),
            widened(scores.masked_fill(~exists, -torch.inf), k, -torch.inf).to(self.scores.dtype),
            widened(log_p.masked_fill(~exists, -torch.inf), k, -torch.inf).to(self.scores.dtype),
            exists.sum(1),
            log_times,
        )


def at_least_single(scores: Tensor) -> Tensor:
    """Half precision is too coarse for sums over trees."""
    return scores if scores.dtype in (torch.float32, torch.float64) else scores.float()


def as_double(scores: Tensor) -> Tensor:
    """Double precision where the device has it."""
    return scores.float() if scores.device.type == "mps" else scores.double()


def take_rows(trees: Tensor, order: Tensor) -> Tensor:
    """(batch, rows, ...) trees with their rows in the (batch, rows) order given."""
    index = order.view(*order.shape, *[1] * (trees.dim() - 2))
    return trees.gather(1, index.expand(-1, -1, *trees.shape[2:]))


def widened(table: Tensor, k: int, value: float) -> Tensor:
    """(batch, rows, ...) with rows of one value added up to k."""
    missing = table.new_full((table.shape[0], k - table.shape[1], *table.shape[2:]), value)
    return torch.cat([table, missing], 1)
