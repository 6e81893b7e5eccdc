"""Many sentences at once: words in pieces in, what each word cost out. Equal beginnings are searched once.

Sentences form a tree of beginnings. A few beginnings at a time, of the earliest sentences first, go one word further
together, wherever in their sentences they are; so the work at hand stays the same from the first word to the last, and
results come in order.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

import torch

from dtg.search.beam_search import Search
from dtg.search.beams import Beams, join, select
from dtg.search.expansion import Arrivals
from dtg.search.word_step import NextWord

Pieces = tuple[int, ...]
HYPOTHESES_AT_ONCE = 2_400  # a pass should be large enough to be worth it; more does not make it faster, only larger
WORDS_AT_ONCE = 256  # at most, by narrow beams
BYTES_AT_ONCE = 1 << 30  # for keys and values


@dataclass(frozen=True, slots=True)
class SearchedSentence:
    """The figures of every word (see `WordFigures`), and log p(x), which is NaN if ends are not asked for."""

    words: tuple[tuple[float, ...], ...]
    log_probability: float


@dataclass(slots=True, eq=False)
class Beginning:
    """The first words of some sentences."""

    first: int  # the earliest sentence that begins like this
    before: Beginning | None = None
    figures: tuple[float, ...] = ()  # of its last word
    longer: dict[Pieces, Beginning] = field(default_factory=dict)
    waiting: list[Pieces] = field(default_factory=list)  # of `longer`, what has not been searched yet
    sentences: list[int] = field(default_factory=list)  # those that end here
    beams: tuple[Beams, int] | None = None  # the hypotheses after it: whose they are, and which
    arrivals: tuple[Beams, Arrivals, int] | None = None  # the ways to the next word, while words are waiting

    def all_figures(self) -> tuple[tuple[float, ...], ...]:
        found, here = [], self
        while here.before is not None:
            found.append(here.figures)
            here = here.before
        return tuple(reversed(found))


def tree_of(sentences: Sequence[Sequence[Pieces]]) -> Beginning:
    """Every different beginning once."""
    root = Beginning(0)
    for number, words in enumerate(sentences):
        here = root
        for pieces in words:
            if pieces not in here.longer:
                here.longer[pieces] = Beginning(number, here)
                here.waiting.append(pieces)
            here = here.longer[pieces]
        here.sentences.append(number)
    return root


def search_all(
    search: Search, sentences: Sequence[Sequence[Pieces]], at_once: int | None = None, ends: bool = True
) -> Iterator[SearchedSentence]:
    """Every sentence's figures, in order; `at_once` is how many words are searched together."""
    at_once = words_at_once(search) if at_once is None else at_once
    root = tree_of(sentences)
    root.beams = (search.begin(), 0)
    ticket = count()  # where two beginnings start with the same sentence, the one found first goes first
    ready = [(root.first, next(ticket), root)]
    done: dict[int, SearchedSentence] = {}
    following = 0
    while ready:
        now, words = next_words(ready, at_once)
        finish(search, [here for here in now if here.sentences], done, ends)
        prepare(search, [here for here in now if here.waiting and here.arrivals is None])
        for longer in go_on(search, words):
            heapq.heappush(ready, (longer.first, next(ticket), longer))
        for here in now:
            here.beams = None
            if here.waiting:
                heapq.heappush(ready, (here.longer[here.waiting[0]].first, next(ticket), here))
            else:
                here.arrivals = None
        while following in done:
            yield done.pop(following)
            following += 1


def next_words(
    ready: list[tuple[int, int, Beginning]], at_once: int
) -> tuple[list[Beginning], list[tuple[Beginning, list[Pieces]]]]:
    """Take beginnings from the heap until enough words follow them; those without words only have to be ended."""
    now: list[Beginning] = []
    words: list[tuple[Beginning, list[Pieces]]] = []
    number = 0
    while ready and number < at_once and len(now) < at_once:
        here = heapq.heappop(ready)[2]
        some = here.waiting[: at_once - number]
        now.append(here)
        words.append((here, some))
        number += len(some)
    return now, words


def finish(search: Search, ended: Sequence[Beginning], done: dict[int, SearchedSentence], ends: bool) -> None:
    """Take down the sentences that are complete, and what their ends cost."""
    if not ended:
        return
    found = search.end(together(ended)).log_probability.tolist() if ends else [math.nan] * len(ended)
    for here, log_probability in zip(ended, found, strict=True):
        for sentence in here.sentences:
            done[sentence] = SearchedSentence(here.all_figures(), log_probability)
        here.sentences = []


def prepare(search: Search, some: Sequence[Beginning]) -> None:
    """Find the ways to the next word."""
    if some:
        beams = together(some)
        arrivals = search.arrive(beams)
        for place, here in enumerate(some):
            here.arrivals = (beams, arrivals, place)


def go_on(search: Search, words: Sequence[tuple[Beginning, list[Pieces]]]) -> Iterator[Beginning]:
    """The longer beginnings, with their hypotheses."""
    by_arrivals: dict[int, list[tuple[Beginning, Pieces]]] = {}
    for here, some in words:
        for pieces in some:
            by_arrivals.setdefault(id(here.arrivals[1]) if here.arrivals else 0, []).append((here, pieces))
        del here.waiting[: len(some)]
    for pairs in by_arrivals.values():
        assert pairs[0][0].arrivals is not None
        beams, arrivals, _ = pairs[0][0].arrivals
        following = [NextWord(here.arrivals[2], pieces) for here, pieces in pairs if here.arrivals is not None]
        after = search.step(beams, arrivals, following)
        figures = torch.stack(after.figures, dim=1).tolist()
        for place, (here, pieces) in enumerate(pairs):
            longer = here.longer[pieces]
            longer.beams, longer.figures = (after, place), tuple(figures[place])
            yield longer


@torch.inference_mode()
def together(some: Sequence[Beginning]) -> Beams:
    """The hypotheses of several beginnings, in their order."""
    parts: list[tuple[Beams, list[int]]] = []
    for here in some:
        assert here.beams is not None
        beams, place = here.beams
        if parts and parts[-1][0] is beams:
            parts[-1][1].append(place)
        else:
            parts.append((beams, [place]))
    return join([select(beams, places) for beams, places in parts])


def words_at_once(search: Search) -> int:
    """As many as make a pass worthwhile and fit into memory."""
    config = search.evaluator.model.config
    weight = search.evaluator.model.decoder.embedding.weight
    row = config.layers * 2 * config.attention_heads * config.head_width * weight.element_size()
    rows = 4 * search.options.beam  # about as many are alive at a time
    return max(1, min(HYPOTHESES_AT_ONCE // search.options.beam, BYTES_AT_ONCE // (row * rows), WORDS_AT_ONCE))
