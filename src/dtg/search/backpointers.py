"""Backpointers: for every word, each hypothesis's predecessor and the actions that it took before the word.

That is enough to write down any derivation when somebody asks for its tree, and the search itself carries nothing along.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from dtg.transitions import GEN, State, TransitionSystem
from dtg.transitions.action import NOTHING


@dataclass(frozen=True, slots=True)
class WordBackpointers:
    """The hypotheses after one word."""

    before: Backpointers
    parent: Tensor  # (hypotheses,) which hypothesis of `before` it comes from
    actions: Tensor  # (hypotheses, longest) ids of the actions taken before the word, in order; NOTHING fills up


@dataclass(frozen=True, slots=True)
class JoinedBackpointers:
    """Hypotheses of several searches together."""

    parts: tuple[Backpointers, ...]
    part: Tensor  # (hypotheses,) which of them
    parent: Tensor  # (hypotheses,) and which hypothesis there


@dataclass(frozen=True, slots=True)
class Start:
    """One hypothesis, before the first word."""


Backpointers = Start | WordBackpointers | JoinedBackpointers


def actions_of(pointers: Backpointers, hypothesis: int) -> list[list[int]]:
    """For every word, the ids of the actions taken before it."""
    found = []
    while not isinstance(pointers, Start):
        parent = int(pointers.parent[hypothesis])
        if isinstance(pointers, JoinedBackpointers):
            pointers = pointers.parts[int(pointers.part[hypothesis])]
        else:
            found.append([number for number in pointers.actions[hypothesis].tolist() if number != NOTHING])
            pointers = pointers.before
        hypothesis = parent
    return found[::-1]


def replay(
    system: TransitionSystem,
    before_words: Sequence[Sequence[int]],
    words: Sequence[str],
    after: Sequence[int] = (),
    subwords: Sequence[int] | None = None,
) -> State:
    """The state that a hypothesis is in, from the ids of its actions before each word and after the last.

    `subwords` says how many each word has; without it, each has one.
    """
    state, actions = system.initial(), system.table.actions
    counts = [1, *(subwords or [1] * len(words))]  # nothing is attached before the first word
    for numbers, word, count in zip(before_words, words, counts, strict=False):
        for number in system.by_words(numbers, count):
            state = system.apply(state, actions[number])
        state = system.apply(state, GEN(word))
    for number in system.by_words(after, counts[-1]):
        state = system.apply(state, actions[number])
    return state


def trace_back(origin: Tensor, action: Tensor, last: Tensor, first: int) -> tuple[Tensor, Tensor]:
    """Follow `origin` back from `last` until numbers below `first`: where each ends, and the actions met, in order."""
    met = []
    while bool((last >= first).any()):
        on_the_way = last >= first
        met.append(torch.where(on_the_way, action[last], NOTHING))
        last = torch.where(on_the_way, origin[last], last)
    actions = torch.stack(met[::-1], dim=1) if met else last.new_empty(len(last), 0)
    return last, actions
