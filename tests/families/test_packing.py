"""Folding whole sentences: equal to stepping one action at a time, in any order, and to its own dense form."""

from __future__ import annotations

import random

import pytest
import torch

from dtg import DependencyTree, families
from dtg.families import KindCode, LaneRows, PackedRows, pack
from dtg.families.lanes import Lanes
from dtg.families.reading import numbered
from dtg.transitions import Operation
from dtg.transitions.arc_swift import ArcSwift
from dtg.transitions.batch import ActionBatch, SentenceBatch
from dtg.transitions.lanes import IDLE, LaneActions
from tests.twins import random_sentences


def made(name: str) -> families.Family:
    family = families.get(name)
    if name == "dtg-swift":
        family.system = ArcSwift(limit=70)
    return family


def sample(count: int, seed: int) -> SentenceBatch:
    trees, pieces = zip(*random_sentences(count, seed=seed), strict=True)
    return SentenceBatch.of(trees, [numbered(split) for split in pieces])


def rows_of_lane(rows: LaneRows, lane: int, operation: int, distance: int) -> tuple[object, ...]:
    keys = int(rows.keys[lane])
    kind = KindCode.POPSTACK if operation == Operation.POP and rows.kind == KindCode.STACK else rows.kind
    pairs = sorted(zip(rows.attends[lane, :keys].tolist(), rows.relative[lane, :keys].tolist(), strict=True))
    return int(rows.id[lane]), int(kind), operation, distance, int(rows.piece[lane]), pairs, rows.predicts


def packed_rows(
    family: families.Family, packed: PackedRows, actions: ActionBatch, sentence: int
) -> list[tuple[object, ...]]:
    """In the same form; what was read is not told by the pack (it is represented), so pieces are compared elsewhere."""
    first, end = packed.offsets[sentence : sentence + 2].tolist()
    found: list[tuple[object, ...]] = []
    for row in range(first, end):
        keys = int(packed.keys[row])
        attends = (packed.attends[row, :keys] - first).tolist()
        pairs = sorted(zip(attends, packed.relative[row, :keys].tolist(), strict=True))
        found.append((row - first, int(packed.kind[row]), pairs, int(packed.target[row]) >= 0))
    return found


@pytest.mark.parametrize("name", families.FAMILIES)
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
    found = {s: [rows_of_lane(first, s, IDLE, 1)] for s in sentence}
    while any(at[s] < lengths[s] for s in sentence):
        order = list(range(40))
        chance.shuffle(order)
        lanes = lanes.fork(torch.tensor(order))
        sentence = [sentence[lane] for lane in order]
        moves = [at[s] < lengths[s] and chance.random() < 0.8 for s in sentence]
        places = torch.tensor([int(actions.offsets[s]) + min(at[s], lengths[s] - 1) for s in sentence])
        operation = torch.where(torch.tensor(moves), actions.operation[places], IDLE)
        step = LaneActions.of(operation, actions.piece[places], actions.starts_word[places], actions.distance[places])
        for rows in family.advance(lanes, step):
            for lane in rows.present[:, 0].nonzero().flatten().tolist():
                row = rows_of_lane(rows, lane, int(operation[lane]), int(actions.distance[places[lane]]))
                found[sentence[lane]].append(row)
        for lane, moved in enumerate(moves):
            at[sentence[lane]] += moved
    for s in range(40):
        stepped = [(index, kind, pairs, predicts) for index, kind, _, _, _, pairs, predicts in found[s]]
        assert stepped == packed_rows(family, packed, actions, s)


@pytest.mark.parametrize("name", families.FAMILIES)
def test_every_oracle_action_is_legal_in_its_lane(name: str) -> None:
    family, batch = made(name), sample(60, seed=9)
    actions = family.system.derive(batch)
    lengths = actions.offsets.diff()
    lanes, _ = family.begin(batch.word_offsets.diff(), root=0)
    for step in range(int(lengths.max())):
        running = step < lengths
        places = torch.where(running, actions.offsets[:-1] + step, 0)
        operation = torch.where(running, actions.operation[places], IDLE)
        verdicts = family.legal(lanes)
        # Going on with a word is not a transition: the last piece of a text comes when no word is left.
        within_word = (operation == Operation.GEN) & ~actions.starts_word[places]
        for code, table in verdicts.items():
            column = actions.distance[places] - 1 if table.shape[1] > 1 else torch.zeros_like(places)
            allowed = table.gather(1, column[:, None])[:, 0]
            assert bool((allowed | (operation != code) | within_word).all())
        taken = LaneActions.of(operation, actions.piece[places], actions.starts_word[places], actions.distance[places])
        family.advance(lanes, taken)
    assert not any(bool(table.any()) for table in family.legal(lanes).values())


