"""Which derivations a descent follows: the k best, k drawn independently, or k drawn without replacement.

**k best.** In a chart of best values, a partial derivation is worth what its best tree is worth, and no two share a tree. So
if k of them are worth more than another, there are k better trees, and the other can be pruned: a beam of k is exact.

**Without replacement.** In a chart of sums, let every tree y arrive at a time of its own, exponential with rate p(y). The first
to arrive is y with probability p(y), and, since exponential times have no memory, each next one is drawn by p renormalised
over those that have not arrived: the order of arrival is the order of drawing without replacement. The times need not be
drawn for every tree. A set of trees S first arrives at an exponential time with rate p(S), known from the chart; given that a
derivation's trees first arrive at t,

    - the choice that this arrival belongs to is drawn by the shares of the choices, whatever t is;
    - every other choice first arrives at t plus a fresh exponential time with the rate of its trees.

Both come from one race: let the choices arrive at independent times with their rates, and shift all of them so that the first
is at t; the delays of the others are fresh, again because these times have no memory. So times are passed down the
derivations step by step, and as for the k best a beam of k is exact: a derivation is as early as its earliest tree.

This is stochastic beam search (Kool, van Hoof and Welling 2019) with times in place of Gumbel variables, time = exp(-Gumbel).
"""

from __future__ import annotations

import torch
from torch import Tensor

from dtg.parser.crf.descent import Choices, Derivations, Descent, take


def best_derivations(descent: Descent, k: int) -> tuple[Derivations, Tensor]:
    """At most k finished derivations of each sentence, in any order, and which (batch, rows) of them are trees."""
    roots = descent.items.roots
    worth, root = roots.topk(min(k, roots.shape[1]))
    beam = descent.begin(root)
    while not descent.is_finished(beam):
        choices = descent.choices(beam, worth.flatten())
        worth, chosen = top_choices(choices, choices.value, k)
        beam = descent.follow(beam, choices, chosen)
    return beam, worth > -torch.inf


def independent_derivations(descent: Descent, k: int, generator: torch.Generator) -> Derivations:
    """k finished derivations of each sentence, every choice drawn by its share."""
    roots = descent.items.roots
    root = exponential_times(roots.repeat_interleave(k, 0), generator).argmin(1)
    derivations = descent.begin(root.view(descent.items.batch, k))
    rows = root.shape[0]
    certain = roots.new_zeros(rows)
    while not descent.is_finished(derivations):
        choices = descent.choices(derivations, certain)
        times = exponential_times(choices.value, generator)
        is_first = times == take(first_times(choices, times, rows), choices.row)
        index = is_first.nonzero().squeeze(1)
        chosen = torch.empty_like(root).scatter_(0, take(choices.row, index), index)  # one, should two be first
        derivations = descent.follow(derivations, choices, chosen)
    return derivations


def distinct_derivations(descent: Descent, k: int, generator: torch.Generator) -> tuple[Derivations, Tensor]:
    """At most k finished derivations, drawn without replacement, in any order, and their (batch, rows) log-times of arrival.

    The order of the times is the order of drawing; a time of infinity is no tree.
    """
    roots = descent.items.roots
    times, root = exponential_times(roots, generator).topk(min(k, roots.shape[1]), largest=False)
    mass = roots.gather(1, root).flatten()
    beam = descent.begin(root)
    while not descent.is_finished(beam):
        choices = descent.choices(beam, mass)
        worth, chosen = top_choices(choices, -arrival_times(choices, times.flatten(), generator), k)
        times, mass = -worth, take(choices.value, chosen)
        beam = descent.follow(beam, choices, chosen)
    return beam, times


def top_choices(choices: Choices, worth: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """(batch, rows) the worth of each sentence's k best choices, and flat, their indices.

    Where one sentence has fewer choices than another, its last rows have a worth of minus infinity, and any index.
    """
    counts = choices.offsets.diff().unsqueeze(1)
    most = int(counts.max())
    column = torch.arange(most, device=worth.device)
    index = (choices.offsets[:-1].unsqueeze(1) + column).clamp_(max=worth.shape[0] - 1)
    table = take(worth, index.flatten()).view_as(index).masked_fill_(column >= counts, -torch.inf)
    best, at = table.topk(min(k, most), sorted=False)
    return best, index.gather(1, at).flatten()


def exponential_times(log_rates: Tensor, generator: torch.Generator) -> Tensor:
    """The log of an exponential time for each rate. The first of several is each with probability proportional to its rate."""
    uniform = torch.rand(log_rates.shape, dtype=log_rates.dtype, device=log_rates.device, generator=generator)
    smallest = torch.finfo(uniform.dtype).tiny  # in place of 0, whose logarithm is no time
    return uniform.clamp_(min=smallest).log_().neg_().log_().sub_(log_rates)


def first_times(choices: Choices, times: Tensor, rows: int) -> Tensor:
    """(rows,) the earliest of the (choices,) times of each row."""
    return times.new_full((rows,), torch.inf).scatter_reduce_(0, choices.row, times, "amin")


def arrival_times(choices: Choices, times: Tensor, generator: torch.Generator) -> Tensor:
    """(choices,) when the trees of each first arrive, given when those of the (rows,) do, as log-times.

    The choices' values are the log-probabilities of their trees.
    """
    raced = exponential_times(choices.value, generator)
    # Infinity, in rows that stand for no tree, as the largest number: what never arrives then has a delay of infinity, not NaN.
    first = first_times(choices, raced, times.shape[0]).clamp_(max=torch.finfo(raced.dtype).max)
    delay = (take(first, choices.row) - raced).expm1_().neg_().log_().add_(raced)  # minus infinity for the first
    return torch.logaddexp(take(times, choices.row), delay)
