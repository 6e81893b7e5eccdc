"""Expansion: from the hypotheses just after a word to the most probable candidates just before the next word's GEN.

Between two words a hypothesis takes actions other than GEN. Each leads to a state that may generate the next word (or
`<END>`, where the sentence is over), or take further actions. The log-probability of a hypothesis only falls as it is
expanded, so hypotheses are expanded best first until none that is left can be among the `beam` best candidates: the result
is exactly these, whatever the order. What is pruned is not lost sight of: its probability is known, and counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from dtg.families.lanes import Lanes
from dtg.search.backpointers import trace_back
from dtg.search.beams import Beams
from dtg.search.evaluator import Evaluator
from dtg.search.kv_cache import KVCache
from dtg.search.options import BeamOptions
from dtg.search.ranking import best_of_each, log_sums, ranked
from dtg.transitions.table import FINISH, GENERATE

# A pass expands at most a fourth of the beam: more would be hypotheses that turn out too improbable, which costs less than
# another pass as long as a pass has no more rows than WORTHWHILE.
AT_ONCE = 4
WORTHWHILE = 64


@dataclass(frozen=True, slots=True)
class Candidates:
    """The hypotheses just before their GEN or `<END>`, sentence by sentence."""

    lanes: Lanes
    hidden: Tensor  # (candidates, width)
    score: Tensor  # (candidates,) log-probability before GEN or <END>
    next_score: Tensor  # (candidates,) ... and with it
    beam: Tensor  # (candidates,) which sentence, ascending
    parent: Tensor  # (candidates,) which hypothesis of the beams it comes from
    actions: Tensor  # (candidates, longest) ids of the actions since the word; see `WordBackpointers`
    explored: Tensor  # (sentences,) share of the probability of GEN or <END> that these have
    cache: KVCache


@dataclass(slots=True)
class Pool:
    """Every state that was evaluated. The first ones are those just after the word."""

    lanes: Lanes
    hidden: Tensor
    score: Tensor
    beam: Tensor
    origin: Tensor  # the state it comes from; -1 for the first ones
    action: Tensor  # the id of the action it was reached by
    taken: Tensor  # how many actions since the word
    next_score: Tensor  # log-probability with GEN or <END> from here; minus infinity where that is not legal

    def add(self, other: Pool) -> Pool:
        return Pool(
            Lanes.join([self.lanes, other.lanes]),
            *(
                torch.cat([getattr(self, name), getattr(other, name)])
                for name in ("hidden", "score", "beam", "origin", "action", "taken", "next_score")
            ),
        )


@dataclass(slots=True)
class Agenda:
    """Expansions that have not been carried out: from which state, by which action, and the log-probability after it."""

    score: Tensor
    beam: Tensor
    state: Tensor  # in the pool
    action: Tensor

    def only(self, which: Tensor) -> Agenda:
        return Agenda(self.score[which], self.beam[which], self.state[which], self.action[which])

    def add(self, other: Agenda) -> Agenda:
        names = ("score", "beam", "state", "action")
        return Agenda(*(torch.cat([getattr(self, name), getattr(other, name)]) for name in names))


def expand(evaluator: Evaluator, options: BeamOptions, beams: Beams, *, ending: bool) -> Candidates:
    """The candidates of every sentence for its next word, or for its end."""
    first = len(beams.beam)
    nowhere = torch.full_like(beams.beam, -1)
    cache = beams.cache
    pool = Pool(beams.lanes, beams.hidden, beams.score, beams.beam, nowhere, nowhere, nowhere + 1, beams.score)
    pool.next_score, agenda = prospects(evaluator, cache, pool, 0, ending)
    limit = None if ending else options.max_actions
    while True:
        threshold = worst_of_the_best(pool.next_score, pool.beam, beams.count, options.beam)
        promising = agenda.score > threshold[agenda.beam]
        if limit is not None:
            promising &= pool.taken[agenda.state] < limit
        open_ = promising.nonzero()[:, 0]
        if not len(open_):
            break
        of = agenda.beam[open_]
        at_once = expansions_at_once(options.beam, int((torch.bincount(of) > 0).sum()))
        chosen = open_[best_of_each(agenda.score[open_], of, at_once)]
        now = agenda.only(chosen)
        lanes = pool.lanes.fork(now.state)
        hidden = evaluator.take(lanes, cache, pool.hidden[now.state], now.action)
        new = Pool(lanes, hidden, now.score, now.beam, now.state, now.action, pool.taken[now.state] + 1, now.score)
        new.next_score, more = prospects(evaluator, cache, new, len(pool.beam), ending)
        left = torch.ones_like(agenda.beam, dtype=torch.bool).index_fill(0, chosen, False)
        pool, agenda = pool.add(new), agenda.only(left).add(more)
    return best_candidates(pool, agenda, options, beams.count, first, cache)


def expansions_at_once(beam: int, sentences: int) -> int:
    """How many expansions of each sentence a pass carries out, if this many sentences have any. No result depends on it."""
    return max(1, beam // AT_ONCE, min(beam, WORTHWHILE // sentences))


def prospects(evaluator: Evaluator, cache: KVCache, new: Pool, before: int, ending: bool) -> tuple[Tensor, Agenda]:
    """For new states, which come after `before` others: log-probabilities with GEN or `<END>`, and further expansions."""
    choices, may = evaluator.choices(new.lanes, cache, new.hidden, words_left=0 if ending else 1)
    total = (new.score[:, None] + choices).masked_fill(~may, -torch.inf)
    next_score = total[:, FINISH if ending else GENERATE].clone()
    total[:, [GENERATE, FINISH]] = -torch.inf
    state, action = (total > -torch.inf).nonzero(as_tuple=True)
    return next_score, Agenda(total[state, action], new.beam[state], before + state, action)


def worst_of_the_best(score: Tensor, beam: Tensor, count: int, size: int) -> Tensor:
    """(sentences,) what a hypothesis must exceed to be a candidate; minus infinity where there are not enough yet."""
    order, rank = ranked(score, beam)
    last = order[rank == size - 1]
    threshold = torch.full((count,), -torch.inf, dtype=score.dtype, device=score.device)
    return threshold.index_copy(0, beam[last], score[last])


def best_candidates(
    pool: Pool, agenda: Agenda, options: BeamOptions, count: int, first: int, cache: KVCache
) -> Candidates:
    """The best of each sentence, and, by the fast track, the best for each number of actions taken."""
    able = (pool.next_score > -torch.inf).nonzero()[:, 0]
    chosen = able[best_of_each(pool.next_score[able], pool.beam[able], options.beam)]
    if options.fast_track:
        of_each = pool.beam[able] * (int(pool.taken.max()) + 1) + pool.taken[able]
        fast = able[best_of_each(pool.next_score[able], of_each, options.fast_track)]
        chosen = torch.cat([chosen, fast]).unique()
        chosen = chosen[best_of_each(pool.next_score[chosen], pool.beam[chosen], len(chosen))]
    parent, actions = trace_back(pool.origin, pool.action, chosen, first)
    reached = log_sums(pool.next_score[chosen], pool.beam[chosen], count)
    found = log_sums(pool.next_score, pool.beam, count)
    missed = log_sums(agenda.score, agenda.beam, count)
    return Candidates(
        pool.lanes.fork(chosen),
        pool.hidden[chosen],
        pool.score[chosen],
        pool.next_score[chosen],
        pool.beam[chosen],
        parent,
        actions,
        (reached - torch.logaddexp(found, missed)).exp(),
        cache,
    )
