"""Surprisals of sentences from a table of another tool: by the sentence in each row, or in the order of the items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dtg.errors import InputError
from dtg.evaluation.tasks.reading.imported import (
    LOGS,
    SURPRISALS,
    TOKENS,
    align_first,
    joined,
    pick_all,
    unit_of,
)
from dtg.io.hashing import file_hash
from dtg.tables.columns import NATS, Base
from dtg.tables.formats import number_in, read_rows


@dataclass(frozen=True, slots=True)
class ImportedSentences:
    """The surprisals of the words between spaces of each sentence, in bits; None where the table has none."""

    name: str
    sha256: str
    path: Path
    surprisals: dict[str, tuple[float | None, ...]]


def import_sentences(path: Path, sentences: Sequence[str], base: Base | None = None) -> ImportedSentences:
    """From a table with a row for each word or token and a column `sentence`; without that, in the order of `sentences`."""
    rows = list(read_rows(path))
    if not rows:
        raise InputError(f"{path} has no rows; a row for each word or token is expected.")
    there = list(rows[0][1])
    lower = {name.lower(): name for name in there}
    tokens = pick_all(path, there, None, TOKENS, "words or tokens")
    value = pick_all(path, there, None, (*SURPRISALS, *LOGS), "surprisals")[0]
    scale = (
        (-1.0 if value.lower().startswith("log") else 1.0) * NATS[unit_of(path, rows[0][1], value, base)] / NATS["2"]
    )
    said = lower.get("sentence")
    by_text: dict[str, list[tuple[tuple[str, ...], float | None]]] = {}
    for where, row in rows:
        found = number_in(row, value, float, f"{path}, {where}")
        spelt = tuple(str(row[name] if row[name] is not None else "") for name in tokens)
        key = str(row[said]).strip() if said else ""
        by_text.setdefault(key, []).append((spelt, None if found is None else scale * found))
    name = path.name.removesuffix(".gz").rsplit(".", 1)[0]
    if said and (missing := [text for text in sentences if text.strip() not in by_text]):
        raise InputError(f"{path} has no rows for {len(missing)} of the sentences, such as {missing[0]!r}.")
    surprisals = {}
    groups = (
        [([text], by_text[text.strip()]) for text in dict.fromkeys(sentences)]
        if said
        else [(list(sentences), by_text[""])]
    )
    for some, of_them in groups:
        words = [word for text in some for word in text.split()]
        texts = [one for one, _ in of_them]
        if said and len(texts) > len(words) and len(texts) % len(words) == 0 and is_repeated(texts, len(words)):
            of_them, texts = of_them[: len(words)], texts[: len(words)]  # a sentence of two conditions
        places, _ = align_first(path, texts, words)
        values = iter(joined("surprisal", [one for _, one in of_them], places, len(words)))
        for text in some:
            surprisals[text] = tuple(next(values) for _ in text.split())
    return ImportedSentences(name, file_hash(path), path, surprisals)


def is_repeated(texts: Sequence[tuple[str, ...]], length: int) -> bool:
    return all(texts[place] == texts[place % length] for place in range(len(texts)))
