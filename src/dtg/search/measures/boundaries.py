"""Where a word ends (`boundary="own"`): that a word is over is counted with the word, not with the one after it.

Subwords mark where a word begins. That it is over is decided by what follows: anything but a subword that continues it.
Each hypothesis is weighted by the probability of that, at its last subword's row; sums of these weights are the probabilities
of beginnings that end with a whole word (Pimentel and Meister 2024; Oh and Schuler 2024). Nothing that is searched or pruned
depends on it.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from dtg.errors import InputError
from dtg.families.lanes import Lanes
from dtg.search.evaluator import PREDICTIONS_AT_ONCE, Evaluator
from dtg.search.expansion import Candidates
from dtg.search.kv_cache import KVCache
from dtg.search.options import Boundary
from dtg.transitions.lanes import FeatureTable
from dtg.transitions.table import GENERATE


class Boundaries(NamedTuple):
    """What `boundary="own"` needs to know at a word."""

    over: Tensor  # (hypotheses,) the log-probability that the word is over
    begins: Tensor  # (candidates,) log-probabilities with a GEN that begins a word


def own_boundaries(
    evaluator: Evaluator, candidates: Candidates, lanes: Lanes, cache: KVCache, hidden: Tensor
) -> Boundaries:
    """At a word, from the candidates before it and the hypotheses after it."""
    return Boundaries(word_is_over(evaluator, lanes, cache, hidden), begin_next_word(evaluator, candidates))


def check_boundary(evaluator: Evaluator, boundary: Boundary) -> None:
    """Raise if it cannot be known where words end."""
    if boundary == "own" and evaluator.model.starts_word is None:
        raise InputError(
            "this model has no tokenizer, so it is not known which subwords begin a word; boundary must be 'next'."
        )


def word_is_over(evaluator: Evaluator, lanes: Lanes, cache: KVCache, hidden: Tensor) -> Tensor:
    """(lanes,) the log-probability that the word just generated is not continued.

    Where a subword is attached before anything follows it (Pushdown), this is the sum over its attachments.
    """
    if evaluator.system.within_word is None:
        return row_ends_word(evaluator, lanes, cache, hidden)
    number = evaluator.system.table.id_of(evaluator.system.within_word)
    choices, _ = evaluator.choices(lanes, cache, hidden, words_left=-1)
    stays_open, used = choices[:, number].clone(), cache.used
    choices[:, number] = -torch.inf
    open_lanes = lanes.fork(torch.arange(len(hidden), device=hidden.device))
    after = evaluator.take(open_lanes, cache, hidden, torch.full_like(lanes.size[:, 0], number))
    over = row_ends_word(evaluator, open_lanes, cache, after)
    cache.used = used  # the rows that were tried belong to no hypothesis
    return torch.logaddexp(choices.logsumexp(1), stays_open + over)


def row_ends_word(evaluator: Evaluator, lanes: Lanes, cache: KVCache, hidden: Tensor) -> Tensor:
    """(lanes,) the log-probability of everything but a subword that continues a word, as a sum without cancellation."""
    choices, _ = evaluator.choices(lanes, cache, hidden, words_left=-1)
    choices[:, GENERATE] += log_share_of_starts(evaluator, hidden, lanes.states.features())
    return choices.logsumexp(1).clamp(max=0.0)


def begin_next_word(evaluator: Evaluator, candidates: Candidates) -> Tensor:
    """(candidates,) log-probabilities with a GEN that begins a word, rather than any."""
    features, found = candidates.lanes.states.features(), candidates.next_score.clone()
    may_continue = torch.ones_like(candidates.beam, dtype=torch.bool)
    if evaluator.constrained:
        names = evaluator.system.lane_states.feature_names
        may_continue = ~evaluator.system.open_words(FeatureTable(names, features))[0]
    which = may_continue.nonzero()[:, 0]
    found[which] += log_share_of_starts(evaluator, candidates.hidden[which], features[which])
    return found


def log_share_of_starts(evaluator: Evaluator, hidden: Tensor, features: Tensor) -> Tensor:
    """(rows,) log p(the subword begins a word | GEN)."""
    parts = zip(hidden.split(PREDICTIONS_AT_ONCE), features.split(PREDICTIONS_AT_ONCE), strict=True)
    found = [evaluator.log_share_of_starts(some, state) for some, state in parts]
    return torch.cat(found) if found else hidden.new_empty(0, dtype=torch.float64)
