"""Folding whole sentences: equal to stepping one action at a time, in any order, and to its own dense form."""

from __future__ import annotations

import random

import pytest
import torch

from dtg import DependencyTree, families
from dtg.families import Dense, Kind, LaneRows, PackedRows, PackedView, pack
from dtg.families.lanes import Lanes
from dtg.families.reading import numbered
from dtg.transitions import Operation
from dtg.transitions.action import NOTHING
from dtg.transitions.batch import ActionBatch, SentenceBatch
from dtg.transitions.lanes import LaneActions
from dtg.transitions.table import GENERATE
from tests.dependency import DEPENDENCY_FAMILIES
from tests.twins import random_sentences


def made(name: str) -> families.Family:
    return families.get(name, distance_limit=70)


def sample(count: int, seed: int) -> SentenceBatch:
    trees, pieces = zip(*random_sentences(count, seed=seed), strict=True)
    return SentenceBatch.of(trees, [numbered(split) for split in pieces])


def rows_of_lane(rows: LaneRows, lane: int, operation: Operation | None) -> tuple[object, ...]:
    kind = Kind.POPSTACK if operation == Operation.POP and rows.kind == Kind.STACK else rows.kind
    seen = []
    for view in rows.views:
        keys = int(view.keys[lane])
        seen.append(sorted(zip(view.attends[lane, :keys].tolist(), view.relative[lane, :keys].tolist(), strict=True)))
    return int(rows.id[lane]), kind.code, seen, rows.predicts


def packed_rows(
    family: families.Family, packed: PackedRows, actions: ActionBatch, sentence: int
) -> list[tuple[object, ...]]:
    """In the same form; what was read is not told by the pack (it is represented), so pieces are compared elsewhere."""
    first, end = packed.offsets[sentence : sentence + 2].tolist()
    found: list[tuple[object, ...]] = []
    for row in range(first, end):
        seen = []
        for view in packed.views:
            keys = int(view.keys[row])
            attends = (view.attends[row, :keys] - first).tolist()
            seen.append(sorted(zip(attends, view.relative[row, :keys].tolist(), strict=True)))
        found.append((row - first, int(packed.kind[row]), seen, int(packed.target[row]) >= 0))
    return found


@pytest.mark.parametrize("name", DEPENDENCY_FAMILIES)
def test_stepping_lanes_in_any_order_gives_the_same_rows(name: str) -> None:
    """Each lane waits at random, so that lanes are at different places; and all are forked into another order on the way."""
    family, chance = made(name), random.Random(11)
    batch = sample(40, seed=8)
    actions = family.system.derive(batch)
    packed = pack(family, actions, root=0)
    lengths = actions.offsets.diff().tolist()
    lanes, first = family.begin(batch.word_offsets.diff(), root=0)
    sentence = list(range(40))  # which sentence each lane is in
    at = [0] * 40
    found = {s: [rows_of_lane(first, s, None)] for s in sentence}
    while any(at[s] < lengths[s] for s in sentence):
        order = list(range(40))
        chance.shuffle(order)
        lanes = lanes.fork(torch.tensor(order))
        sentence = [sentence[lane] for lane in order]
        moves = [at[s] < lengths[s] and chance.random() < 0.8 for s in sentence]
        places = torch.tensor([int(actions.offsets[s]) + min(at[s], lengths[s] - 1) for s in sentence])
        ids = torch.where(torch.tensor(moves), actions.id[places], NOTHING)
        step = LaneActions.of(family.system.table, ids, actions.piece[places], actions.starts_word[places])
        for rows in family.advance(lanes, step):
            for lane in rows.present[:, 0].nonzero().flatten().tolist():
                row = rows_of_lane(rows, lane, family.system.table.entries[int(ids[lane])][0])
                found[sentence[lane]].append(row)
        for lane, moved in enumerate(moves):
            at[sentence[lane]] += moved
    for s in range(40):
        assert found[s] == packed_rows(family, packed, actions, s)


@pytest.mark.parametrize("name", DEPENDENCY_FAMILIES)
def test_every_oracle_action_is_legal_in_its_lane(name: str) -> None:
    family, batch = made(name), sample(60, seed=9)
    actions = family.system.derive(batch)
    lengths = actions.offsets.diff()
    lanes, _ = family.begin(batch.word_offsets.diff(), root=0)
    for step in range(int(lengths.max())):
        running = step < lengths
        places = torch.where(running, actions.offsets[:-1] + step, 0)
        ids = torch.where(running, actions.id[places], NOTHING)
        # Continuing a word is not a transition: the last subword of a text comes when no word is left.
        within_word = (ids == GENERATE) & ~actions.starts_word[places]
        allowed = family.legal(lanes).gather(1, ids.clamp(min=0)[:, None])[:, 0]
        assert bool((allowed | ~running | within_word).all())
        family.advance(
            lanes, LaneActions.of(family.system.table, ids, actions.piece[places], actions.starts_word[places])
        )
    assert not bool(family.legal(lanes).any())


