"""Surprisals of suites from a table, of `dtg surprisal` or another tool: which region each token is in, and the regions' sums.

Each row is a word or any other token, with the columns `word` (or `token`) and `surprisal`. Which sentence it is in is said
by `suite`, `item` and `condition`, as in the tables that dtg writes of suites; or else by `sentence_id`, which then counts the
sentences in the order of `suite_sentences`: the lines of the file of sentences that dtg writes. A missing surprisal, as some
tools give for a first word, is an error only if a prediction needs its region.

Tokens and sentence must have the same characters in the same order; white space does not count, nor do the marks that
tokenizers put for it (▁the, Ġthe). A token belongs to the region in which its first character is. One that reaches into
the next region *straddles* the boundary: all of its surprisal is counted where it begins. A token without characters, such
as a lone ▁, belongs to what follows it. After the last character a full stop or an end symbol (<END>, </s>) may follow;
that is left out. Both are counted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from dtg.errors import InputError
from dtg.evaluation.tasks.characters import Characters, visible
from dtg.evaluation.tasks.syntaxgym.scores import region_surprisals
from dtg.evaluation.tasks.syntaxgym.suites import Key, Suite, SuiteSentence, suite_sentences
from dtg.tables.columns import NATS, UNITS, Base
from dtg.tables.formats import number_in, read_rows
from dtg.tables.sidecar import read_sidecar, sidecar_path

KEY = ("suite", "item", "condition")
ENDING = re.compile(r"[.?!]|<[^<>]+>|\[[^\[\]]+\]")


@dataclass(frozen=True, slots=True)
class Alignment:
    """Region numbers, from 1, of the tokens up to the sentence's end; what follows is only counted."""

    regions: tuple[int, ...]
    straddling: int
    after_end: int


def align(sentence: SuiteSentence, tokens: Sequence[str]) -> Alignment:
    """The regions of a sentence's tokens."""
    characters = Characters.of(sentence.regions)
    written = characters.text
    regions: list[int] = []
    place = straddling = 0
    for number, token in enumerate(tokens, start=1):
        shown = visible(token)
        if place == len(written):
            if shown and not ENDING.fullmatch(shown):
                raise InputError(
                    f"{sentence.key}: token {number} is {token!r}, but the sentence has ended. "
                    f"Expected were the words of: {sentence.text}"
                )
            continue
        if not written.startswith(shown, place):
            raise InputError(
                f"{sentence.key}: token {number} is {token!r} where the sentence continues with "
                f"{written[place : place + max(10, len(shown))]!r}. Expected were the words of: {sentence.text}\n"
                "Leave out symbols for the beginning of a sentence; letters must be as they are in the suite."
            )
        straddling += characters.straddles(place, len(shown))
        regions.append(characters.parts[place] + 1)
        place += len(shown)
    if place < len(written):
        raise InputError(
            f"{sentence.key}: its {len(tokens)} tokens end before {written[place:]!r}. "
            f"Expected were the words of: {sentence.text}"
        )
    return Alignment(tuple(regions), straddling, len(tokens) - len(regions))


@dataclass(frozen=True, slots=True)
class Imported:
    """The surprisals of regions, in bits, and what was met on the way to them."""

    surprisals: Mapping[Key, tuple[float, ...]]
    unit: str  # of the table
    tokens: int
    straddling: int  # tokens that reach over the end of a region
    after_end: int  # tokens after a sentence's end, which were left out
    other_suites: int  # tokens of suites that were not asked for, which were left out


