"""The searches behind the page: states by the words they have read, so that a further word costs one step.

States belong to a tab and go with it. Records are small and are kept as long as the tab; states hold KV caches, so
those that were used longest ago are dropped when all of them together need too much memory, and made again from the
nearest one that is left.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from dtg.errors import InputError, UnknownNameError
from dtg.explore.records import Record, attention_record, ending_record, next_record, word_record
from dtg.model.model import DecoderModel
from dtg.search.beam_search import BeamSearch
from dtg.search.options import Accuracy, BeamOptions
from dtg.search.state import BeamState

MEMORY = 1 << 29  # bytes for all states
IDLE = 900.0  # seconds after which a tab that asks for nothing loses its states
MOST_TABS = 64
MOST_RECORDS = 2_000  # of one tab
REMEMBERED = 1_000  # tabs that were closed

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """Which model reads, and how widely: a beam that adapts, or one of fixed width."""

    model: str
    accuracy: Accuracy | None = None
    beam: int | None = None
    word_beam: int | None = None

    @property
    def options(self) -> BeamOptions:
        """Of the search."""
        return BeamOptions.of(accuracy=self.accuracy, beam=self.beam, word_beam=self.word_beam)


@dataclass(slots=True)
class Tab:
    """What one tab has asked for."""

    states: OrderedDict[tuple[SearchSettings, Words], BeamState] = field(default_factory=OrderedDict)
    records: OrderedDict[tuple[object, ...], Record] = field(default_factory=OrderedDict)
    last_used: float = 0.0


class TabClosedError(Exception):
    """A tab has been closed, and what was to be computed for it is not needed."""


class StateStore:
    """Searches of all tabs. Only one thread may use it."""

    def __init__(
        self,
        models: Mapping[str, DecoderModel],
        *,
        memory: int = MEMORY,
        time_limit: float = math.inf,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.models, self.memory, self.time_limit, self._clock = models, memory, time_limit, clock
        self.tabs: OrderedDict[str, Tab] = OrderedDict()
        self._searches: dict[SearchSettings, BeamSearch] = {}
        self._closed: deque[str] = deque(maxlen=REMEMBERED)

    def word(self, tab: str, search: SearchSettings, words: Words) -> Record:
        """What the last of these words does."""
        return self._record(tab, ("word", search, words), lambda: word_record(self.state(tab, search, words)))

    def ending(self, tab: str, search: SearchSettings, words: Words) -> Record:
        """How a sentence of these words ends."""
        return self._record(tab, ("ending", search, words), lambda: ending_record(self.state(tab, search, words)))

    def next_words(self, tab: str, search: SearchSettings, words: Words, hypothesis: int | None) -> Record:
        """What follows these words."""
        key = ("next", search, words, hypothesis)
        return self._record(tab, key, lambda: next_record(self.state(tab, search, words), hypothesis))

    def attention(self, tab: str, search: SearchSettings, words: Words, hypothesis: int) -> Record:
        """What a hypothesis attends to."""
        key = ("attention", search, words, hypothesis)
        return self._record(tab, key, lambda: attention_record(self.state(tab, search, words), hypothesis))

    def state(self, tab: str, search: SearchSettings, words: Words) -> BeamState:
        """The search after these words, from the longest prefix that is kept."""
        kept = self._tab(tab).states
        read = len(words)
        while read and (search, words[:read]) not in kept:
            read -= 1
        if read:
            state = kept[search, words[:read]]
            kept.move_to_end((search, words[:read]))
        else:
            beam_search = self._search(search)
            state = BeamState(beam_search, beam_search.begin())
        begin = self._clock()
        for count in range(read + 1, len(words) + 1):
            if count > read + 1:
                check_time(self._clock() - begin, self.time_limit)
            state = state.step(words[count - 1])
            kept[search, words[:count]] = state
            self._make_room()
        return state

    def close(self, tab: str) -> None:
        """Free everything that belongs to a tab."""
        self.tabs.pop(tab, None)
        self._closed.append(tab)
        self._forget_searches()

    def close_idle(self) -> None:
        """Free what belongs to tabs that have asked for nothing for a long time."""
        now = self._clock()
        for name in [name for name, tab in self.tabs.items() if now - tab.last_used > IDLE]:
            del self.tabs[name]  # not closed: it may come back, and is computed again then
        self._forget_searches()

    @property
    def size(self) -> int:
        """Bytes of all states' KV caches."""
        caches = {
            id(cache): cache
            for tab in self.tabs.values()
            for state in tab.states.values()
            for cache in [state._beams.cache]
        }
        return sum(cache.table.nbytes for cache in caches.values())

    @property
    def count(self) -> int:
        """How many states are kept."""
        return sum(len(tab.states) for tab in self.tabs.values())

    def _tab(self, name: str) -> Tab:
        if name in self._closed:
            raise TabClosedError
        tab = self.tabs.setdefault(name, Tab())
        tab.last_used = self._clock()
        self.tabs.move_to_end(name)
        while len(self.tabs) > MOST_TABS:
            self.tabs.popitem(last=False)
        return tab

    def _record(self, tab: str, key: tuple[object, ...], make: Callable[[], Record]) -> Record:
        records = self._tab(tab).records
        if key not in records:
            records[key] = make()
            while len(records) > MOST_RECORDS:
                records.popitem(last=False)
        return records[key]

    def _search(self, search: SearchSettings) -> BeamSearch:
        if search not in self._searches:
            if search.model not in self.models:
                raise UnknownNameError("model", search.model, self.models)
            self._searches[search] = BeamSearch(self.models[search.model], search.options)
        return self._searches[search]

    def _make_room(self) -> None:
        """Drop states until they fit; of the least recently used tab first, but never the latest one of all."""
        while self.size > self.memory and self.count > 1:
            oldest = next(tab for tab in self.tabs.values() if tab.states)
            oldest.states.popitem(last=False)

    def _forget_searches(self) -> None:
        if not self.tabs:
            self._searches.clear()


def check_words(words: Words, longest: int) -> None:
    """Raise unless a sentence of these words may be explored."""
    if len(words) > longest:
        raise InputError(f"the sentence has {len(words)} words; up to {longest} can be explored.")


def check_time(seconds: float, limit: float) -> None:
    """Raise if something has taken too long."""
    if seconds > limit:
        raise InputError(too_long(limit))


def too_long(limit: float) -> str:
    """What is said of it."""
    return f"this took longer than {limit:g} seconds; a lower accuracy or a narrower beam is quicker."
