"""Times collected word by word: means over readers, and a count of everything that does not count."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dtg.errors import InputError
from dtg.evaluation.tasks.reading.places import Place, WordRow
from dtg.io.messages import pluralize
from dtg.tables.formats import number_in


@dataclass(frozen=True, slots=True)
class SingleReading:
    """One participant's time at a word."""

    participant: str
    word: int  # its place among the words
    time: float


@dataclass(frozen=True, slots=True)
class TimedWord:
    """A word of a text."""

    story: str
    sentence: str
    position: int  # in the sentence, from 1
    word: str
    time: float | None  # the mean in ms
    log_time: float | None  # the mean of logarithms
    readings: int  # over how many


@dataclass(frozen=True, slots=True)
class Collected:
    """Words in their order, with what was read of each."""

    words: tuple[TimedWord, ...]
    readings: tuple[SingleReading, ...]
    differing: tuple[tuple[WordRow, Place, str], ...]  # rows with another word than the first at their place
    twice: tuple[tuple[WordRow, Place], ...]  # rows of a place that was there before, where nobody says who read it
    left_out: tuple[float, ...]
    skipped: int
    without: int
    again: int  # readings of a word by somebody who has read it before
    limits: tuple[float, float]

    @classmethod
    def of(
        cls, rows: Sequence[WordRow], places: Sequence[Place], time_column: str, limits: tuple[float, float]
    ) -> Collected:
        """Collect times word by word."""
        numbers: dict[tuple[str, str, int], int] = {}
        words: list[TimedWord] = []
        orders: list[tuple[int, int]] = []
        times: list[list[float]] = []
        readings: list[SingleReading] = []
        differing, twice, left_out = list[tuple[WordRow, Place, str]](), list[tuple[WordRow, Place]](), list[float]()
        skipped = without = again_read = 0
        read: set[tuple[str, int]] = set()
        for row, at in zip(rows, places, strict=True):
            place = numbers.setdefault((at.story, at.sentence, at.position), len(words))
            if place == len(words):
                words.append(TimedWord(at.story, at.sentence, at.position, row.word, None, None, 0))
                orders.append(at.order)
                times.append([])
            elif not row.participant:
                twice.append((row, at))
            elif words[place].word != row.word:
                differing.append((row, at, words[place].word))
            time = number_in(dict(row.cells), time_column, float, row.where)
            if time is not None and time < 0:
                raise InputError(f"{row.where}: the time is {time:g}; times are in ms, above 0, or empty.")
            if time is None:
                without += 1
            elif time == 0:  # in eye tracking, a word that was skipped
                skipped += 1
            elif row.participant and not limits[0] <= time <= limits[1]:
                left_out.append(time)
            else:
                times[place].append(time)
                if row.participant:
                    again_read += (row.participant, place) in read
                    read.add((row.participant, place))
                    readings.append(SingleReading(row.participant, place, time))
        stories = {story: rank for rank, story in enumerate(dict.fromkeys(one.story for one in words))}
        order = sorted(range(len(words)), key=lambda place: (stories[words[place].story], orders[place]))
        again = {old: new for new, old in enumerate(order)}
        return cls(
            tuple(with_means(words[old], times[old]) for old in order),
            tuple(replace(one, word=again[one.word]) for one in readings),
            tuple(differing),
            tuple(twice),
            tuple(left_out),
            skipped,
            without,
            again_read,
            limits,
        )

    def repeated_sentence(self) -> str | None:
        """A sentence that is there several times, if most are; None otherwise."""
        texts: dict[tuple[str, str], list[str]] = {}
        for one in self.words:
            texts.setdefault((one.story, one.sentence), []).append(one.word)
        counts = Counter(" ".join(words) for words in texts.values() if len(words) > 1)
        most = sum(count for count in counts.values() if count > 1) > len(texts) / 2
        return counts.most_common(1)[0][0] if most else None

    def notes(self) -> list[str]:
        """What was left out."""
        found = []
        if self.readings:
            people = len({one.participant for one in self.readings})
            found.append(f"means over {pluralize(people, 'participant')}, of {len(self.readings):,} readings.")
        if self.left_out:
            low, high = self.limits
            found.append(
                f"{pluralize(len(self.left_out), 'reading')} shorter than {low:g} or longer than {high:g} ms left out."
            )
        if self.skipped:
            found.append(f"{pluralize(self.skipped, 'time')} of 0 ms counted as missing: words that were skipped.")
        if self.without:
            found.append(f"{pluralize(self.without, 'row')} without a time.")
        if self.again:
            found.append(
                f"{pluralize(self.again, 'reading')} of a word that the same participant has read before: each counts. Are "
                "rows single fixations, or was a text read twice?"
            )
        if self.differing:
            row, at, other = self.differing[0]
            found.append(
                f"{pluralize(len(self.differing), 'row')} with another word than the first reader's, which counts: "
                f"{row.word!r} and {other!r} at word {at.position} of {sentence_name(at)}, for one."
            )
        starts = [one for one in firsts(self.words) if one.position > 1]
        if starts:
            found.append(
                f"{pluralize(len(starts), 'sentence')} of {len(firsts(self.words)):,} without their beginning, which models do "
                f"not read then: the first word of {starts[0].sentence!r} has the number {starts[0].position}, for one."
            )
        return found


def firsts(words: Sequence[TimedWord]) -> list[TimedWord]:
    """The first word that each sentence has."""
    found: dict[tuple[str, str], TimedWord] = {}
    for one in words:
        found.setdefault((one.story, one.sentence), one)
    return list(found.values())


def sentence_name(at: Place) -> str:
    return f"sentence {at.sentence or '1'}" + (f" of story {at.story}" if at.story else "")


def with_means(word: TimedWord, times: Sequence[float]) -> TimedWord:
    if not times:
        return word
    logs = math.fsum(map(math.log, times)) / len(times)
    return replace(word, time=math.fsum(times) / len(times), log_time=logs, readings=len(times))
