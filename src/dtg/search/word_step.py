"""One word: from the candidates just before it to the best hypotheses after it, and what the word cost.

A word's subwords stay together: hypotheses are compared only when all of them are generated. One sentence may continue with
several different words; each is a sentence of its own from then on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from dtg.families.lanes import Lanes
from dtg.search.backpointers import WordBackpointers
from dtg.search.beams import Beams, WordStatistics
from dtg.search.evaluator import Evaluator
from dtg.search.expansion import Candidates
from dtg.search.kv_cache import KVCache
from dtg.search.measures.attention import watched_attention
from dtg.search.measures.boundaries import Boundaries, own_boundaries
from dtg.search.measures.columns import Measuring, Step
from dtg.search.options import BeamOptions
from dtg.search.pruning import keep
from dtg.search.ranking import log_sums, sums
from dtg.transitions.action import NOTHING


class NextWord(NamedTuple):
    """A word that a sentence continues with."""

    beam: int  # the sentence
    pieces: Sequence[int]


class Pairs(NamedTuple):
    """Every candidate with every word that its sentence continues with."""

    lanes: Lanes
    hidden: Tensor
    candidate: Tensor  # (pairs,)
    word: Tensor  # (pairs,) which word, ascending
    score: Tensor  # (pairs,) log-probability with the whole word generated


def generate(
    evaluator: Evaluator, options: BeamOptions, beams: Beams, candidates: Candidates, words: Sequence[NextWord]
) -> Beams:
    """Continue with these words; the result has a sentence for each."""
    device = beams.beam.device
    pieces = pad_sequence([torch.tensor(word.pieces) for word in words], batch_first=True, padding_value=NOTHING)
    pieces = pieces.to(device)
    whose = torch.tensor([word.beam for word in words], device=device)
    used = candidates.cache.used
    pairs = with_pieces(evaluator, candidates, pair_up(candidates, whose), pieces)
    kept = keep(options, pairs.score, pairs.word, len(words))
    lanes, cache = compacted(pairs.lanes.fork(kept), candidates.cache)
    candidates.cache.used = used  # what came after belongs to this word alone, and has been copied
    word, candidate, score = pairs.word[kept], pairs.candidate[kept], pairs.score[kept]
    counts = (pieces != NOTHING).sum(1)
    last = pieces.gather(1, counts[:, None] - 1)[:, 0]
    measuring = Measuring(evaluator, options.columns)
    with watched_attention(evaluator, measuring.needs_attention) as attention:
        hidden = evaluator.generate(lanes, cache, pairs.hidden[kept], last[word], starts_word=(counts == 1)[word])
    depth = lanes.states.stack_depth[:, 0].to(score.dtype)
    ends = own_boundaries(evaluator, candidates, lanes, cache, hidden) if options.boundary == "own" else None
    statistics, posterior = statistics_of(beams.statistics.log_mass[whose], candidates, pairs, kept, depth, whose, ends)
    if not evaluator.family.has_trees:  # nothing to be surprised at but the word
        nothing = torch.zeros_like(statistics.structural)
        statistics = statistics._replace(lexical=statistics.surprisal, structural=nothing)
    backpointers = WordBackpointers(beams.backpointers, candidates.parent[candidate], candidates.actions[candidate])
    step = Step(
        beams, candidates, lanes.states, candidate, word, posterior, whose, [following.pieces for following in words]
    )
    measured = measuring.measure(step, attention)
    return Beams(lanes, hidden, score, word, len(words), cache, backpointers, statistics, measured)


def pair_up(candidates: Candidates, whose: Tensor) -> Pairs:
    """Candidates stand sentence by sentence, so those of one sentence follow its first."""
    count = torch.bincount(candidates.beam, minlength=int(whose.max()) + 1)
    first = count.cumsum(0) - count
    each = count[whose]
    word = torch.repeat_interleave(torch.arange(len(whose), device=whose.device), each)
    candidate = torch.arange(len(word), device=whose.device) - (each.cumsum(0) - each)[word] + first[whose][word]
    return Pairs(
        candidates.lanes.fork(candidate),
        candidates.hidden[candidate],
        candidate,
        word,
        candidates.score[candidate].clone(),
    )


def with_pieces(evaluator: Evaluator, candidates: Candidates, pairs: Pairs, pieces: Tensor) -> Pairs:
    """Score all subwords, computing rows for all but the last."""
    lanes, hidden, score = pairs.lanes, pairs.hidden.clone(), pairs.score
    for number in range(pieces.shape[1]):
        piece = pieces[pairs.word, number]
        now = (piece != NOTHING).nonzero()[:, 0]
        features = lanes.states.features()[now]
        score[now] += evaluator.piece_log_probability(hidden[now], features, piece[now])
        if number + 1 < pieces.shape[1]:
            continues = pieces[pairs.word, number + 1] != NOTHING
            piece = torch.where(continues, piece, NOTHING)
            starts = torch.full_like(continues, number == 0)
            hidden = evaluator.generate(lanes, candidates.cache, hidden, piece, starts_word=starts)
            if evaluator.system.within_word is not None:
                hidden = hold_word(evaluator, candidates, lanes, hidden, score, continues)
    return pairs._replace(hidden=hidden, score=score)


def hold_word(
    evaluator: Evaluator, candidates: Candidates, lanes: Lanes, hidden: Tensor, score: Tensor, continues: Tensor
) -> Tensor:
    """Where the word is continued, take the action that stands between two of its subwords, and count its probability."""
    assert evaluator.system.within_word is not None
    number = evaluator.system.table.id_of(evaluator.system.within_word)
    now = continues.nonzero()[:, 0]
    score[now] += evaluator.choices(lanes.fork(now), candidates.cache, hidden[now], words_left=-1)[0][:, number]
    return evaluator.take(lanes, candidates.cache, hidden, torch.where(continues, number, NOTHING))


def compacted(lanes: Lanes, cache: KVCache) -> tuple[Lanes, KVCache]:
    """The same hypotheses in a cache that holds nothing but the rows that they can still see."""
    live = lanes.visible()
    number = torch.zeros(cache.used, dtype=torch.long, device=live.device)
    number[live] = torch.arange(len(live), device=live.device)
    return lanes.renamed(number), cache.compact(live, room=16 * len(lanes))


def statistics_of(
    mass_before: Tensor,
    candidates: Candidates,
    pairs: Pairs,
    kept: Tensor,
    depth: Tensor,
    whose: Tensor,
    ends: Boundaries | None,
) -> tuple[WordStatistics, Tensor]:
    """What the word cost, from the hypotheses that are kept, and how probable each of them is, given the words.

    With `ends`, words that may go on do not count.
    """
    word, score, candidate = pairs.word[kept], pairs.score[kept], pairs.candidate[kept]
    count = len(mass_before)
    mass, found = log_sums(score, word, count), log_sums(pairs.score, pairs.word, count)
    share = candidates.explored[whose] * (mass - found).exp()
    begins = candidates.next_score
    if ends is not None:
        score, begins = score + ends.over, ends.begins
        mass = log_sums(score, word, count)
    posterior = (score - mass[word]).exp()
    lexical = begins[candidate] - score  # -log p(word | the state before it)
    structural = (score - mass[word]) - (begins[candidate] - mass_before[word])
    statistics = WordStatistics(
        log_mass=mass,
        surprisal=mass_before - mass,
        lexical=expected(posterior, lexical, word, count),
        structural=expected(posterior, structural, word, count),
        entropy=expected(posterior, mass[word] - score, word, count),
        stack_depth=sums(posterior * depth, word, count),
        kept=share,
    )
    return statistics, posterior


def expected(posterior: Tensor, values: Tensor, word: Tensor, count: int) -> Tensor:
    """(words,) the mean of values over hypotheses; one that is impossible may have an infinite value, and counts nothing."""
    return sums(torch.where(posterior > 0, posterior * values, 0.0), word, count)
