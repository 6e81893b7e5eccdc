"""What a `ProjectiveCRF` answers with: heads, scores and log-probabilities, as tensors.

A head is the number of a word counted from 1, or 0 for `<ROOT>`; -1 stands where there is no word, or no tree.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


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
