"""Surprisals of words from a table of another tool, or of `dtg surprisal`: tokens are aligned with words by their characters.

The tokens of the table and the words of the reading times must be the same text in the same order; white space does not count,
nor do the marks that tokenizers put for it. A token belongs to the word in which it begins. Up to one character in a hundred
may differ (spelling that was corrected in one of them), which is counted and said. Where the table numbers its sentences, these
may also be in another order, or more than were read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dtg.errors import InputError
from dtg.evaluation.tasks.characters import Characters, visible, without_space
from dtg.evaluation.tasks.reading.columns import check_column
from dtg.io.hashing import file_hash
from dtg.io.messages import pluralize
from dtg.search.measures.names import MEASURES, measure_of
from dtg.tables.columns import NATS, Base
from dtg.tables.formats import number_in, read_rows
from dtg.tables.sidecar import read_sidecar, sidecar_path

TOKENS = ("word", "token", "subword", "piece")  # where a table has several, the first whose text is the one read
SURPRISALS = ("surprisal", "sum_surprisal_base2", "surp", "sum_surprisal")
LOGS = ("logprob", "log_probability", "logp", "log_prob")
BITS = ("sum_surprisal_base2",)
NUMBERS = ("sentence_id", "sentence_number", "sent_id")
SPECIAL = re.compile(r"<[^<>\s]+>")
LAST = ("entropy", "stack_depth")  # of several tokens, that of the last, as of some measures; other columns add up
DIFFERING = 0.01


@dataclass(frozen=True, slots=True)
class ImportedSurprisals:
    """A value for each word of each column; None where the table has none."""

    name: str
    sha256: str
    path: Path
    columns: Mapping[str, tuple[float | None, ...]]  # surprisal in bits
    notes: tuple[str, ...]


@dataclass(slots=True)
class Tokens:
    """One model's rows of a table."""

    texts: list[tuple[str, ...]] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    values: dict[str, list[float | None]] = field(default_factory=dict)

    def at(self, places: Sequence[int]) -> Tokens:
        """Some of the rows."""
        values = {name: [some[place] for place in places] for name, some in self.values.items()}
        return Tokens([self.texts[one] for one in places], [self.sentences[one] for one in places], values)


def read_surprisals(
    path: Path,
    words: Sequence[str],
    extra: Sequence[str] = (),
    base: Base | None = None,
    column: str | None = None,
    token: str | None = None,
    sentences: Sequence[Hashable] = (),
) -> list[ImportedSurprisals]:
    """The surprisals of these words; one for each model, if the table has a column `model` with several.

    Args:
        path: a table with a row for each token.
        words: the text, word by word.
        extra: other columns that are wanted where the table has them.
        base: of the logarithms, where neither a column `unit` nor the file beside the table says it.
        column: the column with surprisals (or, if its name begins with log, log-probabilities).
        token: the column with tokens.
        sentences: which sentence each word is in.
    """
    rows = list(read_rows(path))
    if not rows:
        raise InputError(f"{path} has no rows; a row for each word or token is expected.")
    there = list(rows[0][1])
    candidates = pick_all(path, there, token, TOKENS, "words or tokens")
    value = pick_all(path, there, column, (*SURPRISALS, *LOGS), "surprisals")[0]
    sign = -1.0 if value.lower().startswith("log") else 1.0
    scale = sign * NATS[unit_of(path, rows[0][1], value, base)] / NATS["2"]
    others = [name for name in extra if name in there and name != value]
    by_model: dict[str, Tokens] = {}
    numbered = next((name for name in NUMBERS if name in there), None)
    for where, row in rows:
        texts = tuple(str(row[one] if row[one] is not None else "") for one in candidates)
        name = str(row["model"]) if "model" in there else ""
        some = by_model.setdefault(name, Tokens())
        some.texts.append(texts)
        some.sentences.append("" if numbered is None else str(row[numbered]))
        found = number_in(row, value, float, f"{path}, {where}")
        some.values.setdefault("surprisal", []).append(None if found is None else scale * found)
        for one in others:
            some.values.setdefault(one, []).append(number_in(row, one, float, f"{path}, {where}"))
    hashed = file_hash(path)
    stem = path.name.removesuffix(".gz").rsplit(".", 1)[0]
    several = len(by_model) > 1
    result = []
    for name, some in by_model.items():
        try:
            places, notes = align_first(path, some.texts, words)
        except InputError:
            order = None if numbered is None else in_order_read(some, words, sentences)
            if order is None:
                raise
            some = some.at(order)
            places, notes = align_first(path, some.texts, words)
        columns = {one: joined(one, values, places, len(words)) for one, values in some.values.items()}
        result.append(ImportedSurprisals(name if several else stem, hashed, path, columns, tuple(notes)))
    return result


def pick_all(path: Path, there: Sequence[str], asked: str | None, known: Sequence[str], what: str) -> list[str]:
    """The column that was named, or those whose names are known; raises if there is none."""
    if asked is not None:
        check_column(path, asked, there)
        return [asked]
    lower = {name.lower(): name for name in there}
    if found := [lower[name] for name in known if name in lower]:
        return found
    raise InputError(f"{path} has no column of {what} ({', '.join(known[:4])}). It has: {', '.join(there)}.")


