"""Hypotheses of many sentences, all just after a word: what a word-synchronous search keeps between two words.

Hypotheses stand sentence by sentence (`beam` says which), the best first. Nothing here is changed once it is made, so any
number of searches may continue from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from dtg.families.lanes import Lanes
from dtg.model.precision import finest
from dtg.search.backpointers import Backpointers, JoinedBackpointers, Start
from dtg.search.kv_cache import KVCache
from dtg.search.measures.arcs import ItemWords


class WordStatistics(NamedTuple):
    """What is reported of the word that each sentence has just generated: (sentences,) each, in nats."""

    log_mass: Tensor  # log p(the words so far), as far as the search kept it
    surprisal: Tensor
    lexical: Tensor
    structural: Tensor
    entropy: Tensor  # of the distribution over hypotheses
    stack_depth: Tensor  # words on the stack, in expectation over hypotheses
    kept: Tensor  # share of the probability that was kept at this word


@dataclass(frozen=True, slots=True)
class MeasuredWords:
    """The columns asked for, of the word that each sentence has just generated, and what the next word's need to know."""

    columns: Tensor  # (sentences, columns)
    items: ItemWords | None = None  # of each hypothesis
    read: Tensor | None = None  # (sentences, 2) words, and content words, so far

    def select(self, chosen: list[int], hypotheses: Tensor) -> MeasuredWords:
        items = None if self.items is None else self.items.fork(hypotheses)
        return MeasuredWords(self.columns[chosen], items, None if self.read is None else self.read[chosen])

    @staticmethod
    def join(parts: Sequence[MeasuredWords | None]) -> MeasuredWords | None:
        """Of several searches; None if some are before their first words, where nothing is known yet."""
        some = [part for part in parts if part is not None]
        if len(some) < len(parts):
            return None
        items = [part.items for part in some if part.items is not None]
        read = [part.read for part in some if part.read is not None]
        columns = torch.cat([part.columns for part in some])
        return MeasuredWords(columns, ItemWords.join(items) if items else None, torch.cat(read) if read else None)


@dataclass(frozen=True, slots=True)
class Beams:
    """The hypotheses, and the KV cache that their rows are in."""

    lanes: Lanes
    hidden: Tensor  # (hypotheses, width) of the row that predicts what follows
    score: Tensor  # (hypotheses,) log-probability of everything so far, as fine as the device has it
    beam: Tensor  # (hypotheses,) which sentence, ascending
    count: int  # sentences
    cache: KVCache
    backpointers: Backpointers
    statistics: WordStatistics
    measured: MeasuredWords | None = None  # None before the first word, and where nothing is asked for

    def hypotheses(self, beam: int) -> Tensor:
        """Places of one sentence's hypotheses, the best first."""
        return (self.beam == beam).nonzero()[:, 0]


def at_start(lanes: Lanes, cache: KVCache, hidden: Tensor) -> Beams:
    """One sentence before its first word: one hypothesis, certain."""
    zero = torch.zeros(1, dtype=finest(hidden.device), device=hidden.device)
    statistics = WordStatistics(zero, zero, zero, zero, zero, zero, zero + 1)
    return Beams(lanes, hidden, zero, torch.zeros_like(zero, dtype=torch.long), 1, cache, Start(), statistics)


def select(beams: Beams, chosen: Sequence[int]) -> Beams:
    """These sentences, in this order; hypotheses are copied, the cache is shared."""
    if list(chosen) == list(range(beams.count)):
        return beams
    places = [beams.hypotheses(number) for number in chosen]
    lanes = torch.cat(places)
    beam = torch.cat([torch.full_like(some, number) for number, some in enumerate(places)])
    statistics = WordStatistics(*(column[list(chosen)] for column in beams.statistics))
    backpointers = JoinedBackpointers((beams.backpointers,), torch.zeros_like(lanes), lanes)
    return Beams(
        beams.lanes.fork(lanes),
        beams.hidden[lanes],
        beams.score[lanes],
        beam,
        len(chosen),
        beams.cache,
        backpointers,
        statistics,
        None if beams.measured is None else beams.measured.select(list(chosen), lanes),
    )


def join(parts: Sequence[Beams]) -> Beams:
    """The sentences of several searches together, in one cache: the largest of theirs, with what the others can see added."""
    if len(parts) == 1:
        return parts[0]
    cache, names = joined_cache(parts)
    lanes, beam, part, parent = [], [], [], []
    sentences = 0
    for number, beams in enumerate(parts):
        lanes.append(beams.lanes.renamed(names[id(beams.cache)]))
        beam.append(beams.beam + sentences)
        part.append(torch.full_like(beams.beam, number))
        parent.append(torch.arange(len(beams.beam), device=beams.beam.device))
        sentences += beams.count
    statistics = WordStatistics(*(torch.cat(columns) for columns in zip(*(p.statistics for p in parts), strict=True)))
    return Beams(
        Lanes.join(lanes),
        torch.cat([beams.hidden for beams in parts]),
        torch.cat([beams.score for beams in parts]),
        torch.cat(beam),
        sentences,
        cache,
        JoinedBackpointers(tuple(beams.backpointers for beams in parts), torch.cat(part), torch.cat(parent)),
        statistics,
        MeasuredWords.join([beams.measured for beams in parts]),
    )


def joined_cache(parts: Sequence[Beams]) -> tuple[KVCache, dict[int, Tensor]]:
    """One cache for several searches; and, for each of theirs, the numbers that its rows have there."""
    cache = max((beams.cache for beams in parts), key=lambda cache: cache.used)
    names = {id(cache): torch.arange(cache.used, device=parts[0].beam.device)}
    for beams in parts:
        other = beams.cache
        if id(other) in names:
            continue
        live = torch.cat([some.lanes.visible() for some in parts if some.cache is other]).unique()
        first = cache.add(other, live)
        names[id(other)] = torch.zeros(other.used, dtype=torch.long, device=live.device)
        names[id(other)][live] = torch.arange(first, cache.used, device=live.device)
    return cache, names
