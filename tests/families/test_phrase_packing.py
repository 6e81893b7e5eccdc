"""Folding whole sentences of phrase-structure families: equal to stepping one action at a time, in any order."""

from __future__ import annotations

import random

import pytest
import torch

from dtg import families
from dtg.families import LaneRows, PackedRows, pack
from dtg.families.lanes import Lanes
from dtg.families.reading import numbered
from dtg.transitions.action import NOTHING
from dtg.transitions.batch import SentenceBatch
from dtg.transitions.lanes import LaneActions
from dtg.transitions.table import GENERATE
from tests.phrase_twins import LABELS, PHRASE_FAMILIES, random_trees

COUNT = 25


def made(name: str) -> families.Family:
    return families.get(name, labels=LABELS, max_open=90, max_chain=60)


def sample(name: str, count: int, seed: int) -> SentenceBatch:
    trees, splits = zip(*random_trees(name, count, seed=seed, longest=25), strict=True)
    return SentenceBatch.of(trees, [numbered(split) for split in splits])


def rows_of_lane(rows: LaneRows, lane: int) -> tuple[object, ...]:
    views = []
    for view in rows.views:
        keys = int(view.keys[lane])
        columns = [view.attends, view.relative, view.channel, view.constituent]
        views.append(sorted(zip(*(c[lane, :keys].tolist() for c in columns if c is not None), strict=True)))
    return int(rows.id[lane]), rows.kind.code, views, rows.predicts


def packed_rows(packed: PackedRows, sentence: int) -> list[tuple[object, ...]]:
    """In the same form."""
    first, end = packed.offsets[sentence : sentence + 2].tolist()
    found: list[tuple[object, ...]] = []
    for row in range(first, end):
        views = []
        for view in packed.views:
            keys = int(view.keys[row])
            columns = [view.attends - first, view.relative, view.channel, view.constituent]
            views.append(sorted(zip(*(c[row, :keys].tolist() for c in columns if c is not None), strict=True)))
        found.append((row - first, int(packed.kind[row]), views, int(packed.target[row]) >= 0))
    return found


@pytest.mark.parametrize("name", PHRASE_FAMILIES)
def test_stepping_lanes_in_any_order_gives_the_same_rows(name: str) -> None:
    """Each lane waits at random, so that lanes are at different places; and all are forked into another order on the way."""
    family, chance = made(name), random.Random(11)
    batch = sample(name, COUNT, seed=8)
    actions = family.system.derive(batch)
    packed = pack(family, actions, root=0)
    lengths = actions.offsets.diff().tolist()
    lanes, first = family.begin(batch.word_offsets.diff(), root=0)
    sentence = list(range(COUNT))  # which sentence each lane is in
    at = [0] * COUNT
    found = {s: [rows_of_lane(first, s)] for s in sentence}
    while any(at[s] < lengths[s] for s in sentence):
        order = list(range(COUNT))
        chance.shuffle(order)
        lanes = lanes.fork(torch.tensor(order))
        sentence = [sentence[lane] for lane in order]
        moves = [at[s] < lengths[s] and chance.random() < 0.8 for s in sentence]
        places = torch.tensor([int(actions.offsets[s]) + min(at[s], lengths[s] - 1) for s in sentence])
        ids = torch.where(torch.tensor(moves), actions.id[places], NOTHING)
        step = LaneActions.of(family.system.table, ids, actions.piece[places], actions.starts_word[places])
        for rows in family.advance(lanes, step):
            for lane in rows.present[:, 0].nonzero().flatten().tolist():
                found[sentence[lane]].append(rows_of_lane(rows, lane))
        for lane, moved in enumerate(moves):
            at[sentence[lane]] += moved
    for s in range(COUNT):
        assert found[s] == packed_rows(packed, s)


