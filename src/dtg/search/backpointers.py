"""Where hypotheses came from: for every word, each hypothesis's predecessor and its arcs and POPs before the word.

That is enough to write down any derivation when somebody asks for its tree, and the search itself carries nothing along.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from dtg.transitions import GEN, Action, State, TransitionSystem

NO_ACTION = -1


@dataclass(frozen=True, slots=True)
class Step:
    """The hypotheses after one word."""

    before: Trail
    parent: Tensor  # (hypotheses,) which hypothesis of `before` it comes from
    actions: Tensor  # (hypotheses, longest) columns of `choices` taken before the word, in order; NO_ACTION fills up


@dataclass(frozen=True, slots=True)
class Joined:
    """Hypotheses of several searches together."""

    parts: tuple[Trail, ...]
    part: Tensor  # (hypotheses,) which of them
    parent: Tensor  # (hypotheses,) and which hypothesis there


@dataclass(frozen=True, slots=True)
class Start:
    """One hypothesis, before the first word."""


Trail = Start | Step | Joined


def actions_of(trail: Trail, hypothesis: int) -> list[list[int]]:
    """For every word, the columns taken before it."""
    found = []
    while not isinstance(trail, Start):
        parent = int(trail.parent[hypothesis])
        if isinstance(trail, Joined):
            trail = trail.parts[int(trail.part[hypothesis])]
        else:
            found.append([column for column in trail.actions[hypothesis].tolist() if column != NO_ACTION])
            trail = trail.before
        hypothesis = parent
    return found[::-1]


def replay(
    system: TransitionSystem,
    operations: Sequence[Action],
    before_words: Sequence[Sequence[int]],
    words: Sequence[str],
    after: Sequence[int] = (),
) -> State:
    """The state that a hypothesis is in; `operations` are what the columns of `choices` stand for."""
    state = system.initial()
    for columns, word in zip(before_words, words, strict=True):
        for column in columns:
            state = system.apply(state, operations[column])
        state = system.apply(state, GEN(word))
    for column in after:
        state = system.apply(state, operations[column])
    return state


def chased(origin: Tensor, column: Tensor, last: Tensor, first: int) -> tuple[Tensor, Tensor]:
    """Follow `origin` back from `last` until numbers below `first`: where each ends, and the columns met, in order."""
    met = []
    while bool((last >= first).any()):
        on_the_way = last >= first
        met.append(torch.where(on_the_way, column[last], NO_ACTION))
        last = torch.where(on_the_way, origin[last], last)
    actions = torch.stack(met[::-1], dim=1) if met else last.new_empty(len(last), 0)
    return last, actions
