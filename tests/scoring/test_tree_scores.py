"""Tree scores by trie against scores one at a time, and how much of it is shared."""

from __future__ import annotations

import random

import pytest
import torch

from dtg import DependencyTree
from dtg.families.trie import in_order, pack_trie
from dtg.model import DecoderModel
from dtg.scoring import tree_scores
from dtg.scoring.tree_scores import ACTIONS_AT_ONCE, chunks, needed_last, score_derivations
from tests.dependency import DEPENDENCY_FAMILIES
from tests.model.test_model import sentences, tiny
from tests.model.test_released import IDS, released_weights
from tests.twins import every_projective_tree, random_projective_heads

Sentence = tuple[DependencyTree, list[list[int]]]


def trees_of_one_sentence(count: int, words: int, seed: int) -> list[Sentence]:
    chance = random.Random(seed)
    pieces = [[chance.randrange(8), *([9] * chance.choice([0, 0, 1, 2]))] for _ in range(words)]
    names = tuple(f"w{i}" for i in range(words))
    return [
        (DependencyTree(names, random_projective_heads(words, chance, chain=chance.random())), pieces)
        for _ in range(count)
    ]


def scores(model: DecoderModel, some: list[Sentence], constrained: bool) -> list[float]:
    batch = model.encode([tree for tree, _ in some], [pieces for _, pieces in some])
    return score_derivations(model, batch, constrained)


@pytest.mark.parametrize("family", DEPENDENCY_FAMILIES)
@pytest.mark.parametrize("head", ["factored", "joint"])
def test_equal_to_one_at_a_time(family: str, head: str) -> None:
    model = tiny(family, head=head, distance_limit=60)
    one = trees_of_one_sentence(60, 7, seed=1)
    some = [*one, *sentences(20, seed=2), one[3], one[3], *trees_of_one_sentence(1, 40, seed=3)]
    for constrained in (True, False):
        alone = [model.score_ids(pieces, tree.heads, constrained) for tree, pieces in some]
        assert scores(model, some, constrained) == pytest.approx(alone, rel=1e-11)


def test_released_models_too() -> None:
    model = DecoderModel.from_released(released_weights(), IDS).double()
    some = [*trees_of_one_sentence(20, 6, seed=4), *sentences(5, seed=5)]
    alone = [model.score_ids(pieces, tree.heads) for tree, pieces in some]
    assert scores(model, some, constrained=False) == pytest.approx(alone, rel=1e-11)


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny("dtg")
    some = [*trees_of_one_sentence(40, 8, seed=6), *sentences(20, seed=7)]
    whole = scores(model, some, constrained=True)
    monkeypatch.setattr(tree_scores, "ACTIONS_AT_ONCE", 50)
    monkeypatch.setattr(tree_scores, "PREDICTIONS_AT_ONCE", 7)
    assert scores(model, some, constrained=True) == pytest.approx(whole, rel=1e-11)


def test_every_beginning_has_its_rows_once() -> None:
    """All 143 trees of five words: as many rows as there are different beginnings of derivations, and <ROOT>."""
    model = tiny("dtg")
    pieces = [[1], [2, 9], [3], [4], [5]]
    names = tuple("abcde")
    trees = [DependencyTree(names, heads) for heads in every_projective_tree(5)]
    actions = model.family.system.derive(model.encode(trees, [pieces] * len(trees)))
    order, shared = in_order(actions)
    trie = pack_trie(model.family, actions, order, shared, model.root)
    beginnings = set()
    for tree in trees:
        derivation = [str(action) for action in model.family.system.oracle(tree)]
        beginnings |= {tuple(derivation[:end]) for end in range(1, len(derivation))}  # <END> adds no row
    two_rows = sum(1 if last[-1].startswith("GEN") else 2 for last in beginnings)
    second_pieces = sum(last[-1] == "GEN(b)" for last in beginnings)
    assert len(trie.packed) == 1 + two_rows + second_pieces
    assert len(trie.row) == len(beginnings) + second_pieces + len(trees)  # and an <END> for each tree


def test_sentences_share_what_they_begin_with() -> None:
    model = tiny("dtg")
    names, heads = ("a", "b", "c", "d"), (2, 0, 4, 2)
    some = [(DependencyTree(names, heads), [[1], [2], [3], [last]]) for last in (4, 5)]
    actions = model.family.system.derive(model.encode([tree for tree, _ in some], [pieces for _, pieces in some]))
    trie = pack_trie(model.family, actions, *in_order(actions), model.root)
    # GEN GEN LEFTARC GEN once: 1 + 1 + 1 + 2 + 1 rows; then GEN LEFTARC RIGHTARC RIGHTARC twice: 7 rows each.
    assert len(trie.packed) == 6 + 2 * 7


def test_chunks_hold_everything_once() -> None:
    generator = torch.Generator().manual_seed(0)
    lengths: list[int] = torch.randint(3, 200, (400,), generator=generator).tolist()
    shared = [0, *(min(lengths[i - 1], lengths[i]) // 2 for i in range(1, 400))]
    some = list(chunks(lengths, range(400), shared, ACTIONS_AT_ONCE))
    assert [place for chunk in some for place in chunk] == list(range(400))
    assert len(some) > 2


def test_rows_whose_output_nobody_needs_have_none() -> None:
    """In the last layer, COMPOSE rows are only attended to."""
    model = tiny("dtg")
    some = trees_of_one_sentence(9, 5, seed=8)
    actions = model.family.system.derive(model.encode([tree for tree, _ in some], [pieces for _, pieces in some]))
    order, shared = in_order(actions)
    trie = pack_trie(model.family, actions, order, shared, model.root)
    order_of_rows, needed = needed_last(model, trie)
    assert sorted(order_of_rows.tolist()) == list(range(len(trie.packed)))
    assert set(order_of_rows[-needed:].tolist()) == set(trie.row.tolist())
    composed = int((trie.packed.target < 0).sum())
    assert needed == len(trie.packed) - composed < len(trie.packed)


@pytest.mark.parametrize("family", [*DEPENDENCY_FAMILIES, "dtg-hybrid"])
def test_weights_in_order_change_nothing(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny(family)
    some = [*trees_of_one_sentence(40, 8, seed=6), *sentences(20, seed=7)]
    found = []
    for least in (0, 10**9):  # always, never
        monkeypatch.setattr(tree_scores, "ACTIONS_TO_FREEZE", least)
        found.append(scores(model, some, constrained=True))
    assert found[0] == pytest.approx(found[1], rel=1e-11)
