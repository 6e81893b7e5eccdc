"""Pairs of an ambiguous and an unambiguous sentence with the word that disambiguates, from a table.

Two formats are read. SAP's (Huang et al. 2024) has a pair in each row: `item`, `condition` (NPS_UAMB), `ambiguous`,
`disambPositionAmb`, `unambiguous`, `disambPositionUnamb`. The plain one has a sentence in each row: `item`, `condition`
(ambiguous or unambiguous), `sentence`, `region` (the critical word, or its number among the words between spaces), and, if
there are several, `construction`. `time`, `time_1` and `time_2` may give what people took at the critical word and the two
after it, in ms.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dtg.errors import InputError
from dtg.evaluation.tasks.reading.columns import simplified
from dtg.tables.formats import number_in, read_rows

SAP = ("item", "condition", "ambiguous", "unambiguous", "disambPositionAmb", "disambPositionUnamb")
PLAIN = ("item", "condition", "sentence", "region")
OTHER_NAMES = {
    "item": ("item_id", "item_number", "item_nr", "pair"),
    "condition": ("cond", "ambiguity"),
    "sentence": ("text", "stimulus"),
    "region": (
        "critical",
        "critical_word",
        "critical_position",
        "critical_region",
        "disambiguation",
        "disamb_position",
        "roi",
    ),
    "construction": ("type", "structure"),
    "time": ("rt", "time_0"),
    "time_1": ("rt_1", "spillover_1"),
    "time_2": ("rt_2", "spillover_2"),
}
AFTER = 2  # words after the critical one that are measured, too
TIMES = ("time", *(f"time_{after}" for after in range(1, AFTER + 1)))
AMBIGUOUS = ("amb", "ambiguous", "garden-path", "garden_path", "gp", "ambig")
UNAMBIGUOUS = ("uamb", "unamb", "unambiguous", "control", "unambig", "disambiguated")


@dataclass(frozen=True, slots=True)
class CriticalSentence:
    """A sentence, its critical word (from 0, among the words between spaces), and people's times at it and after it."""

    text: str
    critical: int
    times: tuple[float | None, ...] = ()

    @property
    def words(self) -> list[str]:
        return self.text.split()


@dataclass(frozen=True, slots=True)
class GardenPath:
    """One item of a construction."""

    construction: str
    item: str
    ambiguous: CriticalSentence
    unambiguous: CriticalSentence


def read_garden_paths(path: Path) -> tuple[GardenPath, ...]:
    """The pairs of a table in either format."""
    given = list(read_rows(path, guess_encoding=True))
    if not given:
        raise InputError(f"{path} has no rows.")
    rows = [(where, renamed(row)) for where, row in given]
    there = list(rows[0][1])
    if all(name in there for name in SAP):
        found = [sap_pair(row, f"{path}, {where}") for where, row in rows]
    elif all(name in there for name in PLAIN):
        found = plain_pairs(path, rows)
    else:
        raise InputError(
            f"{path} has the columns {', '.join(given[0][1])}. Either {', '.join(PLAIN)} are expected (a sentence a row), "
            f"or those of SAP: {', '.join(SAP)}."
        )
    keys = [(one.construction, one.item) for one in found]
    if twice := [key for key in keys if keys.count(key) > 1]:
        raise InputError(f"{path}: item {twice[0][1]} of {twice[0][0]} is there {keys.count(twice[0])} times.")
    return tuple(found)


