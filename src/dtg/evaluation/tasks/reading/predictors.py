"""Predictors of reading times: controls that need no model, columns of a model, and the same of the two words before.

What is said of a word before is its value there (spill-over). Words that have not two words before them in their text are left
out, and so are those without a time or a value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from dtg.evaluation.tasks.reading.collected import TimedWord
from dtg.evaluation.tasks.reading.frequencies import FrequencyList, normalized

Floats = NDArray[np.float64]
# Each with the two words before; position alone has none.
CONTROLS = ("length", "log_frequency", "punctuation_before", "punctuation_after", "sentence_start", "sentence_end")
POSITION = "position"
LAGS = 2
SURPRISAL = "surprisal"
# What models have beside surprisal, in the order in which sets are reported.
COLUMNS = ("structural", "entropy", "entropy_reduction", "stack_depth")


def controls_of(words: Sequence[TimedWord], frequencies: FrequencyList) -> dict[str, list[float]]:
    """The controls of every word."""
    found: dict[str, list[float]] = {name: [] for name in CONTROLS}
    for place, one in enumerate(words):
        text = one.word
        inner = [place for place, character in enumerate(text) if character.isalnum()]
        first, last = (inner[0], inner[-1]) if inner else (len(text), len(text) - 1)
        following = words[place + 1] if place + 1 < len(words) else None
        before = words[place - 1] if place else None
        values = (
            float(sum(len(normalized(part)) for part in text.split())),
            fmean(map(frequencies.log_frequency, text.split())),
            float(first > 0),
            float(last < len(text) - 1),
            float(before is None or (before.story, before.sentence) != (one.story, one.sentence)),
            float(following is None or (following.story, following.sentence) != (one.story, one.sentence)),
        )
        for name, value in zip(CONTROLS, values, strict=True):
            found[name].append(value)
    return found


def without_values(values: Sequence[float | None]) -> frozenset[int]:
    """The places of words that lack a value, or have a word before them that does."""
    return frozenset(place + lag for place, value in enumerate(values) if value is None for lag in range(LAGS + 1))


@dataclass(frozen=True, slots=True)
class Design:
    """Predictors of the words that are fitted."""

    times: Floats  # (words,) logarithms, or ms
    place: NDArray[np.int64]  # (words,) which word of all
    fold: NDArray[np.int64]  # (words,)
    item: NDArray[np.int64]  # (words,) the sentence, which is what resamples draw
    columns: Mapping[str, Floats]  # (words,) by name; of the words before, NAME_1 and NAME_2

    def matrix(self, names: Sequence[str]) -> Floats:
        """(words, predictors) these columns, with those of the words before, after position and a constant."""
        wanted = [one for name in names for one in with_lags(name)]
        return np.stack(
            [np.ones_like(self.times), self.columns[POSITION], *(self.columns[one] for one in wanted)], axis=1
        )


def with_lags(name: str) -> tuple[str, ...]:
    """A predictor and those of the words before."""
    return (name, *(f"{name}_{lag}" for lag in range(1, LAGS + 1)))


def make_design(
    values: Mapping[str, Sequence[float | None]],
    times: Sequence[float | None],
    texts: Sequence[str],
    sentences: Sequence[str],
    positions: Sequence[int],
    folds: Sequence[int],
    *,
    shift: int = 0,
    excluded: Sequence[bool] | None = None,
) -> Design:
    """Put predictors beside times.

    Args:
        values: of each predictor, one for each word; None or NaN where there is none.
        times: of each word.
        texts: what words before are looked for in: the story, or the sentence where each is read alone.
        sentences: of each word.
        positions: of each word in its sentence, from 1.
        folds: of each word.
        shift: the time of a word is taken for that of the word this many places after it.
        excluded: words that are not fitted (they still are words before others).
    """
    count = len(times)
    known = {name: np.array([np.nan if one is None else one for one in some]) for name, some in values.items()}
    time = np.array([np.nan if one is None else one for one in times], dtype=np.float64)
    text = np.unique(np.asarray(texts), return_inverse=True)[1]
    place = np.arange(count)
    first = np.zeros(count, dtype=np.int64)  # the place of the first word of each text
    for number in range(1, count):
        first[number] = first[number - 1] if text[number] == text[number - 1] else number
    columns = {POSITION: np.asarray(positions, dtype=np.float64)}
    shifted = place + shift  # the word whose predictors are taken
    inside = (shifted >= 0) & (shifted < count)
    inside &= text[np.clip(shifted, 0, count - 1)] == text
    usable = np.isfinite(time) & inside & (shifted - LAGS >= first)
    if excluded is not None:
        usable &= ~np.asarray(excluded, dtype=bool)
    for name, some in known.items():
        for lag, called in enumerate(with_lags(name)):
            columns[called] = some[np.clip(shifted - lag, 0, count - 1)]
            usable &= np.isfinite(columns[called])
    item = np.unique(np.asarray(sentences), return_inverse=True)[1]
    chosen = np.flatnonzero(usable)
    return Design(
        time[chosen],
        chosen,
        np.asarray(folds, dtype=np.int64)[chosen],
        item[chosen].astype(np.int64),
        {name: some[chosen] for name, some in columns.items()},
    )
