"""Lanes against single states: the same legality at every step of random walks, in every system, known text or not."""

from __future__ import annotations

import random

import pytest
import torch

from dtg import transitions
from dtg.transitions import GEN, Action, Operation, State, TransitionSystem
from dtg.transitions.action import NOTHING, Argument
from dtg.transitions.lanes import LaneActions, LaneStates, legal
from tests.dependency import DEPENDENCY_SYSTEMS


def as_lane_actions(system: TransitionSystem, actions: list[Action | None]) -> LaneActions:
    """Each GEN starts a word; None is a lane where nothing happens."""
    return LaneActions.of(
        system.table,
        torch.tensor([NOTHING if action is None else system.table.id_of(action) for action in actions]),
        torch.zeros(len(actions), dtype=torch.long),
        torch.ones(len(actions), dtype=torch.bool),
    )


def legal_in_lanes(system: TransitionSystem, lanes: LaneStates) -> list[set[tuple[Operation, Argument]]]:
    """What `legal` says, lane by lane, as the pure system would put it."""
    verdicts = legal(system, lanes)
    assert verdicts.shape == (lanes.items.shape[0], len(system.table))
    found: list[set[tuple[Operation, Argument]]] = [set() for _ in verdicts]
    for lane, number in verdicts.nonzero().tolist():
        found[lane].add(system.table.entries[number])
    return found


@pytest.mark.parametrize("name", DEPENDENCY_SYSTEMS)
@pytest.mark.parametrize("derivations", ["canonical", "all"])
@pytest.mark.parametrize("known", [True, False])
def test_legality_along_random_walks(name: str, derivations: transitions.Derivations, known: bool) -> None:
    system = transitions.get(name, derivations=derivations)
    chance = random.Random(5)
    texts = [tuple(f"w{i}" for i in range(chance.randint(1, 15))) for _ in range(100)]
    states: list[State] = [system.initial(text if known else None) for text in texts]
    words_left = torch.tensor([len(text) if known else -1 for text in texts])
    lanes = system.lane_states.begin(words_left, width=24)
    for _ in range(60):
        expected = [{(a.operation, a.argument) for a in system.legal(state)} for state in states]
        assert legal_in_lanes(system, lanes) == expected
        chosen: list[Action | None] = []
        for lane, state in enumerate(states):
            options = system.legal(state)
            if len(state.words) >= 18:  # unknown text would go on for ever
                options = tuple(option for option in options if option.operation != Operation.GEN)
            # GEN is one of several: a fair choice would close every sentence after a word or two.
            generates = [option for option in options if option.operation == Operation.GEN]
            pick = chance.choice(generates if generates and chance.random() < 0.4 else options) if options else None
            if pick == GEN():
                pick = GEN("w")
            if chance.random() < 0.1:
                pick = None
            chosen.append(pick)
            if pick is not None:
                states[lane] = system.apply(state, pick)
        lanes.apply(actions := as_lane_actions(system, chosen), lanes.change(actions))
    assert any(state.last == Operation.END for state in states)


def test_forked_lanes_do_not_touch_each_other() -> None:
    system = transitions.get("arc-standard")
    lanes = system.lane_states.begin(torch.tensor([3, 3]), width=8)
    lanes.apply(actions := as_lane_actions(system, [GEN("a"), GEN("a")]), lanes.change(actions))
    forked = lanes.fork(torch.tensor([1, 1, 0]))
    forked.apply(actions := as_lane_actions(system, [GEN("b"), None, GEN("b")]), forked.change(actions))
    assert lanes.items.flatten().tolist() == [2, 2]
    assert forked.items.flatten().tolist() == [3, 2, 3]
    assert forked.words_left.flatten().tolist() == [1, 2, 1]