def import_surprisals(path: Path, suites: Sequence[Suite], *, base: Base | None = None) -> Imported:
    """What a table says of all sentences of some suites.

    Its unit is what the file beside it (FILE.meta.json) says, or `base`; without either, bits.
    """
    base = base_of(path, base)
    in_bits = NATS[base] / NATS["2"]
    by_name = {suite.name: suite for suite in suites}
    sentences = list(suite_sentences(suites))
    found: dict[Key, tuple[float, ...]] = {}
    tokens = straddling = after_end = other_suites = 0
    for sentence, words, values in sentences_in(path, sentences):
        if sentence is None:
            other_suites += len(words)
            continue
        if sentence.key in found:
            raise InputError(f"cannot use {path}: {sentence.key} comes twice. The rows of a sentence must be together.")
        try:
            aligned = align(sentence, words)
        except InputError as error:
            raise InputError(f"cannot use {path}: {error}") from None
        suite = by_name[sentence.key.suite]
        bits = [value * in_bits for value in values[: len(aligned.regions)]]
        found[sentence.key] = region_surprisals(bits, aligned.regions, len(suite.regions), suite.metric)
        tokens += len(words)
        straddling += aligned.straddling
        after_end += aligned.after_end
    if missing := [sentence.key for sentence in sentences if sentence.key not in found]:
        more = f" (and {len(missing) - 1:,} more)" if len(missing) > 1 else ""
        raise InputError(f"cannot use {path}: it has no rows of {missing[0]}{more}. All sentences are needed.")
    return Imported(found, UNITS[base], tokens, straddling, after_end, other_suites)


def sentences_in(
    path: Path, sentences: Sequence[SuiteSentence]
) -> Iterator[tuple[SuiteSentence | None, list[str], list[float]]]:
    """Each sentence of a table with its tokens and their surprisals; None for one of a suite that is not there."""
    by_key = {sentence.key: sentence for sentence in sentences}
    suites = {sentence.key.suite for sentence in sentences}

    def sentence_of(row: dict[str, Any], where: str) -> SuiteSentence | None:
        if all(name in row for name in KEY):
            key = Key(str(row["suite"]), whole(row, "item", where), str(row["condition"]))
            if key.suite in suites and key not in by_key:
                raise InputError(f"{where}: the suites have no {key}.")
            return by_key.get(key)
        if "sentence_id" not in row:
            raise InputError(
                f"{where}: there must be suite, item and condition, or else sentence_id; there are {names(row)}."
            )
        number = whole(row, "sentence_id", where)
        if not 1 <= number <= len(sentences):
            raise InputError(f"{where}: sentence_id is {number}, but the suites have sentences 1 to {len(sentences)}.")
        return sentences[number - 1]

    def token_of(row: dict[str, Any], where: str) -> tuple[str, float]:
        word = row.get("word", row.get("token"))
        if not isinstance(word, str) or "surprisal" not in row:
            raise InputError(f"{where}: there must be word (or token) and surprisal; there are {names(row)}.")
        value = number_in(row, "surprisal", float, where)
        return word, math.nan if value is None else value

    rows = ((f"cannot use {path}, {place}", row) for place, row in read_rows(path))
    known = ((sentence_of(row, where), token_of(row, where)) for where, row in rows)
    for sentence, some in groupby(known, key=lambda each: each[0]):
        tokens = [token for _, token in some]
        yield sentence, [word for word, _ in tokens], [value for _, value in tokens]


def base_of(path: Path, base: Base | None) -> Base:
    """The base of a table's logarithms."""
    beside = sidecar_path(path)
    if not beside.exists():
        return base or "2"
    try:
        sidecar = read_sidecar(beside)
    except InputError as error:  # what it advises is for whoever writes the table
        raise InputError(f"{str(error).splitlines()[0]}\nFix it, or remove it and say what the unit is.") from None
    if not sidecar.finished:
        raise InputError(f"cannot use {path}: it is not finished ({beside.name}). Resume what writes it.")
    for known, unit in UNITS.items():
        if unit == sidecar.settings.get("unit"):
            if base not in (None, known):
                raise InputError(f"{path} is in {unit}, says {beside.name}; it is to be read as {UNITS[base]}.")
            return known
    raise InputError(f"{beside} does not say whether {path.name} is in {' or '.join(UNITS.values())}.")


def whole(row: dict[str, Any], name: str, where: str) -> int:
    value = number_in(row, name, int, where)
    if value is None:
        raise InputError(f"{where}: {name} is missing.")
    return int(value)


def names(row: dict[str, Any]) -> str:
    return ", ".join(map(str, row)) or "none"
