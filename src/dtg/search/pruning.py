"""Which hypotheses are too improbable to be followed: by rank, or, where the beam adapts, by their share of the best.

Most improbable hypotheses are variants of better ones, with the same words on the stack. The best hypothesis with each stack
may be kept down to a smaller share than others, and followed by its most probable continuations only; docs/search.md says why
no accuracy asks for that.

Thresholds depend on the best candidates alone, which are found in any order of expansion: no result depends on the size of a
pass, or on what else is in it.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from dtg.families.lanes import Lanes
from dtg.search.beams import Beams
from dtg.search.options import BeamOptions
from dtg.search.ranking import best_of_each, highest, log_sums, ranked

NEXT_TO_BEST = 0.1  # of its probability: no share prunes more than that
MIXERS = (0x9E3779B97F4A7C15 - (1 << 64), 0x2545F4914F6CDD1D)  # odd numbers of 64 bits, as torch has them: with a sign


class Thresholds:
    """What a log-probability must exceed to be followed on the way to the next word, or to be a candidate there.

    They rise as candidates are found.
    """

    def __init__(self, options: BeamOptions, beams: Beams) -> None:
        self.options, self.sentences, self.hypotheses = options, beams.count, len(beams.beam)
        best = highest(beams.score, beams.beam, beams.count)
        nothing = torch.full_like(best, -torch.inf)
        self._at_most = nothing  # by share, no threshold will be higher: candidates above it stay, and may be counted
        if options.is_adaptive:
            # How probable all candidates will be together is not known before all are found, whichever that are. They are
            # taken to be as many times as probable as the best one as the hypotheses are now.
            together = log_sums(beams.score, beams.beam, beams.count)
            self._below_best = below_best(options.smallest_share, together - best)
            self._spared_below = below_best(options.spared_share, together - best)
            self._at_most = best + self._below_best
        self._nothing = nothing

    def update(self, score: Tensor, beam: Tensor, hypothesis: Tensor) -> None:
        """Take notice of all candidates so far: their log-probabilities, sentences, and hypotheses that they come from."""
        options = self.options
        self._of_sentence = self._nothing
        if len(score) >= options.beam:  # there may be enough of them
            stays = (score > self._at_most[beam]).nonzero()[:, 0]
            order, rank = ranked(score[stays], beam[stays])
            last = stays[order[rank == options.beam - 1]]
            self._of_sentence = self._nothing.index_copy(0, beam[last], score[last])
        if options.is_adaptive:
            best = highest(score, beam, self.sentences)
            self._by_share = best + self._below_best
            if options.spares_stacks:
                self._least = best + self._spared_below
                self._own = highest(score, hypothesis, self.hypotheses) + math.log(options.own_share)

    def of(self, beam: Tensor, hypothesis: Tensor) -> Tensor:
        """The threshold of states of these sentences, which come from these hypotheses."""
        found = self._of_sentence[beam]
        if not self.options.is_adaptive:
            return found
        by_share = self._by_share[beam]
        if self.options.spares_stacks:
            by_share = torch.maximum(self._least[beam], torch.minimum(by_share, self._own[hypothesis]))
        return torch.maximum(found, by_share)


def below_best(share: float, together: Tensor) -> Tensor:
    """How far below the best one a share of all is, in nats; `together` is how much more probable all are than the best.

    Never so little that hypotheses next to the best one are lost, however many there are.
    """
    return (
        (together + math.log(share)).clamp(max=math.log(NEXT_TO_BEST))
        if share
        else torch.full_like(together, -torch.inf)
    )


def keep(options: BeamOptions, lanes: Lanes, score: Tensor, word: Tensor, words: int) -> Tensor:
    """Which hypotheses are kept once their word is known: indices, word by word, the best first."""
    if not options.is_adaptive:
        return best_of_each(score, word, options.words_kept)
    best = highest(score, word, words)
    together = log_sums(score, word, words) - best
    below = score - best[word]
    is_kept = below > below_best(options.smallest_share, together)[word]
    if options.spares_stacks:
        soft = (below > below_best(options.spared_share, together)[word]).nonzero()[:, 0]
        group = (stack_number(lanes, soft) ^ (word[soft] * MIXERS[1])).unique(return_inverse=True)[1]
        is_kept[soft[best_of_each(score[soft], group, 1)]] = True
    able = is_kept.nonzero()[:, 0]
    return able[best_of_each(score[able], word[able], options.words_kept)]


def stack_number(lanes: Lanes, which: Tensor) -> Tensor:
    """(lanes,) a number for each of these lanes, the same for the same stack.

    It is made of the stack's depth and the last subword of each item's head; in families that keep no stack of rows, of the
    depth alone.
    """
    items, piece = lanes.states.items[which], lanes.piece[which]
    place = torch.arange(piece.shape[1], device=items.device)
    mixed = (piece + 1) * (place * MIXERS[0] + MIXERS[1])  # overflow is what mixes
    mixed = (mixed ^ (mixed >> 29)) * MIXERS[1]
    return mixed.masked_fill(place >= items, 0).sum(1) * MIXERS[0] + items[:, 0]
