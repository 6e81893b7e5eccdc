"""Searches many sentences at once, as a prefix trie: equal prefixes are searched once.

A few prefixes at a time, of the earliest sentences first, are extended by one word together, wherever in their sentences
they are; so the work at hand stays the same from the first word to the last, and results come in order.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

import torch

from dtg.search.beam_search import BeamSearch
from dtg.search.beams import Beams, join, select
from dtg.search.expansion import Candidates
from dtg.search.word_step import NextWord

Pieces = tuple[int, ...]
HYPOTHESES_AT_ONCE = 2_400  # a pass should be large enough to be worth it; more does not make it faster, only larger
WORDS_AT_ONCE = 256  # at most, by narrow beams
BYTES_AT_ONCE = 1 << 30  # for keys and values


@dataclass(frozen=True, slots=True)
class SearchedSentence:
    """The statistics of every word (see `WordStatistics`; columns asked for follow), and log p(x), NaN if not asked for."""

    words: tuple[tuple[float, ...], ...]
    log_probability: float


@dataclass(slots=True, eq=False)
class PrefixNode:
    """The first words of some sentences."""

    first: int  # the earliest sentence that begins like this
    parent: PrefixNode | None = None
    statistics: tuple[float, ...] = ()  # of its last word
    children: dict[Pieces, PrefixNode] = field(default_factory=dict)
    pending: list[Pieces] = field(default_factory=list)  # of `children`, what has not been searched yet
    sentences: list[int] = field(default_factory=list)  # those that end here
    beams: tuple[Beams, int] | None = None  # the hypotheses after it: whose they are, and which
    candidates: tuple[Beams, Candidates, int] | None = None  # for the next word, while words are pending

    def all_statistics(self) -> tuple[tuple[float, ...], ...]:
        """Of every word from the first on."""
        found, here = [], self
        while here.parent is not None:
            found.append(here.statistics)
            here = here.parent
        return tuple(reversed(found))


def make_trie(sentences: Sequence[Sequence[Pieces]]) -> PrefixNode:
    """Every different prefix once."""
    root = PrefixNode(0)
    for number, words in enumerate(sentences):
        here = root
        for pieces in words:
            if pieces not in here.children:
                here.children[pieces] = PrefixNode(number, here)
                here.pending.append(pieces)
            here = here.children[pieces]
        here.sentences.append(number)
    return root


def search_all(
    search: BeamSearch, sentences: Sequence[Sequence[Pieces]], at_once: int | None = None, ends: bool = True
) -> Iterator[SearchedSentence]:
    """Every sentence's statistics, in order; `at_once` is how many words are searched together."""
    at_once = words_at_once(search) if at_once is None else at_once
    root = make_trie(sentences)
    root.beams = (search.begin(), 0)
    ticket = count()  # where two prefixes start with the same sentence, the one found first goes first
    ready = [(root.first, next(ticket), root)]
    done: dict[int, SearchedSentence] = {}
    following = 0
    while ready:
        now, words = next_words(ready, at_once)
        ended = [here for here in now if here.sentences]
        further = [here for here in now if here.pending and here.candidates is None]
        found = find_candidates(search, further, ended if ends else [])
        record_sentences(ended, found if ends else [math.nan] * len(ended), done)
        for child in extend(search, words):
            heapq.heappush(ready, (child.first, next(ticket), child))
        for here in now:
            here.beams = None
            if here.pending:
                heapq.heappush(ready, (here.children[here.pending[0]].first, next(ticket), here))
            else:
                here.candidates = None
        while following in done:
            yield done.pop(following)
            following += 1


def next_words(
    ready: list[tuple[int, int, PrefixNode]], at_once: int
) -> tuple[list[PrefixNode], list[tuple[PrefixNode, list[Pieces]]]]:
    """Take prefixes from the heap until enough words follow them; those without words only have to be ended."""
    now: list[PrefixNode] = []
    words: list[tuple[PrefixNode, list[Pieces]]] = []
    number = 0
    while ready and number < at_once and len(now) < at_once:
        here = heapq.heappop(ready)[2]
        some = here.pending[: at_once - number]
        now.append(here)
        words.append((here, some))
        number += len(some)
    return now, words


def find_candidates(search: BeamSearch, further: Sequence[PrefixNode], ended: Sequence[PrefixNode]) -> list[float]:
    """Expand prefixes up to the next word, and together with them others up to their end; gives log p(x) of the latter."""
    if not further and not ended:
        return []
    beams = together([*further, *ended])
    candidates, log_probability = search.expand_or_end(beams, [False] * len(further) + [True] * len(ended))
    for place, here in enumerate(further):
        here.candidates = (beams, candidates, place)
    found: list[float] = log_probability[len(further) :].tolist()
    return found


def record_sentences(ended: Sequence[PrefixNode], found: Sequence[float], done: dict[int, SearchedSentence]) -> None:
    """Record the sentences that are complete, and what their ends cost."""
    for here, log_probability in zip(ended, found, strict=True):
        for sentence in here.sentences:
            done[sentence] = SearchedSentence(here.all_statistics(), log_probability)
        here.sentences = []


def extend(search: BeamSearch, words: Sequence[tuple[PrefixNode, list[Pieces]]]) -> Iterator[PrefixNode]:
    """The prefixes with one word more, with their hypotheses."""
    groups: dict[int, list[tuple[PrefixNode, Pieces]]] = {}
    for here, some in words:
        for pieces in some:
            groups.setdefault(id(here.candidates[1]) if here.candidates else 0, []).append((here, pieces))
        del here.pending[: len(some)]
    for pairs in groups.values():
        assert pairs[0][0].candidates is not None
        beams, candidates, _ = pairs[0][0].candidates
        following = [NextWord(here.candidates[2], pieces) for here, pieces in pairs if here.candidates is not None]
        after = search.step(beams, candidates, following)
        statistics = torch.stack(after.statistics, dim=1)
        if after.measured is not None:
            statistics = torch.cat([statistics, after.measured.columns], dim=1)
        of_each = statistics.tolist()
        for place, (here, pieces) in enumerate(pairs):
            child = here.children[pieces]
            child.beams, child.statistics = (after, place), tuple(of_each[place])
            yield child


@torch.inference_mode()
def together(some: Sequence[PrefixNode]) -> Beams:
    """The hypotheses of several prefixes, in their order."""
    parts: list[tuple[Beams, list[int]]] = []
    for here in some:
        assert here.beams is not None
        beams, place = here.beams
        if parts and parts[-1][0] is beams:
            parts[-1][1].append(place)
        else:
            parts.append((beams, [place]))
    return join([select(beams, places) for beams, places in parts])


def words_at_once(search: BeamSearch) -> int:
    """As many as make a pass worthwhile and fit into memory."""
    config = search.evaluator.model.config
    weight = search.evaluator.model.decoder.embedding.weight
    row = config.layers * 2 * config.attention_heads * config.head_width * weight.element_size()
    beam = search.options.typical_beam
    rows = 4 * beam  # about as many are alive at a time
    return max(1, min(HYPOTHESES_AT_ONCE // beam, BYTES_AT_ONCE // (row * rows), WORDS_AT_ONCE))