@pytest.mark.parametrize("name", families.FAMILIES)
def test_forking_keeps_hypotheses_apart(name: str) -> None:
    """Two lanes forked from one: what one does leaves no trace in the other."""
    family = made(name)

    def generate(lanes: Lanes, piece: int) -> list[int]:
        column = torch.full((len(lanes),), piece)
        step = LaneActions.of(column * 0, column, torch.ones(len(lanes), dtype=torch.bool), column * 0 + 1)
        *_, rows = family.advance(lanes, step)
        return rows.attends[0, : int(rows.keys[0])].tolist()

    lanes, _ = family.begin(torch.tensor([-1]), root=0)
    generate(lanes, 1)
    other = lanes.fork(torch.tensor([0]))
    for piece in range(2, 40):  # long enough to make tables grow
        generate(lanes, piece)
    assert generate(other, 2) == [0, 1, 2]


@pytest.mark.parametrize("name", families.FAMILIES)
def test_rows_can_be_named_by_the_caller(name: str) -> None:
    """A search names rows by their place in its arena."""
    family = made(name)
    lanes, first = family.begin(torch.tensor([-1, -1]), root=0, ids=torch.tensor([100, 200]))
    assert first.id.flatten().tolist() == [100, 200]
    step = LaneActions.of(torch.zeros(2).long(), torch.ones(2).long(), torch.ones(2).bool(), torch.ones(2).long())
    *_, rows = family.advance(lanes, step, ids=torch.tensor([[-1, 300], [-1, 400]]))
    assert rows.id.flatten().tolist() == [300, 400]
    assert rows.attends[:, :2].tolist() == [[100, 300], [200, 400]]


@pytest.mark.parametrize("name", families.FAMILIES)
def test_sparse_and_dense_say_the_same(name: str) -> None:
    family, batch = made(name), sample(30, seed=10)
    packed = pack(family, family.system.derive(batch), root=0)
    dense = packed.dense()
    lengths = packed.offsets.diff().tolist()
    assert dense.mask.shape == (30, max(lengths), max(lengths))
    assert int(dense.mask.sum()) == int(packed.keys.sum())
    for sentence, length in enumerate(lengths):
        first = int(packed.offsets[sentence])
        for row in range(length):
            keys = int(packed.keys[first + row])
            expected = dict(
                zip(
                    (packed.attends[first + row, :keys] - first).tolist(),
                    packed.relative[first + row, :keys].tolist(),
                    strict=True,
                )
            )
            attended = dense.mask[sentence, row].nonzero().flatten().tolist()
            assert {key: int(dense.relative[sentence, row, key]) for key in attended} == expected
    assert not bool(dense.mask.triu(1).any())  # nobody looks ahead
    assert bool((packed.attends >= 0).sum(1).eq(packed.keys).all())


@pytest.mark.parametrize("name", families.FAMILIES)
def test_a_batch_of_one_and_a_batch_of_many(name: str) -> None:
    family, batch = made(name), sample(25, seed=12)
    together = pack(family, family.system.derive(batch), root=7)
    trees, pieces = zip(*random_sentences(25, seed=12), strict=True)
    for number, (tree, split) in enumerate(zip(trees, pieces, strict=True)):
        alone = pack(family, family.system.derive(SentenceBatch.of([tree], [numbered(split)])), root=7)
        first, end = together.offsets[number : number + 2].tolist()
        for column in ("kind", "piece", "operation", "distance", "keys"):
            assert torch.equal(getattr(together, column)[first:end], getattr(alone, column))
        width = alone.attends.shape[1]
        shifted = together.attends[first:end, :width]
        assert torch.equal(torch.where(shifted >= 0, shifted - first, shifted), alone.attends)
        assert torch.equal(together.relative[first:end, :width], alone.relative)


def test_lists_of_attended_rows_are_as_wide_as_the_deepest_stack() -> None:
    """500 words under the first, by arc-swift: <ROOT>, the first word and two others are all that is ever on the stack."""
    star = DependencyTree(tuple("w" * 500), (0, *[1] * 499))
    swift = families.get("dtg-swift")
    packed = pack(swift, swift.system.derive(SentenceBatch.of([star], [[[1]] * 500])), root=0)
    assert packed.attends.shape == (1 + 500 * 3, 4)


def test_devices_are_respected() -> None:
    """Nothing may be created on a device of its own choosing: with another default, everything stays where the input is."""
    batch = sample(5, seed=1)
    for name in families.FAMILIES:
        family = made(name)
        with torch.device("meta"):  # a tensor made without saying where would land there and fail to mix
            packed = pack(family, family.system.derive(batch), root=0)
        assert packed.attends.device.type == "cpu"
