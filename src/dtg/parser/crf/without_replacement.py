"""Distinct trees, drawn one by one without replacement: a descent of a chart of sums in, the first k to arrive out.

Let every tree y arrive at a time of its own, exponential with rate p(y). The first to arrive is y with probability p(y),
and, since exponential times have no memory, each next one is drawn by p renormalised over those not yet there: the order
of arrival is the order of drawing without replacement. The times need not be drawn for every tree. A set of trees S first
arrives at an exponential time with rate p(S), known from the chart; given that a derivation's trees first arrive at t,

    - the choice that this arrival belongs to is drawn by the shares of the choices, whatever t is;
    - every other choice first arrives at t plus a fresh exponential time with the rate of its trees.

Both come of one race: let the choices arrive at independent times with their rates, and move all so that the first is at t;
what the others are late by is fresh, again because these times have no memory. So times go down the derivations step by
step, and as in the search for the k best a beam of k loses nothing: a derivation is as early as its earliest tree.

This is stochastic beam search (Kool, van Hoof and Welling 2019) with times in place of Gumbel variables, time = exp(-Gumbel).
"""

from __future__ import annotations

import torch
from torch import Tensor

from dtg.parser.crf.descent import Choices, Descent
from dtg.parser.crf.k_best import top
from dtg.parser.crf.sampling import first_times, race
from dtg.parser.crf.spans import take


def first_derivations(descent: Descent, k: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """(batch, rows, words) heads, rows <= k, in any order, and (batch, rows) log-times of arrival; infinity is no tree."""
    times, root = race(descent.roots, generator).topk(min(k, descent.words), largest=False)
    mass = descent.roots.gather(1, root).flatten()
    beam = descent.begin(root)
    while not descent.finished(beam):
        choices = descent.choices(beam, mass)
        worth, chosen = top(choices, -arrivals(choices, times.flatten(), generator), k)
        times, mass = -worth, take(choices.value, chosen)
        beam = descent.follow(beam, choices, chosen)
    return descent.heads(beam), times


def arrivals(choices: Choices, times: Tensor, generator: torch.Generator) -> Tensor:
    """(choices,) when the trees of each first arrive, given when those of the (rows,) do, as log-times.

    The choices' values are the log-probabilities of their trees.
    """
    raced = race(choices.value, generator)
    # Infinity, in rows that stand for no tree, as the largest number: what never comes is then late by infinity, not NaN.
    first = first_times(choices, raced, times.shape[0]).clamp_(max=torch.finfo(raced.dtype).max)
    late = (take(first, choices.row) - raced).expm1_().neg_().log_().add_(raced)  # minus infinity for the first
    return torch.logaddexp(take(times, choices.row), late)
