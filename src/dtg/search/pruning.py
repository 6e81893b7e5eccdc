"""Which hypotheses are too improbable to be followed: by rank, or, where the beam adapts, by their share of the best.

Thresholds depend on the best candidates alone, which are found in any order of expansion: no result depends on the size of a
pass, or on what else is in it.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from dtg.search.beams import Beams
from dtg.search.options import BeamOptions
from dtg.search.ranking import best_of_each, highest, log_sums, ranked

NEXT_TO_BEST = 0.1  # of its probability: no share prunes more than that


class Thresholds:
    """What a log-probability must exceed to be followed on the way to the next word, or to be a candidate there.

    They rise as candidates are found.
    """

    def __init__(self, options: BeamOptions, beams: Beams) -> None:
        self.options, self.sentences = options, beams.count
        best = highest(beams.score, beams.beam, beams.count)
        nothing = torch.full_like(best, -torch.inf)
        self._at_most = nothing  # by share, no threshold will be higher: candidates above it stay, and may be counted
        if options.is_adaptive:
            # How probable all candidates will be together is not known before all are found, whichever that are. They are
            # taken to be as many times as probable as the best one as the hypotheses are now.
            together = log_sums(beams.score, beams.beam, beams.count)
            self._below_best = below_best(options.smallest_share, together - best)
            self._at_most = best + self._below_best
        self._nothing = nothing

    def update(self, score: Tensor, beam: Tensor) -> None:
        """Take notice of all candidates so far: their log-probabilities and sentences."""
        options = self.options
        self._of_sentence = self._nothing
        if len(score) >= options.beam:  # there may be enough of them
            stays = (score > self._at_most[beam]).nonzero()[:, 0]
            order, rank = ranked(score[stays], beam[stays])
            last = stays[order[rank == options.beam - 1]]
            self._of_sentence = self._nothing.index_copy(0, beam[last], score[last])
        if options.is_adaptive:
            by_share = highest(score, beam, self.sentences) + self._below_best
            self._of_sentence = torch.maximum(self._of_sentence, by_share)

    def of(self, beam: Tensor) -> Tensor:
        """The threshold of states of these sentences."""
        return self._of_sentence[beam]

    def are_likely(self, score: Tensor, beam: Tensor) -> Tensor:
        """Which expansions to carry out next, if the beam adapts: all, but of a sentence without candidates only those that
        would be followed if its best expansion were a candidate. Most others turn out too improbable once there is one.
        """
        best = highest(score, beam, self.sentences)
        bar = torch.where(self._of_sentence == -torch.inf, best + self._below_best, self._nothing)
        return score > bar[beam]


def below_best(share: float, together: Tensor) -> Tensor:
    """How far below the best one a share of all is, in nats; `together` is how much more probable all are than the best.

    Never so little that hypotheses next to the best one are lost, however many there are.
    """
    return (together + math.log(share)).clamp(max=math.log(NEXT_TO_BEST))


def keep(options: BeamOptions, score: Tensor, word: Tensor, words: int) -> Tensor:
    """Which hypotheses are kept once their word is known: indices, word by word, the best first."""
    if not options.is_adaptive:
        return best_of_each(score, word, options.words_kept)
    best = highest(score, word, words)
    together = log_sums(score, word, words) - best
    below = score - best[word]
    able = (below > below_best(options.smallest_share, together)[word]).nonzero()[:, 0]
    return able[best_of_each(score[able], word[able], options.words_kept)]
