"""Independent trees: a descent of a chart of sums in, k derivations for each sentence out, every choice drawn by its share."""

from __future__ import annotations

import torch
from torch import Tensor

from dtg.parser.crf.descent import Choices, Descent
from dtg.parser.crf.spans import take


def independent_derivations(descent: Descent, k: int, generator: torch.Generator) -> Tensor:
    """(batch, k, words) heads."""
    root = race(descent.roots.repeat_interleave(k, 0), generator).argmin(1)
    derivations = descent.begin(root.view(descent.batch, k))
    rows = root.shape[0]
    certain = descent.roots.new_zeros(rows)
    while not descent.finished(derivations):
        choices = descent.choices(derivations, certain)
        times = race(choices.value, generator)
        is_first = times == take(first_times(choices, times, rows), choices.row)
        number = is_first.nonzero().squeeze(1)
        chosen = torch.empty_like(root).scatter_(0, take(choices.row, number), number)  # one, should two be first
        derivations = descent.follow(derivations, choices, chosen)
    return descent.heads(derivations)


def race(log_rates: Tensor, generator: torch.Generator) -> Tensor:
    """Log of an exponential time for each rate. The first of several is each with probability proportional to its rate."""
    uniform = torch.rand(log_rates.shape, dtype=log_rates.dtype, device=log_rates.device, generator=generator)
    smallest = torch.finfo(uniform.dtype).tiny  # in place of 0, whose logarithm is no time
    return uniform.clamp_(min=smallest).log_().neg_().log_().sub_(log_rates)


def first_times(choices: Choices, times: Tensor, rows: int) -> Tensor:
    """(rows,) the earliest of the (choices,) times of each row."""
    return times.new_full((rows,), torch.inf).scatter_reduce_(0, choices.row, times, "amin")