@pytest.mark.parametrize("name", DEPENDENCY_FAMILIES)
def test_forking_keeps_hypotheses_apart(name: str) -> None:
    """Two lanes forked from one: what one does leaves no trace in the other."""
    family = made(name)

    def generate(lanes: Lanes, piece: int) -> list[int]:
        column = torch.full((len(lanes),), piece)
        step = LaneActions.of(family.system.table, column * 0, column, torch.ones(len(lanes), dtype=torch.bool))
        *_, rows = family.advance(lanes, step)
        return rows.views[0].attends[0, : int(rows.views[0].keys[0])].tolist()

    lanes, _ = family.begin(torch.tensor([-1]), root=0)
    generate(lanes, 1)
    other = lanes.fork(torch.tensor([0]))
    for piece in range(2, 40):  # long enough to make tables grow
        generate(lanes, piece)
    assert generate(other, 2) == [0, 1, 2]


@pytest.mark.parametrize("name", DEPENDENCY_FAMILIES)
def test_rows_can_be_named_by_the_caller(name: str) -> None:
    """A search names rows by their index in its KV cache."""
    family = made(name)
    lanes, first = family.begin(torch.tensor([-1, -1]), root=0, ids=torch.tensor([100, 200]))
    assert first.id.flatten().tolist() == [100, 200]
    step = LaneActions.of(family.system.table, torch.zeros(2).long(), torch.ones(2).long(), torch.ones(2).bool())
    *_, rows = family.advance(lanes, step, ids=torch.tensor([[-1, 300], [-1, 400]]))
    assert rows.id.flatten().tolist() == [300, 400]
    assert rows.views[0].attends[:, :2].tolist() == [[100, 300], [200, 400]]


@pytest.mark.parametrize("name", DEPENDENCY_FAMILIES)
def test_sparse_and_dense_say_the_same(name: str) -> None:
    family, batch = made(name), sample(30, seed=10)
    packed = pack(family, family.system.derive(batch), root=0)
    for number, view in enumerate(packed.views):
        check_dense(packed, packed.dense(number), view)


def check_dense(packed: PackedRows, dense: Dense, view: PackedView) -> None:
    lengths = packed.offsets.diff().tolist()
    assert dense.mask.shape == (30, max(lengths), max(lengths))
    assert int(dense.mask.sum()) == int(view.keys.sum())
    for sentence, length in enumerate(lengths):
        first = int(packed.offsets[sentence])
        for row in range(length):
            keys = int(view.keys[first + row])
            expected = dict(
                zip(
                    (view.attends[first + row, :keys] - first).tolist(),
                    view.relative[first + row, :keys].tolist(),
                    strict=True,
                )
            )
            attended = dense.mask[sentence, row].nonzero().flatten().tolist()
            assert {key: int(dense.relative[sentence, row, key]) for key in attended} == expected
    assert not bool(dense.mask.triu(1).any())  # nobody looks ahead
    assert bool((view.attends >= 0).sum(1).eq(view.keys).all())


@pytest.mark.parametrize("name", DEPENDENCY_FAMILIES)
def test_a_batch_of_one_and_a_batch_of_many(name: str) -> None:
    family, batch = made(name), sample(25, seed=12)
    together = pack(family, family.system.derive(batch), root=7)
    trees, pieces = zip(*random_sentences(25, seed=12), strict=True)
    for number, (tree, split) in enumerate(zip(trees, pieces, strict=True)):
        alone = pack(family, family.system.derive(SentenceBatch.of([tree], [numbered(split)])), root=7)
        first, end = together.offsets[number : number + 2].tolist()
        for column in ("kind", "piece", "action", "second"):
            assert torch.equal(getattr(together, column)[first:end], getattr(alone, column))
        for many, one in zip(together.views, alone.views, strict=True):
            assert torch.equal(many.keys[first:end], one.keys)
            width = one.attends.shape[1]
            shifted = many.attends[first:end, :width]
            assert torch.equal(torch.where(shifted >= 0, shifted - first, shifted), one.attends)
            assert torch.equal(many.relative[first:end, :width], one.relative)


def test_lists_of_attended_rows_are_as_wide_as_the_deepest_stack() -> None:
    """500 words under the first, by arc-swift: <ROOT>, the first word and two others are all that is ever on the stack."""
    star = DependencyTree(tuple("w" * 500), (0, *[1] * 499))
    swift = families.get("dtg-swift")
    packed = pack(swift, swift.system.derive(SentenceBatch.of([star], [[[1]] * 500])), root=0)
    assert packed.views[0].attends.shape == (1 + 500 * 3, 4)


def test_devices_are_respected() -> None:
    """Nothing may be created on a device of its own choosing: with another default, everything stays where the input is."""
    batch = sample(5, seed=1)
    for name in DEPENDENCY_FAMILIES:
        family = made(name)
        with torch.device("meta"):  # a tensor made without saying where would land there and fail to mix
            packed = pack(family, family.system.derive(batch), root=0)
        assert packed.views[0].attends.device.type == "cpu"
