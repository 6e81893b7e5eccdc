"""From one word to the next: hypotheses just after a word in, the most probable ways to arrive at the next word out.

Between two words a hypothesis takes arcs and POPs. Each leads to a state that may *arrive*, by GEN (or by `<END>`, where
the sentence is over), or go on. The log-probability of a way only falls as it goes on, so ways are followed best first
until none that is left can be among the `beam` best that arrive: the result is exactly these, whatever the order. What is
not followed is not lost sight of: its probability is known, and counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from dtg.families.lanes import Lanes
from dtg.model.heads import END, GENERATE
from dtg.search.backpointers import chased
from dtg.search.beams import Beams
from dtg.search.evaluator import Evaluator
from dtg.search.kv_cache import Arena
from dtg.search.options import BeamOptions
from dtg.search.ranking import best_of_each, log_sums, ranked

AT_ONCE = 4  # a pass follows at most a fourth of the beam: more would follow ways that turn out too improbable,
WORTHWHILE = 64  # which costs less than another pass as long as a pass has no more rows than this


@dataclass(frozen=True, slots=True)
class Arrivals:
    """The hypotheses that arrive, sentence by sentence, each still before its GEN or `<END>`."""

    lanes: Lanes
    hidden: Tensor  # (arrivals, width)
    score: Tensor  # (arrivals,) log-probability before GEN or <END>
    arrival: Tensor  # (arrivals,) ... and with it
    beam: Tensor  # (arrivals,) which sentence, ascending
    parent: Tensor  # (arrivals,) which hypothesis of the beams it comes from
    actions: Tensor  # (arrivals, longest) what it did on the way; see `Step`
    explored: Tensor  # (sentences,) share of the probability of arriving that these have
    arena: Arena


@dataclass(slots=True)
class Pool:
    """Every state that was evaluated. The first ones are those just after the word."""

    lanes: Lanes
    hidden: Tensor
    score: Tensor
    beam: Tensor
    origin: Tensor  # the state it comes from; -1 for the first ones
    column: Tensor  # the action it was reached by
    taken: Tensor  # how many actions since the word
    arrival: Tensor  # log-probability of arriving from here; minus infinity where that is not legal

    def add(self, other: Pool) -> Pool:
        return Pool(
            Lanes.join([self.lanes, other.lanes]),
            *(
                torch.cat([getattr(self, name), getattr(other, name)])
                for name in ("hidden", "score", "beam", "origin", "column", "taken", "arrival")
            ),
        )


@dataclass(slots=True)
class Agenda:
    """Actions that may be followed: where from, which, and the log-probability after it."""

    score: Tensor
    beam: Tensor
    state: Tensor  # in the pool
    column: Tensor

    def only(self, which: Tensor) -> Agenda:
        return Agenda(self.score[which], self.beam[which], self.state[which], self.column[which])

    def add(self, other: Agenda) -> Agenda:
        names = ("score", "beam", "state", "column")
        return Agenda(*(torch.cat([getattr(self, name), getattr(other, name)]) for name in names))


def explore(evaluator: Evaluator, options: BeamOptions, beams: Beams, *, ending: bool) -> Arrivals:
    """The ways from every hypothesis to the next word, or to the sentence's end."""
    first = len(beams.beam)
    nowhere = torch.full_like(beams.beam, -1)
    arena = beams.arena
    pool = Pool(beams.lanes, beams.hidden, beams.score, beams.beam, nowhere, nowhere, nowhere + 1, beams.score)
    pool.arrival, agenda = prospects(evaluator, pool, 0, ending)
    limit = None if ending else options.max_actions
    while True:
        bar = lowest_of_the_best(pool.arrival, pool.beam, beams.count, options.beam)
        promising = agenda.score > bar[agenda.beam]
        if limit is not None:
            promising &= pool.taken[agenda.state] < limit
        candidates = promising.nonzero()[:, 0]
        if not len(candidates):
            break
        of = agenda.beam[candidates]
        at_once = ways_at_once(options.beam, int((torch.bincount(of) > 0).sum()))
        followed = candidates[best_of_each(agenda.score[candidates], of, at_once)]
        now = agenda.only(followed)
        lanes = pool.lanes.fork(now.state)
        hidden = evaluator.take(lanes, arena, now.column)
        new = Pool(lanes, hidden, now.score, now.beam, now.state, now.column, pool.taken[now.state] + 1, now.score)
        new.arrival, more = prospects(evaluator, new, len(pool.beam), ending)
        left = torch.ones_like(agenda.beam, dtype=torch.bool).index_fill(0, followed, False)
        pool, agenda = pool.add(new), agenda.only(left).add(more)
    return arrivals(pool, agenda, options, beams.count, first, arena)


def ways_at_once(beam: int, sentences: int) -> int:
    """How many ways of each sentence a pass follows, if so many sentences have any left. No result depends on it."""
    return max(1, beam // AT_ONCE, min(beam, WORTHWHILE // sentences))


def prospects(evaluator: Evaluator, new: Pool, before: int, ending: bool) -> tuple[Tensor, Agenda]:
    """For new states, which come after `before` others: log-probabilities of arriving, and the actions that go on."""
    choices, may = evaluator.choices(new.hidden, new.lanes.states.features(), words_left=0 if ending else 1)
    total = (new.score[:, None] + choices).masked_fill(~may, -torch.inf)
    arrival = total[:, END if ending else GENERATE].clone()
    total[:, [GENERATE, END]] = -torch.inf
    state, column = (total > -torch.inf).nonzero(as_tuple=True)
    return arrival, Agenda(total[state, column], new.beam[state], before + state, column)


def lowest_of_the_best(arrival: Tensor, beam: Tensor, count: int, size: int) -> Tensor:
    """(sentences,) what a way must exceed to be among the best; minus infinity where there are not enough yet."""
    order, rank = ranked(arrival, beam)
    last = order[rank == size - 1]
    bar = torch.full((count,), -torch.inf, dtype=arrival.dtype, device=arrival.device)
    return bar.index_copy(0, beam[last], arrival[last])


def arrivals(pool: Pool, agenda: Agenda, options: BeamOptions, count: int, first: int, arena: Arena) -> Arrivals:
    """The best that arrive, and, by the fast track, the best for each number of actions taken."""
    able = (pool.arrival > -torch.inf).nonzero()[:, 0]
    chosen = able[best_of_each(pool.arrival[able], pool.beam[able], options.beam)]
    if options.fast_track:
        of_each = pool.beam[able] * (int(pool.taken.max()) + 1) + pool.taken[able]
        fast = able[best_of_each(pool.arrival[able], of_each, options.fast_track)]
        chosen = torch.cat([chosen, fast]).unique()
        chosen = chosen[best_of_each(pool.arrival[chosen], pool.beam[chosen], len(chosen))]
    parent, actions = chased(pool.origin, pool.column, chosen, first)
    reached = log_sums(pool.arrival[chosen], pool.beam[chosen], count)
    found = log_sums(pool.arrival, pool.beam, count)
    missed = log_sums(agenda.score, agenda.beam, count)
    return Arrivals(
        pool.lanes.fork(chosen),
        pool.hidden[chosen],
        pool.score[chosen],
        pool.arrival[chosen],
        pool.beam[chosen],
        parent,
        actions,
        (reached - torch.logaddexp(found, missed)).exp(),
        arena,
    )