def renamed(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with the names of columns as they are here: case, _ and . do not count, and a few others are known."""
    known = {simplified(name): name for name in (*SAP, *PLAIN, *TIMES, "construction")}
    known |= {simplified(other): name for name, others in OTHER_NAMES.items() for other in others}
    there = {simplified(name) for name in row}
    ours = {name: simplified(name) in there for name in (*SAP, *PLAIN, *TIMES, "construction")}
    found: dict[str, Any] = {}
    for name, value in row.items():
        called = known.get(simplified(name), name)
        is_other = simplified(called) != simplified(name) and (ours.get(called, False) or called in found)
        found[name if is_other else called] = value
    return found


def sap_pair(row: Mapping[str, Any], where: str) -> GardenPath:
    sentences = []
    for text, position in (("ambiguous", "disambPositionAmb"), ("unambiguous", "disambPositionUnamb")):
        number = number_in(dict(row), position, int, where)
        if number is None:
            raise InputError(f"{where}: {position} is empty; the number of the critical word is expected.")
        written = str(row[text]).replace("\\'", "'")  # SAP's files have backslashes before apostrophes
        sentences.append(critical_sentence(written, str(number), (), where))
    construction = re.sub(r"_(U?AMB)$", "", str(row["condition"]))
    return GardenPath(construction, str(row["item"]), *sentences)


def plain_pairs(path: Path, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> list[GardenPath]:
    sentences: dict[tuple[str, str], dict[str, CriticalSentence]] = {}
    for where, row in rows:
        at = f"{path}, {where}"
        times = tuple(time_in(row, name, at) if name in row else None for name in TIMES)
        found = critical_sentence(str(row["sentence"]), str(row["region"]), times, at)
        construction, kind = condition_of(row, at)
        pair = sentences.setdefault((construction, str(row["item"])), {})
        if kind in pair:
            raise InputError(f"{at}: item {row['item']} of {construction or 'the table'} has two {kind} sentences.")
        pair[kind] = found
    for (construction, item), pair in sentences.items():
        if len(pair) < 2:
            (kind,) = pair
            raise InputError(
                f"{path}: item {item} of {construction or 'the table'} has only its {kind} sentence; it needs both."
            )
    return [
        GardenPath(construction or "all", item, pair["ambiguous"], pair["unambiguous"])
        for (construction, item), pair in sentences.items()
    ]


def time_in(row: Mapping[str, Any], name: str, where: str) -> float | None:
    """A time in ms, with a decimal point or comma."""
    value = row[name].replace(",", ".") if isinstance(row[name], str) else row[name]
    return number_in({name: value}, name, float, where)


def condition_of(row: Mapping[str, Any], where: str) -> tuple[str, str]:
    """The construction, and which of the two sentences it is: NPS_AMB says both, where no column says the first."""
    condition = str(row["condition"]).strip()
    before, _, last = condition.rpartition("_")
    for name, construction in (
        (condition, str(row.get("construction", ""))),
        (last, str(row.get("construction", before))),
    ):
        if name.lower() in AMBIGUOUS:
            return construction, "ambiguous"
        if name.lower() in UNAMBIGUOUS:
            return construction, "unambiguous"
    raise InputError(
        f"{where}: the condition is {condition!r}; ambiguous (or amb) and unambiguous (or unamb, control) are expected, such "
        "as unambiguous or NPS_UAMB."
    )


def critical_sentence(text: str, region: str, times: tuple[float | None, ...], where: str) -> CriticalSentence:
    """The place of a region's first word: a number from 1, or words that are in the sentence once."""
    words, asked = text.split(), region.strip()
    if not words:
        raise InputError(f"{where}: the sentence is empty.")
    if re.fullmatch(r"\d+(\.0)?", asked):
        number = int(float(asked))
        if not 1 <= number <= len(words):
            raise InputError(
                f"{where}: the critical word has the number {number}, and {text!r} has {len(words)} words."
            )
        return CriticalSentence(text, number - 1, times)
    wanted = [bare(word) for word in asked.split()]
    bares = [bare(word) for word in words]
    places = [place for place in range(len(words)) if wanted and bares[place : place + len(wanted)] == wanted]
    if len(places) != 1:
        often = "not" if not places else f"{len(places)} times"
        raise InputError(
            f"{where}: the region {asked!r} is {often} in {text!r}; once is expected. The number of the word works, too."
        )
    return CriticalSentence(text, places[0], times)


def bare(word: str) -> str:
    return word.strip(".,;:!?\"'“”‘’()").lower()
