"""Reranking: a proposal's trees of a sentence, in the order of a language model.

A parser knows which trees are likely for the words; the language model gives log p(x, y), of words and tree together. The
best of the proposal's trees by log p(x, y) is the paper's reranking. Trees are told apart by their `key`; labels stay
those of the proposal, because the language model has none.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import exp, inf, isfinite
from typing import Any, Protocol

import torch

from dtg.errors import InputError
from dtg.families import Family
from dtg.io.settings import PositiveInt, check_value
from dtg.model.model import DecoderModel
from dtg.scoring.marginals import log_sum, score_distinct
from dtg.scoring.proposal import Draws, Proposal, draw
from dtg.search.sampling import generator_of
from dtg.text.sentence import GivenSentence, as_sentence
from dtg.trees.kinds import Tree


@dataclass(frozen=True, slots=True)
class RankedTree:
    """A tree with both scores, in nats."""

    tree: Any  # of the kind that the model generates
    log_probability: float  # log p(x, y); minus infinity where the system's limits put it out of reach
    log_q: float | None  # of the proposal, where that is known
    proposal_rank: int  # from 1: by log q or, where that is not known, in the order the proposal gave them


@dataclass(frozen=True, slots=True)
class Reranking:
    """The distinct trees of one sentence, by log p(x, y), the highest first; equal ones as the proposal ranks them."""

    trees: tuple[RankedTree, ...]
    draws: int  # trees that the proposal gave, repeats included

    @property
    def lower_bound(self) -> float:
        """log Σ p(x, y) over these trees: never more than log p(x)."""
        return log_sum([ranked.log_probability for ranked in self.trees])

    def best(self, weight: float = 0.0) -> RankedTree:
        """The tree with the highest log p(x, y) + `weight` · log q(y)."""
        if not weight:
            return self.trees[0]
        if not isfinite(weight):
            raise InputError(f"the weight of log q must be a finite number, not {weight}.")
        if any(ranked.log_q is None for ranked in self.trees):
            raise InputError("log q of these trees is not known, so it cannot be given a weight. Use weight 0.")
        return max(self.trees, key=lambda ranked: ranked.log_probability + weight * (ranked.log_q or 0.0))

    def share(self, ranked: RankedTree) -> float:
        """p(y | x) among these trees: the tree's part of their sum; 0 if all are out of reach."""
        total = self.lower_bound
        return 0.0 if total == -inf else exp(ranked.log_probability - total)


def rerank(
    model: DecoderModel,
    sentence: GivenSentence,
    proposal: Proposal | Sequence[Tree],
    *,
    trees: int = 300,
    seed: int = 0,
    constrained: bool | None = None,
) -> Reranking:
    """Rank the trees that the proposal gives for a text, which is split into words, or for words.

    A proposal that draws gives as many as `trees` says. What is drawn follows from `seed` and the words, and from nothing else:
    it does not matter which sentences come before.
    """
    check_has_trees(model)
    check_value("trees", trees, PositiveInt)
    check_value("seed", seed, int)
    words = as_sentence(sentence).words
    draws = draw(proposal, words, trees, sentence_generator(words, seed), model.family.system.kind)
    return ranked(model, draws, constrained)


def ranked(model: DecoderModel, draws: Draws, constrained: bool | None = None) -> Reranking:
    """Score the trees that were drawn, and put them in order."""
    scores = score_distinct(model, draws.trees, constrained)
    log_q: Sequence[float | None] = draws.log_q or [None] * len(draws.trees)
    distinct = dict[Hashable, tuple[Tree, float | None]]()
    for tree, value in zip(draws.trees, log_q, strict=True):
        distinct.setdefault(tree.key, (tree, value))
    # Sorting keeps the order of equals, and so that of trees whose log q is not known.
    by_proposal = sorted(distinct.values(), key=lambda pair: 0.0 if pair[1] is None else -pair[1])
    found = [RankedTree(tree, scores[tree.key], value, rank) for rank, (tree, value) in enumerate(by_proposal, start=1)]
    return Reranking(tuple(sorted(found, key=lambda one: -one.log_probability)), len(draws.trees))


class HasTrees(Protocol):
    """A model that says whether it has trees."""

    @property
    def has_trees(self) -> bool: ...

    @property
    def family(self) -> Family: ...


def check_has_trees(model: HasTrees) -> None:
    """Raise for a model that does not look at trees: it gives all of them the same probability."""
    if not model.has_trees:
        raise InputError(
            f"{model.family.name} is a model of words without trees, so it has no preference among trees. "
            "Rerank with a model of another family, such as dtg."
        )


def sentence_generator(words: Sequence[str], seed: int) -> torch.Generator:
    """Random numbers for one sentence, the same whenever the seed and the words are."""
    return generator_of(seed, *words)
