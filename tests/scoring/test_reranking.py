"""Reranking against scores of every tree, one at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import pytest
import torch

from dtg.errors import InputError
from dtg.scoring.proposal import Drawn, Draws
from dtg.scoring.reranking import sentence_generator
from dtg.trees import DependencyTree
from tests.dependency import as_dependency
from tests.parser.parsers import small_parser
from tests.scoring.test_marginal import SENTENCE, WITH_TREES, log_sum, scores, tiny
from tests.twins import every_projective_tree

FOUR = SENTENCE[:4]


class Listed:
    """A proposal that gives the first trees of a list, all with log q."""

    def __init__(
        self, trees: Sequence[DependencyTree], log_q: Sequence[float] | None = None, drawn: Drawn = "not at random"
    ) -> None:
        self.trees, self.log_q, self.drawn = tuple(trees), log_q, drawn

    def propose(self, words: Sequence[str], count: int, generator: torch.Generator) -> Draws:
        log_q = None if self.log_q is None else tuple(self.log_q[:count])
        return Draws(self.trees[:count], log_q, self.drawn)


def every_tree(words: tuple[str, ...]) -> list[DependencyTree]:
    return [DependencyTree(words, heads) for heads in every_projective_tree(len(words))]


@pytest.mark.parametrize("family", WITH_TREES)
def test_all_trees_come_in_the_order_of_their_scores(family: str) -> None:
    model, trees = tiny(family), every_tree(FOUR)
    known = scores(model, FOUR)
    found = model.rerank(FOUR, trees)
    assert {as_dependency(ranked.tree).heads for ranked in found.trees} == set(known) and found.draws == len(
        trees
    ) == 30
    for ranked in found.trees:
        assert ranked.log_probability == pytest.approx(known[as_dependency(ranked.tree).heads], rel=1e-11)
        assert ranked.log_q is None and trees[ranked.proposal_rank - 1] is ranked.tree
    assert as_dependency(found.best().tree).heads == max(known, key=lambda heads: known[heads])
    assert all(one.log_probability >= other.log_probability for one, other in pairwise(found.trees))
    assert found.lower_bound == pytest.approx(log_sum(list(known.values())))
    assert sum(map(found.share, found.trees)) == pytest.approx(1.0)
    assert found.share(found.best()) == pytest.approx(math.exp(max(known.values()) - log_sum(list(known.values()))))


def test_a_weight_mixes_both_scores() -> None:
    model, trees = tiny("dtg"), every_tree(FOUR)
    known = scores(model, FOUR)
    log_q = [math.log(rank / 465) for rank in range(1, 31)]  # 1 + ... + 30
    found = model.rerank(FOUR, Listed(trees, log_q))
    assert [ranked.tree for ranked in sorted(found.trees, key=lambda ranked: ranked.proposal_rank)] == trees[::-1]
    chosen = set()
    for weight in (-3.0, 0.0, 0.5, 2.0, 1e6):
        mixed = {tree.heads: known[tree.heads] + weight * q for tree, q in zip(trees, log_q, strict=True)}
        assert as_dependency(found.best(weight).tree).heads == max(mixed, key=lambda heads: mixed[heads])
        chosen.add(as_dependency(found.best(weight).tree).heads)
    assert len(chosen) > 1 and found.best(1e6).tree is trees[-1]
    for weight in (math.nan, math.inf):
        with pytest.raises(InputError, match="a finite number, not"):
            found.best(weight)
    with pytest.raises(InputError, match="log q of these trees is not known"):
        model.rerank(FOUR, trees).best(0.5)


def test_repeats_count_once_and_the_proposal_s_labels_stay() -> None:
    model = tiny("dtg")
    trees = [
        DependencyTree(SENTENCE[:2], heads, labels)
        for heads, labels in [((2, 0), ("x", "root")), ((0, 1), ("root", "y")), ((2, 0), ("z", "root"))]
    ]
    found = model.rerank(SENTENCE[:2], Listed(trees, [-1.0, -0.5, -1.0], "independently"))
    assert found.draws == 3 and len(found.trees) == 2
    by_rank = sorted(found.trees, key=lambda ranked: ranked.proposal_rank)
    assert [(ranked.log_q, as_dependency(ranked.tree).labels) for ranked in by_rank] == [
        (-0.5, ("root", "y")),
        (-1.0, ("x", "root")),
    ]
    assert found.lower_bound == pytest.approx(log_sum(list(scores(model, SENTENCE[:2]).values())))


def test_draws_follow_from_the_words_and_the_seed() -> None:
    model, parser = tiny("dtg"), small_parser()
    longer = (*SENTENCE, "that", "saw", "mice")

    def drawn(words: tuple[str, ...], seed: int) -> list[tuple[int, ...]]:
        return [as_dependency(ranked.tree).heads for ranked in model.rerank(words, parser, trees=20, seed=seed).trees]

    first = drawn(longer, 0)
    model.rerank(SENTENCE, parser, trees=5)
    assert drawn(longer, 0) == first and len(set(first)) == 20
    assert drawn(longer, 1) != first
    assert len(model.rerank(SENTENCE[:2], parser).trees) == 2  # there are no more
    assert sentence_generator(("a", "b"), 1).initial_seed() != sentence_generator(("a b",), 1).initial_seed()


def test_trees_out_of_reach_come_last() -> None:
    words = ("the", "dog", "saw", "a", "cat")
    near, far = DependencyTree(words, (0, 1, 2, 3, 4)), DependencyTree(words, (0, 1, 2, 3, 1))
    model = tiny("dtg-swift", distance_limit=2)
    found = model.rerank(words, [far, near])
    assert [ranked.log_probability > -math.inf for ranked in found.trees] == [True, False]
    assert found.best().tree is near and found.share(found.trees[1]) == 0
    alone = model.rerank(words, [far])
    assert alone.best().tree is far and alone.share(alone.best()) == 0 and alone.lower_bound == -math.inf


def test_mistakes() -> None:
    with pytest.raises(InputError, match="txl-tokens is a model of words without trees"):
        tiny("txl-tokens").rerank(SENTENCE, every_tree(SENTENCE))
    with pytest.raises(InputError, match="trees is 0; a whole number of at least 1 is expected"):
        tiny("dtg").rerank(SENTENCE, small_parser(), trees=0)
    with pytest.raises(InputError, match="one of 'the dog chased mice quickly'"):
        tiny("dtg").rerank(SENTENCE, every_tree(SENTENCE[:2]))
