"""Lanes of top-down and shift-attach against single states and against plain lists, along random walks."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch

from dtg import transitions
from dtg.transitions import GEN, Action, Operation, State, TransitionSystem
from dtg.transitions.action import NT, REDUCE
from dtg.transitions.lanes import FeatureTable, LaneActions, legal
from dtg.transitions.shift_attach import ATTACH, AttachLanes, ShiftAttach
from dtg.transitions.table import FINISH, GENERATE
from dtg.transitions.top_down import PhraseLanes, PhraseState, TopDown
from tests.phrase_twins import tapes
from tests.transitions.test_lanes import as_lane_actions, legal_in_lanes

SYSTEMS: dict[str, TransitionSystem] = {
    "typed": TopDown(labels=("A", "B", "C"), max_open=6, max_chain=3),
    "untyped": TopDown(labels=("A", "B"), typed_closing=False, max_open=4, max_chain=2),
    "shift-attach": ShiftAttach(),
    "at the limit": ShiftAttach(attach_limit=3),
    "all": ShiftAttach(derivations="all"),
}


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("known", [True, False])
def test_legality_and_features_along_random_walks(name: str, known: bool) -> None:
    system, chance = SYSTEMS[name], random.Random(5)
    texts = [tuple(f"w{i}" for i in range(chance.randint(1, 12))) for _ in range(60)]
    states: list[State] = [system.initial(text if known else None) for text in texts]
    lanes = system.lane_states.begin(torch.tensor([len(text) if known else -1 for text in texts]), width=90)
    for _ in range(70):
        expected = [{(a.operation, a.argument) for a in system.legal(state)} for state in states]
        assert legal_in_lanes(system, lanes) == expected
        for feature in lanes.feature_names:
            if feature != "openness":  # a single state knows nothing of subwords
                values = [int(getattr(state, feature)) for state in states]
                assert getattr(lanes, feature).flatten().tolist() == values, feature
        chosen: list[Action | None] = []
        for lane, state in enumerate(states):
            options = system.legal(state)
            if len(state.words) >= 14:  # unknown text would go on for ever
                options = tuple(one for one in options if one.operation not in (Operation.GEN, Operation.NT)) or options
            preferred = [one for one in options if one.operation == Operation.GEN]
            pick = chance.choice(preferred if preferred and chance.random() < 0.3 else options) if options else None
            pick = GEN("w") if pick == GEN() else pick
            if chance.random() < 0.1:
                pick = None
            chosen.append(pick)
            if pick is not None:
                states[lane] = system.apply(state, pick)
        lanes.apply(actions := as_lane_actions(system, chosen), lanes.change(actions))
    assert any(state.last == Operation.END for state in states)


def test_levels_and_open_phrases() -> None:
    """(A w (B w w) (A ...: items and their levels, by hand."""
    system = TopDown(labels=("A", "B"))
    lanes = system.lane_states.begin(torch.tensor([-1]), width=12)
    state: State = system.initial()
    assert isinstance(lanes, PhraseLanes)
    for action, levels, opened, labels in (
        (NT("A"), [0, 1], [1], [0]),  # <ROOT> (A
        (GEN("w"), [0, 1, 2], [1], [0]),  # <ROOT> (A w
        (NT("B"), [0, 1, 2, 2], [1, 3], [0, 1]),  # <ROOT> (A w (B
        (GEN("w"), [0, 1, 2, 2, 3], [1, 3], [0, 1]),
        (GEN("w"), [0, 1, 2, 2, 3, 3], [1, 3], [0, 1]),
        (REDUCE.at("B"), [0, 1, 2, 2], [1], [0]),  # <ROOT> (A w B
        (NT("A"), [0, 1, 2, 2, 2], [1, 4], [0, 0]),
        (GEN("w"), [0, 1, 2, 2, 2, 3], [1, 4], [0, 0]),
        (REDUCE.at("A"), [0, 1, 2, 2, 2], [1], [0]),
        (REDUCE.at("A"), [0, 1], [], []),  # <ROOT> A
    ):
        state = system.apply(state, action)
        assert isinstance(state, PhraseState)
        lanes.apply(step := as_lane_actions(system, [action]), lanes.change(step))
        items, open_ = int(lanes.items), int(lanes.open)
        assert lanes.level[0, :items].tolist() == levels
        assert lanes.opened[0, :open_].tolist() == opened
        assert lanes.label[0, :open_].tolist() == labels
        assert (open_, int(lanes.top_label)) == (state.open, state.top_label)


def test_subwords_along_random_walks() -> None:
    """Against the rule in plain words. Subword j of a word: k >= max(1, j - 1) ends the word; k = 0 leaves open, for the first,
    whether it is over, and obliges to continue after that; everything else is illegal. Depths are those of plain lists.
    """
    limit, chance = 6, random.Random(3)
    system = ShiftAttach(attach_limit=limit)
    count = 50
    lanes = system.lane_states.begin(torch.full((count,), -1), width=40)
    assert isinstance(lanes, AttachLanes)
    # Constituents, subwords of the word, whether one waits, whether the word is over, open or unfinished.
    plain: list[dict[str, Any]] = [
        {"stack": 0, "j": 0, "waits": False, "word": "over", "ended": False} for _ in range(count)
    ]
    ks: list[list[int]] = [[] for _ in range(count)]

    def legal_ks(lane: int, words_left: int) -> list[int]:
        stack, j = plain[lane]["stack"], plain[lane]["j"]
        ends = [k for k in range(stack + 1) if k >= max(1, j - 1) or (k == 0 and j == 1)]
        if words_left == 0:
            ends = [k for k in ends if k == stack]
        goes_on = [0] if words_left < 0 and j > 1 else []
        return [k for k in sorted({*ends, *goes_on}) if stack + 1 - k <= limit]

    for _ in range(60):
        features = FeatureTable(lanes.feature_names, lanes.features())
        must_start, must_continue = system.open_words(features)
        for words_left in (-1, 1, 0):
            table = FeatureTable(lanes.feature_names, lanes.features(), words_left)
            for lane, allowed in enumerate(legal(system, table)):
                now = plain[lane]
                found = {system.table.entries[number] for number in allowed.nonzero().flatten().tolist()}
                if now["ended"]:
                    assert not found
                elif now["waits"]:
                    assert found == {(Operation.ATTACH, k) for k in legal_ks(lane, words_left)}
                else:
                    ends = now["stack"] == 1 and now["word"] != "unfinished" and words_left <= 0
                    assert ((Operation.END, None) in found) == ends
                    assert ((Operation.GEN, None) in found) == (words_left != 0)
                    assert bool(must_start[lane]) == (now["word"] == "over")
                    assert bool(must_continue[lane]) == (now["word"] == "unfinished")
        ids, starts = [], []
        for lane, now in enumerate(plain):
            begins = False
            if now["ended"] or chance.random() < 0.1:
                ids.append(-1)
            elif now["waits"]:
                options = legal_ks(lane, -1)
                k = 0 if 0 in options and chance.random() < 0.4 else chance.choice(options)
                ids.append(system.table.id_of(ATTACH.at(k)))
                ks[lane].append(k)
                now["word"] = "over" if k else ("open" if now["j"] == 1 else "unfinished")
                now.update(stack=now["stack"] + 1 - k, waits=False)
            elif now["stack"] == 1 and now["word"] != "unfinished" and chance.random() < 0.03:
                ids.append(FINISH)
                now["ended"] = True
            else:
                begins = now["word"] == "over" or (now["word"] == "open" and chance.random() < 0.5)
                ids.append(GENERATE)
                now.update(j=1 if begins else now["j"] + 1, waits=True)
            starts.append(begins)
        step = LaneActions.of(system.table, torch.tensor(ids), torch.tensor(ids), torch.tensor(starts))
        lanes.apply(step, lanes.change(step))
        for lane, done in enumerate(ks):
            rows = len(done) + 1
            assert lanes.depth[lane, :rows].tolist() == tapes(done)[-1]
            assert int(lanes.constituents[lane]) == plain[lane]["stack"]
    assert any(now["ended"] for now in plain)
    assert max(map(len, ks)) > 15


def test_forked_lanes_do_not_touch_each_other() -> None:
    system = transitions.get("top-down", labels=("A", "B"))
    lanes = system.lane_states.begin(torch.tensor([3, 3]), width=8)
    lanes.apply(actions := as_lane_actions(system, [NT("A"), NT("B")]), lanes.change(actions))
    forked = lanes.fork(torch.tensor([1, 1, 0]))
    forked.apply(actions := as_lane_actions(system, [GEN("b"), NT("A"), None]), forked.change(actions))
    assert isinstance(lanes, PhraseLanes) and isinstance(forked, PhraseLanes)
    assert lanes.open.flatten().tolist() == [1, 1]
    assert forked.top_label.flatten().tolist() == [1, 0, 0]
    assert forked.chain.flatten().tolist() == [0, 2, 1]
    assert forked.words_left.flatten().tolist() == [2, 3, 3]
