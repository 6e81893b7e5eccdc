"""The k best trees: a descent of a chart of best values in, exactly the k best derivations out.

A partial derivation is worth what its best tree is worth, and no two share a tree. So if k of them are worth more than
another, so are k trees, and the other can go: a beam of k loses nothing.
"""

from __future__ import annotations

import torch
from torch import Tensor

from dtg.parser.crf.descent import Choices, Descent
from dtg.parser.crf.spans import take


def best_derivations(descent: Descent, k: int) -> tuple[Tensor, Tensor]:
    """(batch, rows, words) heads, rows <= k, in any order, and (batch, rows) which of them are trees."""
    worth, root = descent.roots.topk(min(k, descent.words))
    beam = descent.begin(root)
    while not descent.finished(beam):
        choices = descent.choices(beam, worth.flatten())
        worth, chosen = top(choices, choices.value, k)
        beam = descent.follow(beam, choices, chosen)
    return descent.heads(beam), worth > -torch.inf


def top(choices: Choices, worth: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """(batch, rows) the worth of each sentence's k best choices, and flat, their numbers.

    Where one sentence has fewer choices than another, its last rows have a worth of minus infinity, and any number.
    """
    counts = choices.offsets.diff().unsqueeze(1)
    most = int(counts.max())
    column = torch.arange(most, device=worth.device)
    number = (choices.offsets[:-1].unsqueeze(1) + column).clamp_(max=worth.shape[0] - 1)
    table = take(worth, number.flatten()).view_as(number).masked_fill_(column >= counts, -torch.inf)
    best, at = table.topk(min(k, most), sorted=False)
    return best, number.gather(1, at).flatten()
