"""Dependencies that a proposal draws, as phrases: for models of phrases that were trained on projected dependencies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from dtg.errors import InputError
from dtg.scoring.proposal import Draws, Proposal
from dtg.trees import ConstituencyTree, DependencyTree
from dtg.trees.phrases.projection import PhraseLabels


@dataclass(frozen=True, slots=True)
class ProjectedProposal:
    """The trees of another proposal, projected; a `dtg.scoring.proposal.Proposal`.

    Only with labels="head" are different dependencies always different phrases: then log q is theirs. With other labels it is
    left out, and equal trees are given once.

    Args:
        proposal: gives dependency trees.
        labels: of phrases; see `ConstituencyTree.from_dependencies`.
    """

    proposal: Proposal
    labels: PhraseLabels

    def propose(self, words: Sequence[str], count: int, generator: torch.Generator) -> Draws:
        """Project what the other proposal gives.

        Args:
            words: the words of the sentence.
            count: how many trees are drawn before equal ones are left out.
            generator: of random numbers.

        Returns:
            The trees, with log q where it is known.
        """
        draws = self.proposal.propose(words, count, generator)
        trees = list(map(self.project, draws.trees))
        if self.labels == "head":
            return Draws(tuple(trees), draws.log_q, draws.drawn)
        return Draws(tuple({tree.key: tree for tree in trees}.values()))

    def project(self, tree: object) -> ConstituencyTree:
        if not isinstance(tree, DependencyTree):
            raise InputError(f"dependencies are projected to phrases; the proposal gives a {type(tree).__name__}.")
        return ConstituencyTree.from_dependencies(tree, self.labels)
