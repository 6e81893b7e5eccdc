"""The words that a model expects after some words: summed over everything in the beam, or given one hypothesis.

A word is a sequence of subwords. The probabilities of first subwords are summed over the candidates just before GEN.
The most probable first subwords are then completed greedily: as long as it is more probable than not that the word is
not over, the most probable subword that continues it is added. A word's probability is that of its subwords; that it
ends there is not in it, just as in surprisal, where that is decided when the next word begins.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from dtg.errors import InputError
from dtg.families.lanes import Lanes
from dtg.search.beams import Beams
from dtg.search.evaluator import PREDICTIONS_AT_ONCE, Evaluator
from dtg.search.expansion import Candidates
from dtg.search.kv_cache import KVCache
from dtg.search.state import BeamState
from dtg.text.tokenizer import Tokenizer
from dtg.transitions.table import GENERATE

CANDIDATES_PER_WORD = 8  # the most probable ones decide how a word is completed
MOST_PIECES = 8  # of one word


@dataclass(frozen=True, slots=True)
class PredictedWord:
    """A word that may come next."""

    word: str
    pieces: tuple[str, ...]
    probability: float  # of its subwords, given what it was asked for


@dataclass(frozen=True, slots=True)
class NextWords:
    """The most probable next words, and what else may happen."""

    words: tuple[PredictedWord, ...]
    new_word: float  # probability that a new word begins
    same_word: float  # probability that the last word is not over: a subword continues it


@torch.inference_mode()
def predict_next_words(state: BeamState, count: int = 10, hypothesis: int | None = None) -> NextWords:
    """What comes next.

    Args:
        state: a search before the first word, or after some.
        count: how many words.
        hypothesis: given only this one, counted from 0; without it, given all that are in the beam.

    Returns:
        Words with their probabilities. What is missing to 1 is the sentence's end, and what the search has pruned.
    """
    evaluator, candidates = state.search.evaluator, state._candidates
    tokenizer = evaluator.model.require_tokenizer()
    scores = state._beams.score
    if hypothesis is not None and not 0 <= hypothesis < len(scores):
        raise InputError(f"there is no hypothesis {hypothesis}; the beam has {len(scores)}, counted from 0.")
    used = state._beams.cache.used
    if hypothesis is None:
        given = state._beams.statistics.log_mass[0]
    else:  # the beam's own candidates would be those that compete with all others
        candidates, given = state.search.expand(alone(state._beams, hypothesis)), scores[hypothesis]
    first = first_pieces(evaluator, candidates, candidates.next_score - given)  # (candidates, subwords)
    starts = tokenizer.starts_word.to(first.device)
    total = first.sum(0)
    best = torch.where(starts, total, 0.0).topk(min(count, int(starts.sum())))
    words = complete(evaluator, tokenizer, candidates, first[:, best.indices], best.indices)
    state._beams.cache.used = used  # what was computed here belongs to no hypothesis
    distinct = {word.word: word for word in reversed(words)}
    return NextWords(
        words=tuple(sorted(distinct.values(), key=lambda word: -word.probability)),
        new_word=float(total[starts].sum()),
        same_word=float(total[~starts].sum()),
    )


def alone(beams: Beams, hypothesis: int) -> Beams:
    """One hypothesis as a beam of its own, which shares the cache."""
    which = torch.tensor([hypothesis], device=beams.beam.device)
    return replace(
        beams,
        lanes=beams.lanes.fork(which),
        hidden=beams.hidden[which],
        score=beams.score[which],
        beam=torch.zeros_like(which),
        count=1,
    )


def first_pieces(evaluator: Evaluator, candidates: Candidates, score: Tensor) -> Tensor:
    """(candidates, subwords) the probability of being in this candidate, then GEN, then this subword."""
    features, found = candidates.lanes.states.features(), []
    columns = (candidates.hidden, features, score)
    for hidden, some, log_weight in zip(*(column.split(PREDICTIONS_AT_ONCE) for column in columns), strict=True):
        found.append((log_weight[:, None] + evaluator.pieces(hidden, some)).exp())
    return torch.cat(found)


def complete(
    evaluator: Evaluator, tokenizer: Tokenizer, candidates: Candidates, joint: Tensor, first: Tensor
) -> list[PredictedWord]:
    """Words from their first subwords; `joint` (candidates, words) says how probable each is with each candidate."""
    device, words = joint.device, joint.shape[1]
    each = min(CANDIDATES_PER_WORD, len(joint))
    weight, which = joint.topk(each, dim=0)  # (each, words)
    probability: list[float] = joint.sum(0).tolist()
    spelling = [[piece] for piece in first.tolist()]
    continues = ~tokenizer.starts_word.to(device) & tokenizer.is_text.to(device)
    lanes = candidates.lanes.fork(which.t().flatten())
    word_of_lane = torch.arange(words, device=device).repeat_interleave(each)
    weight = weight.t().flatten()
    hidden = candidates.hidden[which.t().flatten()]
    piece, starts_word = first[word_of_lane], torch.ones_like(word_of_lane, dtype=torch.bool)
    for _ in range(MOST_PIECES - 1):
        hidden = evaluator.generate(lanes, candidates.cache, hidden, piece, starts_word=starts_word)
        hidden, held = hold_word(evaluator, candidates.cache, lanes, hidden)
        choices, _ = evaluator.choices(lanes, candidates.cache, hidden, words_left=-1)
        pieces = evaluator.pieces(hidden, lanes.states.features())
        following = (held + choices[:, GENERATE, None] + pieces).exp() * continues
        share = torch.zeros(words, following.shape[1], dtype=following.dtype, device=device)
        share.index_add_(0, word_of_lane, following * weight[:, None])
        mass = torch.zeros(words, dtype=weight.dtype, device=device).index_add_(0, word_of_lane, weight)
        share = share / mass.clamp(min=torch.finfo(mass.dtype).tiny)[:, None]
        best = share.max(1)
        goes_on = (share.sum(1) > 0.5) | torch.tensor([not tokenizer.decode(word) for word in spelling], device=device)
        goes_on &= mass > 0
        if not bool(goes_on.any()):
            break
        for word in goes_on.nonzero()[:, 0].tolist():
            spelling[word].append(int(best.indices[word]))
            probability[word] *= float(best.values[word])
        kept = goes_on[word_of_lane].nonzero()[:, 0]
        chosen_piece = best.indices[word_of_lane[kept]]
        weight = weight[kept] * following[kept, chosen_piece]
        lanes, hidden, word_of_lane, piece = lanes.fork(kept), hidden[kept], word_of_lane[kept], chosen_piece
        starts_word = torch.zeros_like(piece, dtype=torch.bool)
    return [
        PredictedWord(tokenizer.decode(pieces), tuple(map(tokenizer.piece, pieces)), share)
        for pieces, share in zip(spelling, probability, strict=True)
    ]


def hold_word(evaluator: Evaluator, cache: KVCache, lanes: Lanes, hidden: Tensor) -> tuple[Tensor, Tensor]:
    """Take what stands between two subwords of a word, where the system has that: hidden vectors, and (lanes, 1) log p."""
    if evaluator.system.within_word is None:
        return hidden, hidden.new_zeros(len(hidden), 1)
    number = evaluator.system.table.id_of(evaluator.system.within_word)
    choices, _ = evaluator.choices(lanes, cache, hidden, words_left=-1)
    taken = torch.full((len(hidden),), number, device=hidden.device)
    return evaluator.take(lanes, cache, hidden, taken), choices[:, number, None]
