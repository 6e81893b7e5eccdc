"""Proposals: trees to sum over from somewhere else, a list or an object that draws them, such as a parser.

A proposal need not be right. Any distinct trees give a lower bound of p(x); an estimate needs their probabilities too.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args, runtime_checkable

import torch

from dtg.errors import InputError
from dtg.io.settings import check_choice
from dtg.trees.kinds import Tree, TreeKind
from dtg.trees.reading import as_kind

# How trees were come by. A list of the k best trees is not drawn at random, even where their probabilities are known:
# no unbiased estimate can be made from it.
Drawn = Literal["independently", "without replacement", "not at random"]


@dataclass(frozen=True, slots=True)
class Draws:
    """Trees of one sentence in the order they were drawn, each with log q(y), in nats, where that is known.

    `log_q` is that of the tree in the whole distribution, also for draws without replacement.
    """

    trees: tuple[Any, ...]  # of one kind
    log_q: tuple[float, ...] | None = None
    drawn: Drawn = "not at random"

    def __post_init__(self) -> None:
        check_choice("drawn", self.drawn, get_args(Drawn))
        if self.log_q is not None and len(self.log_q) != len(self.trees):
            raise InputError(
                f"there are {len(self.trees)} trees but {len(self.log_q)} values of log q; each tree needs one."
            )
        if self.drawn == "without replacement" and (repeat := first_repeat(self.trees)) is not None:
            raise InputError(
                f"trees {repeat[0] + 1} and {repeat[1] + 1} are the same, but they are said to be drawn without replacement."
            )


@runtime_checkable
class Proposal(Protocol):
    """Something that draws trees for a sentence."""

    def propose(self, words: Sequence[str], count: int, generator: torch.Generator) -> Draws:
        """As many trees of these words as asked for, or fewer if there are no more. Same generator state, same trees."""


def draw(
    proposal: Proposal | Sequence[Tree],
    words: Sequence[str],
    count: int,
    generator: torch.Generator | None,
    kind: TreeKind | None = None,
) -> Draws:
    """What the proposal gives for this sentence, checked. Of a list, all trees; `count` is for those that draw.

    Without a generator, one with seed 0 is made for the sentence, so that the same call gives the same trees. `kind` is that of
    the trees that a model takes.
    """
    if isinstance(proposal, Proposal):
        if count < 1:
            raise InputError(f"at least 1 tree must be drawn from the proposal, not {count}.")
        generator = torch.Generator().manual_seed(0) if generator is None else generator
        draws = proposal.propose(tuple(words), count, generator)
    elif isinstance(proposal, Sequence) and all(isinstance(tree, Tree) for tree in proposal):
        draws = Draws(tuple(proposal))
    else:
        raise InputError(
            f"a proposal is a list of trees, or an object with a method propose; this is {type(proposal).__name__}."
        )
    check_trees(draws.trees, tuple(words))
    return of_kind(draws, kind)


def of_kind(draws: Draws, kind: TreeKind | None) -> Draws:
    """Draws as a model of this kind of tree takes them: phrases are binarised where binary trees are wanted.

    Different phrases may have the same binary tree, so that log q of those is not known, and equal ones are given once.
    """
    trees = [as_kind(tree, kind) for tree in draws.trees]
    if all(made is given for made, given in zip(trees, draws.trees, strict=True)):
        return draws
    return Draws(tuple({tree.key: tree for tree in trees}.values()))


def check_trees(trees: Sequence[Tree], words: tuple[str, ...]) -> None:
    """Raise unless there are trees, and each is a tree of these words."""
    if not trees:
        raise InputError("the proposal gives no trees; at least one is needed.")
    for place, tree in enumerate(trees, start=1):
        if tree.words != words:
            raise InputError(
                f"tree {place} of the proposal is of {' '.join(tree.words)!r} ({len(tree)} words);"
                f" one of {' '.join(words)!r} ({len(words)} words) is expected."
            )


def first_repeat(trees: Sequence[Tree]) -> tuple[int, int] | None:
    """The indices of the first two trees with equal keys."""
    seen = dict[Hashable, int]()
    for place, tree in enumerate(trees):
        if (earlier := seen.setdefault(tree.key, place)) != place:
            return earlier, place
    return None
