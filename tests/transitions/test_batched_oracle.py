"""The oracle for whole batches against the pure one, tree by tree."""

from __future__ import annotations

import pytest
import torch

from dtg import DependencyTree, transitions
from dtg.errors import InputError, TooFarError
from dtg.transitions.arcs.arc_swift import ArcSwift
from dtg.transitions.batch import ActionBatch, SentenceBatch, expand_actions
from dtg.transitions.system import TransitionSystem
from dtg.transitions.table import GENERATE
from tests.dependency import DEPENDENCY_SYSTEMS
from tests.twins import every_projective_tree, random_sentences


def same(one: ActionBatch, other: ActionBatch) -> bool:
    names = ("id", "piece", "starts_word", "offsets")
    return all(torch.equal(getattr(one, name), getattr(other, name)) for name in names)


def get(name: str) -> TransitionSystem:
    return ArcSwift(distance_limit=70) if name == "arc-swift" else transitions.get(name)


@pytest.mark.parametrize("name", DEPENDENCY_SYSTEMS)
def test_every_small_tree(name: str) -> None:
    trees = [DependencyTree(tuple("w" * n), heads) for n in range(1, 7) for heads in every_projective_tree(n)]
    pieces = [[[10 * i + j for j in range(1 + (i + n) % 3)] for i in range(len(tree))] for n, tree in enumerate(trees)]
    batch, system = SentenceBatch.of(trees, pieces), get(name)
    assert same(system.derive(batch), expand_actions(system.table, batch, [system.oracle(tree) for tree in trees]))


@pytest.mark.parametrize("name", DEPENDENCY_SYSTEMS)
def test_random_trees(name: str) -> None:
    trees = [tree for tree, _ in random_sentences(1500, seed=3)]
    pieces = [[list(range(1 + (i * 7) % 4)) for i in range(len(tree))] for tree in trees]
    batch, system = SentenceBatch.of(trees, pieces), get(name)
    derived = system.derive(batch)
    assert same(derived, expand_actions(system.table, batch, [system.oracle(tree) for tree in trees]))
    assert derived.piece[derived.id == GENERATE].tolist() == batch.pieces.tolist()


def test_a_system_without_its_own_batched_oracle_falls_back_on_the_pure_one() -> None:
    trees = [tree for tree, _ in random_sentences(20, seed=4)]
    batch = SentenceBatch.of(trees, [[[1]] * len(tree) for tree in trees])
    system = transitions.get("arc-standard")
    assert same(TransitionSystem.derive(system, batch), system.derive(batch))


def test_a_batch_gives_its_trees_back() -> None:
    trees = [tree for tree, _ in random_sentences(20, seed=4)]
    batch = SentenceBatch.of(trees, [[[1, 2]] * len(tree) for tree in trees])
    assert [tree.heads for tree in batch.trees()] == [tree.heads for tree in trees]


def test_arc_swift_beyond_its_limit_names_the_sentence() -> None:
    far = DependencyTree(tuple(f"w{i}" for i in range(30)), (0, *range(1, 29), 1))
    batch = SentenceBatch.of([far], [[[1]] * 30])
    with pytest.raises(TooFarError, match="needs an arc over 29 stack items; the limit is 20"):
        ArcSwift().derive(batch)


def test_words_and_pieces_must_match() -> None:
    tree = DependencyTree(("a", "b"), (0, 1))
    with pytest.raises(InputError, match="has 2 words, but pieces are given for 1"):
        SentenceBatch.of([tree], [[[1]]])
    with pytest.raises(InputError, match="word 2, 'b', has no pieces"):
        SentenceBatch.of([tree], [[[1], []]])
