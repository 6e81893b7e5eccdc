"""Expansion: from the hypotheses just after a word to the most probable candidates just before the next word's GEN.

Between two words a hypothesis takes actions other than GEN. Each leads to a state that may generate the next word (or
`<END>`, where the sentence is over), or take further actions. The log-probability of a hypothesis only falls as it is
expanded, so hypotheses are expanded best first until none that is left can be among the `beam` best candidates: the result
is exactly these, whatever the order. What is pruned is not lost sight of: its probability is known, and counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from dtg.families.lanes import Lanes
from dtg.search.backpointers import trace_back
from dtg.search.beams import Beams
from dtg.search.evaluator import Evaluator
from dtg.search.kv_cache import KVCache
from dtg.search.options import BeamOptions
from dtg.search.pruning import Thresholds
from dtg.search.ranking import best_of_each, log_sums
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

    def only(self, which: Tensor) -> Candidates:
        """Some of them, in order."""
        return replace(
            self,
            lanes=self.lanes.fork(which),
            hidden=self.hidden[which],
            score=self.score[which],
            next_score=self.next_score[which],
            beam=self.beam[which],
            parent=self.parent[which],
            actions=self.actions[which],
        )


@dataclass(slots=True)
class Pool:
    """States that were evaluated together."""

    lanes: Lanes
    hidden: Tensor
    score: Tensor
    beam: Tensor
    hypothesis: Tensor  # which hypothesis of the beams it comes from
    origin: Tensor  # the state it comes from, among all; -1 for the hypotheses themselves
    action: Tensor  # the id of the action it was reached by
    taken: Tensor  # how many actions since the word
    next_score: Tensor  # log-probability with GEN or <END> from here; minus infinity where that is not legal


class Explored:
    """Every state that was evaluated, in order; the first ones are the hypotheses just after the word.

    Columns are kept together. Lanes and hidden vectors, which are large, stay where they are until somebody asks for some.
    """

    def __init__(self, first: Pool) -> None:
        self.parts = [first]
        self.ends = [len(first.beam)]
        self.score, self.beam, self.hypothesis = first.score, first.beam, first.hypothesis
        self.origin, self.action, self.taken, self.next_score = (
            first.origin,
            first.action,
            first.taken,
            first.next_score,
        )

    def __len__(self) -> int:
        return self.ends[-1]

    def add(self, new: Pool) -> None:
        self.parts.append(new)
        self.ends.append(len(self) + len(new.beam))
        for name in ("score", "beam", "hypothesis", "origin", "action", "taken", "next_score"):
            setattr(self, name, torch.cat([getattr(self, name), getattr(new, name)]))

    def fork(self, states: Tensor) -> tuple[Lanes, Tensor]:
        """The lanes and hidden vectors of some states, in their order."""
        begins = [0, *self.ends[:-1]]
        of_part = torch.bucketize(states, torch.tensor(self.ends, device=states.device), right=True)
        lanes, hidden, places = [], [], []
        for number, part in enumerate(self.parts):
            where = (of_part == number).nonzero()[:, 0]
            if len(where):
                chosen = states[where] - begins[number]
                lanes.append(part.lanes.fork(chosen))
                hidden.append(part.hidden[chosen])
                places.append(where)
        if len(lanes) == 1:
            return lanes[0], hidden[0]
        back = torch.cat(places).argsort()
        return Lanes.join(lanes).fork(back), torch.cat(hidden)[back]


@dataclass(slots=True)
class Agenda:
    """Expansions that have not been carried out: from which state, by which action, and the log-probability after it."""

    score: Tensor
    beam: Tensor
    hypothesis: Tensor
    state: Tensor  # among all explored ones
    action: Tensor

    def only(self, which: Tensor) -> Agenda:
        return Agenda(*(getattr(self, name)[which] for name in self.__slots__))

    def add(self, other: Agenda) -> Agenda:
        return Agenda(*(torch.cat([getattr(self, name), getattr(other, name)]) for name in self.__slots__))


def expand(evaluator: Evaluator, options: BeamOptions, beams: Beams, *, ending: bool | Tensor) -> Candidates:
    """The candidates of every sentence for its next word, or for its end.

    `ending` says which: of all, or, (sentences,), of each.
    """
    cache, nowhere = beams.cache, torch.full_like(beams.beam, -1)
    each = torch.arange(len(nowhere), device=nowhere.device)
    pool = Pool(beams.lanes, beams.hidden, beams.score, beams.beam, each, nowhere, nowhere, nowhere + 1, beams.score)
    pool.next_score, agenda = prospects(evaluator, cache, pool, 0, ending)
    explored = Explored(pool)
    thresholds = Thresholds(options, beams)
    limit = None if ending is True else options.max_actions
    while True:
        thresholds.update(explored.next_score, explored.beam)
        promising = agenda.score > thresholds.of(agenda.beam)
        if limit is not None:
            may = explored.taken[agenda.state] < limit
            promising &= may if isinstance(ending, bool) else may | ending[agenda.beam]
        open_ = promising.nonzero()[:, 0]
        if not len(open_):
            break
        chosen = choose(agenda, open_, options, thresholds)
        now = agenda.only(chosen)
        lanes, hidden = explored.fork(now.state)
        hidden = evaluator.take(lanes, cache, hidden, now.action)
        taken = explored.taken[now.state] + 1
        new = Pool(lanes, hidden, now.score, now.beam, now.hypothesis, now.state, now.action, taken, now.score)
        new.next_score, more = prospects(evaluator, cache, new, len(explored), ending)
        left = torch.ones_like(agenda.beam, dtype=torch.bool).index_fill(0, chosen, False)
        explored.add(new)
        agenda = agenda.only(left).add(more)
    return best_candidates(explored, agenda, thresholds, options, beams.count, cache)


def choose(agenda: Agenda, open_: Tensor, options: BeamOptions, thresholds: Thresholds) -> Tensor:
    """Which of the open expansions a pass carries out. No result depends on it."""
    of = agenda.beam[open_]
    if options.is_adaptive:
        return open_[thresholds.are_likely(agenda.score[open_], of)]
    at_once = expansions_at_once(options.beam, int((torch.bincount(of) > 0).sum()))
    return open_[best_of_each(agenda.score[open_], of, at_once)]


def expansions_at_once(beam: int, sentences: int) -> int:
    """How many expansions of each sentence a pass carries out, if this many sentences have any. No result depends on it."""
    return max(1, beam // AT_ONCE, min(beam, WORTHWHILE // sentences))


def prospects(
    evaluator: Evaluator, cache: KVCache, new: Pool, before: int, ending: bool | Tensor
) -> tuple[Tensor, Agenda]:
    """For new states, which come after `before` others: log-probabilities with GEN or `<END>`, and further expansions."""
    ends = ending if isinstance(ending, bool) else ending[new.beam, None]  # (states, 1)
    words_left = int(not ends) if isinstance(ends, bool) else (~ends).long()
    choices, may = evaluator.choices(new.lanes, cache, new.hidden, words_left=words_left)
    total = (new.score[:, None] + choices).masked_fill(~may, -torch.inf)
    if isinstance(ends, bool):
        next_score = total[:, FINISH if ends else GENERATE].clone()
    else:
        next_score = torch.where(ends[:, 0], total[:, FINISH], total[:, GENERATE])
    total[:, [GENERATE, FINISH]] = -torch.inf
    state, action = (total > -torch.inf).nonzero(as_tuple=True)
    return next_score, Agenda(total[state, action], new.beam[state], new.hypothesis[state], before + state, action)


def best_candidates(
    explored: Explored, agenda: Agenda, thresholds: Thresholds, options: BeamOptions, count: int, cache: KVCache
) -> Candidates:
    """The best of each sentence, and, by the fast track, the best for each number of actions taken."""
    score, beam = explored.next_score, explored.beam
    bar = thresholds.of(beam)
    able = score > -torch.inf
    if options.is_adaptive:
        able &= score >= bar  # the last one that a beam has room for is the threshold itself
    able = able.nonzero()[:, 0]
    chosen = able[best_of_each(score[able], beam[able], options.beam)]
    if options.fast_track:
        of_each = beam[able] * (int(explored.taken.max()) + 1) + explored.taken[able]
        fast = able[best_of_each(score[able], of_each, options.fast_track)]
        chosen = torch.cat([chosen, fast]).unique()
        chosen = chosen[best_of_each(score[chosen], beam[chosen], len(chosen))]
    hypotheses = explored.ends[0]
    parent, actions = trace_back(explored.origin, explored.action, chosen, hypotheses)
    reached = log_sums(score[chosen], beam[chosen], count)
    if options.is_adaptive:
        found, missed = needed(explored, agenda, bar, count)
    else:
        found, missed = log_sums(score, beam, count), log_sums(agenda.score, agenda.beam, count)
    lanes, hidden = explored.fork(chosen)
    return Candidates(
        lanes,
        hidden,
        explored.score[chosen],
        score[chosen],
        beam[chosen],
        parent,
        actions,
        (reached - torch.logaddexp(found, missed)).exp(),
        cache,
    )


def needed(explored: Explored, agenda: Agenda, bar: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """What was found, and what is left, as if nothing had been expanded but what reaches its threshold in the end.

    A pass may expand a few hypotheses more, which depends on its size; what is reported must not.
    """
    is_needed = explored.score >= bar
    is_needed[: explored.ends[0]] = True
    last = ~is_needed
    last[last.clone()] = is_needed[explored.origin[last]]
    found = log_sums(explored.next_score.masked_fill(~is_needed, -torch.inf), explored.beam, count)
    left = agenda.only(is_needed[agenda.state])
    missed = log_sums(torch.cat([left.score, explored.score[last]]), torch.cat([left.beam, explored.beam[last]]), count)
    return found, missed