@pytest.mark.parametrize("name", PHRASE_FAMILIES)
def test_every_oracle_action_is_legal_in_its_lane(name: str) -> None:
    """The text being known where a lane knows of words, and not known where it has to know of subwords."""
    family, batch = made(name), sample(name, 40, seed=9)
    actions = family.system.derive(batch)
    lengths = actions.offsets.diff()
    known = batch.word_offsets.diff() if name != "pushdown" else torch.full((40,), -1)
    lanes, _ = family.begin(known, root=0)
    for step in range(int(lengths.max())):
        running = step < lengths
        places = torch.where(running, actions.offsets[:-1] + step, 0)
        ids = torch.where(running, actions.id[places], NOTHING)
        within_word = (ids == GENERATE) & ~actions.starts_word[places]
        allowed = family.legal(lanes).gather(1, ids.clamp(min=0)[:, None])[:, 0]
        assert bool((allowed | ~running | within_word).all())
        family.advance(
            lanes, LaneActions.of(family.system.table, ids, actions.piece[places], actions.starts_word[places])
        )
    assert not bool(family.legal(lanes).any())


@pytest.mark.parametrize("name", PHRASE_FAMILIES)
def test_forking_keeps_hypotheses_apart(name: str) -> None:
    """Two lanes forked from one: what one does leaves no trace in the other."""
    family = made(name)
    (tree, split), (other_tree, other_split) = list(random_trees(name, 40, seed=3, longest=30))[:2]
    batch = SentenceBatch.of([tree, other_tree], [numbered(split), numbered(other_split)])
    actions = family.system.derive(batch)
    packed = pack(family, actions, root=0)

    def run(lanes: Lanes, sentence: int, begin: int, end: int | None = None) -> list[tuple[object, ...]]:
        found = []
        places = range(*actions.offsets[sentence : sentence + 2].tolist())[begin:end]
        for place in places:
            at = torch.tensor([place])
            step = LaneActions.of(family.system.table, actions.id[at], actions.piece[at], actions.starts_word[at])
            found += [rows_of_lane(rows, 0) for rows in family.advance(lanes, step) if bool(rows.present[0])]
        return found

    lanes, _ = family.begin(torch.tensor([-1]), root=0)
    found = run(lanes, 0, 0, 3)
    kept, fresh = lanes.fork(torch.tensor([0])), family.begin(torch.tensor([-1]), root=0)[0]
    rest = run(lanes, 0, 3)  # long enough to make tables grow
    assert run(kept, 0, 3) == rest
    assert [*found, *rest] == packed_rows(packed, 0)[1:]
    assert run(fresh, 1, 0) == packed_rows(packed, 1)[1:]


@pytest.mark.parametrize("name", PHRASE_FAMILIES)
def test_a_batch_of_one_and_a_batch_of_many(name: str) -> None:
    family = made(name)
    some = list(random_trees(name, 20, seed=12))
    batch = SentenceBatch.of([tree for tree, _ in some], [numbered(split) for _, split in some])
    together = pack(family, family.system.derive(batch), root=7)
    for number, (tree, split) in enumerate(some):
        alone = pack(family, family.system.derive(SentenceBatch.of([tree], [numbered(split)])), root=7)
        assert packed_rows(together, number) == packed_rows(alone, 0)
        first, end = together.offsets[number : number + 2].tolist()
        for column in ("kind", "piece", "action", "second"):
            assert torch.equal(getattr(together, column)[first:end], getattr(alone, column)), column
        predicts = alone.target >= 0
        assert torch.equal(together.features[first:end][predicts], alone.features[predicts])


def test_devices_are_respected() -> None:
    """Nothing may be created on a device of its own choosing: with another default, everything stays where the input is."""
    for name in PHRASE_FAMILIES:
        family, batch = made(name), sample(name, 5, seed=1)
        with torch.device("meta"):  # a tensor made without saying where would land there and fail to mix
            packed = pack(family, family.system.derive(batch), root=0)
        assert packed.views[0].attends.device.type == "cpu"
