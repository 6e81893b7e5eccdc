"""A word for each sentence: hypotheses that arrive at it in, the best hypotheses after it and what it cost out.

A word's pieces stay together: hypotheses are compared only when all of them are generated. One sentence may go on with
several different words; each is a sentence of its own from then on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from dtg.families.lanes import Lanes
from dtg.families.rows import NOTHING
from dtg.search.backpointers import Step
from dtg.search.beams import Beams, WordFigures
from dtg.search.evaluator import Evaluator
from dtg.search.expansion import Arrivals
from dtg.search.kv_cache import Arena
from dtg.search.options import BeamOptions
from dtg.search.ranking import best_of_each, log_sums, sums


class NextWord(NamedTuple):
    """A word that a sentence goes on with."""

    beam: int  # the sentence
    pieces: Sequence[int]


class Pairs(NamedTuple):
    """Every hypothesis that arrives, with every word that its sentence goes on with."""

    lanes: Lanes
    hidden: Tensor
    arrival: Tensor  # (pairs,) which arrival
    word: Tensor  # (pairs,) which word, ascending
    score: Tensor  # (pairs,) log-probability with the whole word generated


def generate(
    evaluator: Evaluator, options: BeamOptions, beams: Beams, arrivals: Arrivals, words: Sequence[NextWord]
) -> Beams:
    """Go on with these words; the result has a sentence for each."""
    device = beams.beam.device
    pieces = pad_sequence([torch.tensor(word.pieces) for word in words], batch_first=True, padding_value=NOTHING)
    pieces = pieces.to(device)
    whose = torch.tensor([word.beam for word in words], device=device)
    used = arrivals.arena.used
    pairs = with_pieces(evaluator, arrivals, pair_up(arrivals, whose), pieces)
    kept = best_of_each(pairs.score, pairs.word, options.words_kept)
    lanes, arena = compacted(pairs.lanes.fork(kept), arrivals.arena)
    arrivals.arena.used = used  # what came after belongs to this word alone, and has been copied
    word, arrival, score = pairs.word[kept], pairs.arrival[kept], pairs.score[kept]
    counts = (pieces != NOTHING).sum(1)
    last = pieces.gather(1, counts[:, None] - 1)[:, 0]
    hidden = evaluator.generate(lanes, arena, last[word], starts_word=(counts == 1)[word])
    depth = (lanes.states.items[:, 0] - 1).to(score.dtype)
    figures = figures_of(beams.figures.log_mass[whose], arrivals, pairs, kept, depth, whose)
    if not evaluator.system.builds_trees:  # no stack, and nothing to be surprised at but the word
        nothing = torch.zeros_like(figures.structural)
        figures = figures._replace(lexical=figures.surprisal, structural=nothing, stack_depth=nothing)
    trail = Step(beams.trail, arrivals.parent[arrival], arrivals.actions[arrival])
    return Beams(lanes, hidden, score, word, len(words), arena, trail, figures)


def pair_up(arrivals: Arrivals, whose: Tensor) -> Pairs:
    """Arrivals stand sentence by sentence, so those of one sentence follow its first."""
    count = torch.bincount(arrivals.beam, minlength=int(whose.max()) + 1)
    first = count.cumsum(0) - count
    each = count[whose]
    word = torch.repeat_interleave(torch.arange(len(whose), device=whose.device), each)
    arrival = torch.arange(len(word), device=whose.device) - (each.cumsum(0) - each)[word] + first[whose][word]
    return Pairs(arrivals.lanes.fork(arrival), arrivals.hidden[arrival], arrival, word, arrivals.score[arrival].clone())


def with_pieces(evaluator: Evaluator, arrivals: Arrivals, pairs: Pairs, pieces: Tensor) -> Pairs:
    """Score all pieces, computing rows for all but the last."""
    lanes, hidden, score = pairs.lanes, pairs.hidden.clone(), pairs.score
    for number in range(pieces.shape[1]):
        piece = pieces[pairs.word, number]
        now = (piece != NOTHING).nonzero()[:, 0]
        features = lanes.states.features()[now]
        score[now] += evaluator.piece_log_probability(hidden[now], features, piece[now])
        if number + 1 < pieces.shape[1]:
            goes_on = pieces[pairs.word, number + 1] != NOTHING
            piece = torch.where(goes_on, piece, NOTHING)
            starts = torch.full_like(goes_on, number == 0)
            hidden[goes_on] = evaluator.generate(lanes, arrivals.arena, piece, starts_word=starts)
    return pairs._replace(hidden=hidden, score=score)


def compacted(lanes: Lanes, arena: Arena) -> tuple[Lanes, Arena]:
    """The same hypotheses in an arena that holds nothing but their rows."""
    columns = torch.arange(lanes.rows.shape[1], device=lanes.rows.device)
    live = lanes.rows[columns < lanes.size].unique()
    number = torch.zeros(arena.used, dtype=torch.long, device=live.device)
    number[live] = torch.arange(len(live), device=live.device)
    lanes.rows = number[lanes.rows.clamp(0, arena.used - 1)]
    return lanes, arena.keep(live, room=16 * len(lanes))


def figures_of(
    mass_before: Tensor, arrivals: Arrivals, pairs: Pairs, kept: Tensor, depth: Tensor, whose: Tensor
) -> WordFigures:
    """What the word cost, from the hypotheses that are kept."""
    word, score, arrival = pairs.word[kept], pairs.score[kept], pairs.arrival[kept]
    count = len(mass_before)
    mass, found = log_sums(score, word, count), log_sums(pairs.score, pairs.word, count)
    posterior = (score - mass[word]).exp()
    lexical = arrivals.arrival[arrival] - score  # -log p(word | the state before it)
    structural = (score - mass[word]) - (arrivals.arrival[arrival] - mass_before[word])
    return WordFigures(
        log_mass=mass,
        surprisal=mass_before - mass,
        lexical=sums(posterior * lexical, word, count),
        structural=sums(posterior * structural, word, count),
        entropy=sums(-posterior * (score - mass[word]), word, count),
        stack_depth=sums(posterior * depth, word, count),
        kept=arrivals.explored[whose] * (mass - found).exp(),
    )
