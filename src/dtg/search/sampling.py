"""Draws from log-probabilities with temperature, top-k and top-p."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from dtg.errors import InputError
from dtg.io.settings import NonNegativeFloat, PositiveInt, check_value


def generator_of(*names: object) -> torch.Generator:
    """Random numbers that follow from these names, such as a seed and a sentence, and from nothing else."""
    text = "\n".join(map(str, names)).encode("utf-8", "surrogatepass")
    return torch.Generator().manual_seed(int.from_bytes(hashlib.sha256(text).digest()[:7], "big"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How to draw. Temperature 1 draws from the model as it is, 0 always takes the most probable."""

    temperature: float = 1.0
    top_k: int | None = None  # only among this many subwords
    top_p: float = 1.0  # only among the most probable subwords that together have this probability

    def __post_init__(self) -> None:
        check_value("the temperature", self.temperature, NonNegativeFloat)
        check_value("top_k", self.top_k, PositiveInt | None)
        check_value("top_p", self.top_p, float)
        if not 0.0 < self.top_p <= 1.0:
            raise InputError(f"top_p is {self.top_p}; a number above 0, and at most 1, is expected.")

    @property
    def for_actions(self) -> Sampling:
        """Actions are few, and all stay possible; only the temperature holds for them."""
        return replace(self, top_k=None, top_p=1.0)


def draw(log_probability: Tensor, sampling: Sampling, generator: torch.Generator) -> Tensor:
    """(rows,) one column for each row of (rows, columns); they need not sum to one."""
    if sampling.temperature == 0.0:
        return log_probability.argmax(1)
    scaled = (log_probability / sampling.temperature).log_softmax(1)
    if sampling.top_k is not None and sampling.top_k < scaled.shape[1]:
        lowest = scaled.topk(sampling.top_k, dim=1).values[:, -1:]
        scaled = scaled.masked_fill(scaled < lowest, -torch.inf)
    probability = scaled.softmax(1)
    if sampling.top_p < 1.0:
        ordered, place = probability.sort(1, descending=True)
        before = ordered.cumsum(1) - ordered  # of those that are more probable; the first always stays
        beyond = torch.zeros_like(before, dtype=torch.bool).scatter(1, place, before >= sampling.top_p)
        probability = probability.masked_fill(beyond, 0.0)
    return torch.multinomial(probability, 1, generator=generator)[:, 0]
