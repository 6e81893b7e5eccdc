"""Minimal pairs in a table of one's own, and the words of their critical regions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dtg.errors import InputError
from dtg.evaluation.probability import Probability
from dtg.language_model import LanguageModel
from dtg.tables.formats import read_rows
from dtg.text.sentence import Sentence

KEPT = str | int | float | None  # what a table can hold
WORD_NUMBERS = re.compile(r"(\d{1,9})(?:\s*-\s*(\d{1,9}))?")


@dataclass(frozen=True, slots=True)
class MinimalPair:
    """Two sentences, the first of which is acceptable."""

    pair_id: str
    group: str
    good: str
    bad: str
    regions: tuple[str, str] | None = None  # the critical words of both, or their numbers
    columns: Mapping[str, Any] = field(default_factory=dict, compare=False)  # whatever else the table says of it

    @property
    def stratum(self) -> str:
        return self.group


def read_table(
    path: Path, good: str, bad: str, group: str | None, regions: tuple[str, ...] | None
) -> list[MinimalPair]:
    """The pairs of a table whose columns are named."""
    found = []
    for number, (where, row) in enumerate(read_rows(path), start=1):
        grouping = group or ("group" if "group" in row else None)
        for name in (good, bad, *([grouping] if grouping else []), *(regions or ())):
            if name not in row:
                raise InputError(
                    f"cannot read {path}: there is no column {name!r}. There are: {', '.join(map(str, row))}."
                )
        texts = [row[good], row[bad], *(row[name] for name in regions or ())]
        if any(value is None or not str(value).strip() for value in texts):
            raise InputError(f"cannot read {path}, {where}: a sentence or region is empty. Fill it, or remove the row.")
        named = (good, bad, *(regions or ()))
        others = {str(name): value for name, value in row.items() if name not in (*named, grouping)}
        more = {name: value if isinstance(value, KEPT) else str(value) for name, value in others.items()}
        critical = None if regions is None else (str(row[regions[0]]), str(row[regions[1]]))
        called = "all" if grouping is None else str(row[grouping])
        found.append(MinimalPair(str(number), called, str(row[good]), str(row[bad]), critical, more))
    if not found:
        raise InputError(f"cannot read {path}: there are no pairs in it.")
    return found


def region_log_probabilities(
    how: Probability, model: LanguageModel, sentences: Sequence[Sentence], regions: Sequence[str]
) -> tuple[list[float], list[int]]:
    """log p of each sentence's critical words given those before them, and how many they are."""
    places = [region_words(sentence, region) for sentence, region in zip(sentences, regions, strict=True)]
    found = how.surprisals(model, sentences, ends=False)
    logs = [-float(one.surprisals[place.start : place.stop].sum()) for one, place in zip(found, places, strict=True)]
    return logs, [len(place) for place in places]


def region_words(sentence: Sentence, region: str) -> range:
    """The words of a sentence that begin in its region: a text that is in it once, or numbers of words between spaces."""
    assert sentence.text is not None
    text, asked = sentence.text, region.strip()
    if numbers := WORD_NUMBERS.fullmatch(asked):
        spans = [match.span() for match in re.finditer(r"\S+", text)]
        first, last = int(numbers[1]), int(numbers[2] or numbers[1])
        if not 1 <= first <= last <= len(spans):
            raise InputError(f"the region {asked} is not among the {len(spans)} words of {text!r}.")
        start, end = spans[first - 1][0], spans[last - 1][1]
    else:
        starts = [match.start() for match in re.finditer(rf"(?<!\w){re.escape(asked)}(?!\w)", text)]
        if len(starts) != 1:
            often = "not in" if not starts else f"{len(starts)} times in"
            raise InputError(
                f"the region {asked!r} is {often} {text!r}; once is expected. Numbers of words, such as 4-6, work too."
            )
        start, end = starts[0], starts[0] + len(asked)
    inside = [place for place, begin in enumerate(sentence.starts) if start <= begin < end]
    if not inside:
        raise InputError(f"no word of {text!r} begins in the region {asked!r}.")
    return range(inside[0], inside[-1] + 1)
