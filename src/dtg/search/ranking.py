"""Numbers in groups: the best of each group, and sums of probabilities over each. Groups are numbered from 0."""

from __future__ import annotations

import torch
from torch import Tensor


def best_of_each(score: Tensor, group: Tensor, count: int) -> Tensor:
    """Indices of the `count` best of every group, group by group, the best first; of equals the first."""
    order, rank = ranked(score, group)
    return order[rank < count]


def ranked(score: Tensor, group: Tensor) -> tuple[Tensor, Tensor]:
    """Indices group by group, the best first, and for each of them its rank within the group, from 0."""
    order = score.argsort(descending=True, stable=True)
    order = order[group[order].argsort(stable=True)]
    sorted_group = group[order]
    first = torch.searchsorted(sorted_group, sorted_group)
    return order, torch.arange(len(order), device=order.device) - first


def highest(score: Tensor, group: Tensor, groups: int) -> Tensor:
    """(groups,) the highest of each group; minus infinity where a group has none."""
    nothing = torch.full((groups,), -torch.inf, dtype=score.dtype, device=score.device)
    return nothing.scatter_reduce(0, group, score, "amax")


def log_sums(score: Tensor, group: Tensor, groups: int) -> Tensor:
    """(groups,) log of the sum of exp(score) over each group; minus infinity where a group has none."""
    most = highest(score, group, groups).clamp(min=torch.finfo(score.dtype).min)
    total = torch.zeros_like(most).index_add(0, group, (score - most[group]).exp())
    return total.log() + most


def sums(value: Tensor, group: Tensor, groups: int) -> Tensor:
    """(groups,) the sum over each group."""
    return torch.zeros(groups, dtype=value.dtype, device=value.device).index_add(0, group, value)
