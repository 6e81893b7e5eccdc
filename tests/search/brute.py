"""Probabilities the slow way: every derivation written down and scored by the naive model, one at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from dtg.model import DecoderModel
from dtg.model.model import make_family
from dtg.transitions import Action, Operation, State, TransitionSystem
from dtg.transitions.rules import Derivations
from tests.model.naive import naive_derivation_score


def log_sum(scores: Sequence[float]) -> float:
    highest = max(scores)
    return highest + math.log(sum(math.exp(score - highest) for score in scores))


def beginnings(system: TransitionSystem, words: Sequence[str], count: int) -> Iterator[tuple[Action, ...]]:
    """Every sequence of actions that has just generated the first `count` words, the text not being known."""

    def extend(state: State, done: tuple[Action, ...]) -> Iterator[tuple[Action, ...]]:
        if len(state.words) == count:
            yield done
            return
        for action in system.legal(state):
            if action.operation == Operation.END:
                continue
            if action.operation == Operation.GEN:
                action = Action(Operation.GEN, words[len(state.words)])
            yield from extend(system.apply(state, action), (*done, action))

    return extend(system.initial(), ())


def derivations(system: TransitionSystem, words: Sequence[str]) -> Iterator[tuple[Action, ...]]:
    """Every complete derivation of these words."""

    def extend(state: State, done: tuple[Action, ...]) -> Iterator[tuple[Action, ...]]:
        if state.last == Operation.END:
            yield done
        for action in system.legal(state):
            yield from extend(system.apply(state, action), (*done, action))

    return extend(system.initial(words), ())


def prefix_log_probability(
    model: DecoderModel, pieces: Sequence[Sequence[int]], constrained: bool, kind: Derivations = "canonical"
) -> float:
    """log p(these words come first)."""
    system = make_family(model.config, kind).system
    words = [f"w{i}" for i in range(len(pieces))]
    return log_sum(
        [
            naive_derivation_score(model, system, actions, pieces, constrained=constrained)
            for actions in beginnings(system, words, len(words))
        ]
    )


def sentence_log_probability(
    model: DecoderModel, pieces: Sequence[Sequence[int]], constrained: bool, kind: Derivations = "canonical"
) -> float:
    """log p(these words and no others)."""
    system = make_family(model.config, kind).system
    words = [f"w{i}" for i in range(len(pieces))]
    return log_sum(
        [
            naive_derivation_score(model, system, actions, pieces, constrained=constrained)
            for actions in derivations(system, words)
        ]
    )
