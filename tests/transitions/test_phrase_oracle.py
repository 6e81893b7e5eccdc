"""The oracles of top-down and shift-attach for whole batches, against plain lists and against the pure ones."""

from __future__ import annotations

import pytest

from dtg.errors import TooFarError
from dtg.families.reading import numbered
from dtg.transitions import TransitionSystem
from dtg.transitions.batch import SentenceBatch, expand_actions
from dtg.transitions.shift_attach import ShiftAttach
from dtg.transitions.top_down import TopDown
from dtg.trees import BinaryTree
from dtg.trees.enumeration import enumerate_binary
from tests.phrase_twins import FIVE_TREES, LABELS, moves_of, named, of_family, random_trees, split_of
from tests.transitions.test_batched_oracle import same

# Labels are numbered in another order than batches have them.
SYSTEMS: dict[str, TransitionSystem] = {
    "tg": TopDown(labels=LABELS[::-1], max_open=90, max_chain=60),
    "plm": TopDown(labels=("X", *LABELS), typed_closing=False, max_open=90, max_chain=60),
    "pushdown": ShiftAttach(),
}


@pytest.mark.parametrize("family", SYSTEMS)
def test_random_trees_and_the_five(family: str) -> None:
    system = SYSTEMS[family]
    some = [*random_trees(family, 400, seed=2)]
    some += [(of_family(family, tree), split_of(tree)) for tree in FIVE_TREES]
    trees, splits = map(list, zip(*some, strict=True))
    batch = SentenceBatch.of(trees, [numbered(split) for split in splits])
    derived = system.derive(batch)
    bounds = derived.offsets.tolist()
    for number, (tree, split) in enumerate(some):
        names = ["", *(piece for word in split for piece in word)]
        places = range(bounds[number], bounds[number + 1])
        found = [
            str(system.table.actions[int(derived.id[place])])
            if int(derived.piece[place]) < 0
            else f"GEN({names[int(derived.piece[place])]})"
            for place in places
        ]
        assert found == [named(move, family == "tg") for move in moves_of(tree, split)]
        begins = [pieces[0] for pieces in split]
        assert [names[int(derived.piece[place])] for place in places if bool(derived.starts_word[place])] == begins
    if family != "pushdown":  # whose subwords are attached one by one
        assert same(derived, expand_actions(system.table, batch, [system.oracle(tree) for tree in trees]))


def test_words_of_one_subword_are_derived_as_the_pure_oracle_says() -> None:
    system = ShiftAttach()
    trees = [BinaryTree(tuple("w" * words), spans) for words in range(1, 8) for spans in enumerate_binary(words)]
    batch = SentenceBatch.of(trees, [[[1]] * len(tree) for tree in trees])
    assert same(system.derive(batch), expand_actions(system.table, batch, [system.oracle(tree) for tree in trees]))


@pytest.mark.parametrize("family", ["tg", "pushdown"])
def test_a_batch_gives_its_trees_back(family: str) -> None:
    trees, splits = map(list, zip(*random_trees(family, 30, seed=4), strict=True))
    batch = SentenceBatch.of(trees, [numbered(split) for split in splits])
    assert [tree.key for tree in batch.trees()] == [tree.key for tree in trees]


@pytest.mark.parametrize("limit", [2, 3, 5])
def test_a_tree_is_within_reach_if_its_subwords_are(limit: int) -> None:
    system, reached = ShiftAttach(attach_limit=limit), 0
    trees = list(random_trees("pushdown", 60, seed=7))
    for tree, split in trees:
        within = system.reaches(tree, [len(pieces) for pieces in split])
        reached += within
        try:
            system.derive(SentenceBatch.of([tree], [numbered(split)]))
        except TooFarError:
            assert not within
        else:
            assert within
    assert 0 < reached < len(trees)