def unit_of(path: Path, row: Mapping[str, Any], column: str, base: Base | None) -> Base:
    """Bits or nats: by the column's name, a column `unit` or the file beside the table; where none says it, by the user."""
    if column in BITS:
        return "2"
    unit = row.get("unit")
    if unit is None and sidecar_path(path).is_file():
        unit = read_sidecar(sidecar_path(path)).settings.get("unit")
    if unit in ("bits", "nats"):
        return "2" if unit == "bits" else "e"
    if base is not None:
        return base
    if column.lower().startswith("log"):
        return "e"  # every tool that gives log-probabilities gives natural ones
    raise InputError(
        f"{path} does not say whether its surprisals are in bits or nats; say which base their logarithms have: 2 or e."
    )


def in_order_read(tokens: Tokens, words: Sequence[str], sentences: Sequence[Hashable]) -> list[int] | None:
    """The rows of the sentences that were read, in that order, each found by its text; None if one is not in the table."""
    read: dict[Hashable, str] = {}
    for word, sentence in zip(words, sentences, strict=False):
        read[sentence] = read.get(sentence, "") + without_space(word)
    rows: dict[str, list[int]] = {}
    for place, sentence in enumerate(tokens.sentences):
        rows.setdefault(sentence, []).append(place)
    for column in zip(*tokens.texts, strict=True):
        shown = [visible(text) for text in column]
        known: dict[str, list[int]] = {}
        for places in rows.values():
            known.setdefault("".join(shown[one] for one in places if not SPECIAL.fullmatch(shown[one])), places)
        if read and all(text in known for text in read.values()):
            return [place for text in read.values() for place in known[text]]
    return None


def align_first(
    path: Path, texts: Sequence[tuple[str, ...]], words: Sequence[str]
) -> tuple[list[int | None], list[str]]:
    """By the first column of tokens whose text is the one that was read."""
    wrong: InputError | None = None
    for column in zip(*texts, strict=True):
        try:
            return align(path, column, words)
        except InputError as error:
            wrong = wrong or error
    assert wrong is not None
    raise wrong


def align(path: Path, tokens: Sequence[str], words: Sequence[str]) -> tuple[list[int | None], list[str]]:
    """For each token the word in which it begins, None for special tokens; and what is to be said about it."""
    characters = Characters.of(words)
    written, owner = characters.text, characters.parts
    places: list[int | None] = []
    at = differing = straddling = 0
    first_difference = ""
    for number, token in enumerate(tokens, start=1):
        shown = visible(token)
        if SPECIAL.fullmatch(shown) and not written.startswith(shown, at):
            places.append(None)
            continue
        if not shown:
            places.append(owner[at] if at < len(owner) else None)
            continue
        if at + len(shown) > len(written):
            raise InputError(
                f"{path}: token {number}, {token!r}, comes after the last of the {len(words):,} words. The table must be of "
                f"the same text.{first_difference}"
            )
        expected = written[at : at + len(shown)]
        if expected != shown:
            differing += sum(one != other for one, other in zip(expected, shown, strict=True))
            context = written[max(0, at - 15) : at + 15]
            first_difference = first_difference or f" They differ first at token {number}: {token!r} for {context!r}."
        straddling += characters.straddles(at, len(shown))
        places.append(owner[at])
        at += len(shown)
    if at < len(written):
        raise InputError(
            f"{path}: its tokens end before word {owner[at] + 1:,} of {len(words):,}, {words[owner[at]]!r}. The table must "
            f"be of the same text.{first_difference}"
        )
    if differing > DIFFERING * len(written):
        raise InputError(f"{path}: its tokens are not the words that were read.{first_difference}")
    notes = []
    if differing:
        notes.append(f"{path.name}: {pluralize(differing, 'character')} unlike the text.{first_difference}")
    if straddling:
        notes.append(
            f"{path.name}: {pluralize(straddling, 'token')} reaching into the next word, counted where they begin."
        )
    return places, notes


def is_of_last(column: str) -> bool:
    """Whether a column is, of several tokens, that of the last."""
    return column in LAST or (column.startswith(tuple(MEASURES)) and measure_of(column).joining != "sum")


def joined(
    column: str, values: Sequence[float | None], places: Sequence[int | None], words: int
) -> tuple[float | None, ...]:
    """Of each word: the sum over its tokens, or the last one; None if one of them has no value, or it has no token."""
    found: list[list[float | None]] = [[] for _ in range(words)]
    for place, value in zip(places, values, strict=True):
        if place is not None:
            found[place].append(value)
    result: list[float | None] = []
    for some in found:
        known = [value for value in some if value is not None]
        if not some or len(known) < len(some):
            result.append(None)
        else:
            result.append(known[-1] if is_of_last(column) else math.fsum(known))
    return tuple(result)
