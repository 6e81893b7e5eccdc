"""The files of BLiMP: a folder of .jsonl files (or one file), and which of their pairs are evaluated.

    {"sentence_good": "Who should Derek hug after shocking Richard?",
     "sentence_bad": "Who should Derek hug Richard after shocking?",
     "field": "syntax", "linguistics_term": "island_effects", "UID": "adjunct_island", "pairID": "0",
     "one_prefix_method": false, "two_prefix_method": false, ...}

Pairs belong together by their `UID`, whatever their file is called. `pair_id`, a number, is read as well as `pairID`: so the
Hugging Face copy of the data names it. The two flags may be absent, for pairs of one's own. Other keys are not used. What is
malformed raises, and so does a pair that is there twice; what a reader of the results should know is in `notes`.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dtg.errors import InputError
from dtg.evaluation.tasks.pairs.paradigms import ALL_PARADIGMS, FIELD_OF_LABEL, PHENOMENON_OF_TERM
from dtg.evaluation.tasks.selection import check_amount, draw
from dtg.io.json_files import parse_json

ADVICE = "Fix the line, or get the file again from https://github.com/alexwarstadt/blimp."
SHOWN = 60  # characters of a value in an error
LISTED = 10  # names in a note


@dataclass(frozen=True, slots=True)
class Pair:
    """A minimal pair of BLiMP."""

    uid: str  # its paradigm
    pair_id: str  # unique within the paradigm
    field: str
    term: str  # `linguistics_term`, as the file has it
    good: str
    bad: str
    one_prefix: bool | None  # made for comparing two words after one prefix; None where the file does not say
    two_prefix: bool | None  # made for comparing one word after two prefixes

    @property
    def stratum(self) -> str:
        return self.uid

    @property
    def phenomenon(self) -> str:
        """One of Warstadt et al.'s twelve, or whatever a paradigm of one's own calls it."""
        return PHENOMENON_OF_TERM.get(self.term, self.term)


@dataclass(frozen=True, slots=True)
class Paradigm:
    """One of BLiMP's tests."""

    uid: str
    field: str
    phenomenon: str
    pairs: tuple[Pair, ...]  # those asked for, in the file's order
    available: int  # how many the file has


@dataclass(frozen=True, slots=True)
class PairSet:
    """What is to be evaluated; paradigms in alphabetical order."""

    paradigms: tuple[Paradigm, ...]
    notes: tuple[str, ...]

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """All of them, paradigm by paradigm."""
        return tuple(pair for paradigm in self.paradigms for pair in paradigm.pairs)


def read_pairs(
    path: str | Path,
    *,
    paradigms: Sequence[str] | None = None,
    limit: int | None = None,
    sample: int | None = None,
    share: float | None = None,
    seed: int = 0,
) -> PairSet:
    """All paradigms or those named; of each all pairs, the first ones, or some drawn at random.

    What is drawn depends on the seed and the pairs' names alone, and a smaller sample is part of a larger one.
    """
    check_amount(limit, sample, share)
    path = Path(path)
    found = by_paradigm(path)
    wanted = sorted(found) if paradigms is None else chosen(paradigms, sorted(found), path)

    def some(pairs: Sequence[Pair]) -> Sequence[Pair]:
        if share is None and sample is None:
            return pairs[:limit]
        count = sample if share is None else max(1, round(share * len(pairs)))
        assert count is not None
        return draw(pairs, lambda pair: f"{seed}\t{pair.uid}\t{pair.pair_id}", count)

    selected = tuple(
        Paradigm(
            uid=uid,
            field=found[uid][0].field,
            phenomenon=found[uid][0].phenomenon,
            pairs=tuple(some(found[uid])),
            available=len(found[uid]),
        )
        for uid in wanted
    )
    missing = sorted(ALL_PARADIGMS - found.keys()) if paradigms is None else []
    notes = notes_on([paradigm.pairs for paradigm in selected], missing)
    asked = limit or sample
    if asked is not None:
        short = [f"{paradigm.uid} ({paradigm.available:,})" for paradigm in selected if paradigm.available < asked]
        first = "the first " if limit else ""
        notes += [f"fewer than {first}{asked:,} pairs are there of: {listed(short)}."] if short else []
    return PairSet(selected, tuple(notes))


def by_paradigm(path: Path) -> dict[str, list[Pair]]:
    """Every pair of the files."""
    found: dict[str, list[Pair]] = {}
    places: dict[tuple[str, str], str] = {}
    for file in files(path):
        for number, line in numbered_lines(file):
            pair = read_line(line, file, number)
            place, pairs = f"{file}, line {number}", found.setdefault(pair.uid, [])
            before = places.setdefault((pair.uid, pair.pair_id), place)
            if before != place:
                raise InputError(
                    f"cannot read {place}: pair {pair.pair_id} of {pair.uid} was in {before} already; a pair must be there "
                    "once.\nRemove one of the two (is there a copy of a file in the folder?), or number the pairs anew."
                )
            if pairs and (pair.field, pair.term) != (pairs[0].field, pairs[0].term):
                raise InputError(
                    f"cannot read {place}: field {pair.field} and linguistics_term {pair.term} are expected to be those of "
                    f"the pairs of {pair.uid} before it, {pairs[0].field} and {pairs[0].term}.\nFix the line, or give "
                    "the pair another UID."
                )
            pairs.append(pair)
    if not found:
        raise InputError(f"cannot read {path}: there are no pairs in it.")
    return found


def files(path: Path) -> list[Path]:
    """The files to read: those of a folder that end in .jsonl, or the one that was given."""
    if not path.exists():
        raise InputError(f"cannot read {path}: there is no such file or folder. BLiMP is a folder of .jsonl files.")
    if not path.is_dir():
        return [path]
    found = sorted(path.glob("*.jsonl"))
    if not found:
        deeper = next(path.glob("*/*.jsonl"), None)
        hint = f" There are some in {deeper.parent}: pass that." if deeper else " BLiMP has 67 of them."
        raise InputError(f"cannot read {path}: no file in it ends in .jsonl.{hint}")
    return found


def numbered_lines(file: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with file.open("rb") as lines:
            yield from enumerate(lines, start=1)
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror or error}.") from None


def chosen(names: Sequence[str], found: Sequence[str], path: Path) -> list[str]:
    """The paradigms named, each once, in alphabetical order."""
    complaints, hint = [], ""
    for name in dict.fromkeys(names):
        near = difflib.get_close_matches(name, found, n=4)
        if name in found:
            continue
        if name in ALL_PARADIGMS:
            complaints.append(f"{name!r} is one of BLiMP's, but is not there")
        elif near:
            complaints.append(f"for {name!r} you may mean {', '.join(near)}")
        else:
            complaints.append(f"{name!r} is like none of them")
            hint = f"\nKnown: {', '.join(found)}."
    if complaints:
        raise InputError(
            f"not all paradigms named are in {path}, which has {len(found)}: {'; '.join(complaints)}.{hint}"
        )
    if not names:
        raise InputError("no paradigm was named; name at least one, or leave the choice out for all of them.")
    return sorted(set(names))


def read_line(line: bytes, path: Path, number: int) -> Pair:
    """The pair on a line; `path` and `number` (from 1) are for errors."""
    try:
        content = decode(line)
        identifier = "pair_id" if "pair_id" in content and "pairID" not in content else "pairID"
        field = text(content, "field")
        return Pair(
            uid=text(content, "UID"),
            pair_id=pair_identifier(content, identifier),
            field=FIELD_OF_LABEL.get(field, field),
            term=text(content, "linguistics_term"),
            good=text(content, "sentence_good"),
            bad=text(content, "sentence_bad"),
            one_prefix=flag(content, "one_prefix_method"),
            two_prefix=flag(content, "two_prefix_method"),
        )
    except ValueError as error:
        raise InputError(f"cannot read {path}, line {number}: {error}\n{ADVICE}") from None


def decode(line: bytes) -> Mapping[str, Any]:
    """The JSON object on a line."""
    try:
        written = line.decode("utf-8-sig").strip()  # -sig: some editors put a mark before the first line
    except UnicodeDecodeError as error:
        raise ValueError(
            f"byte {error.start + 1} of the line is {line[error.start]:#04x}, which is not UTF-8."
        ) from None
    if not written:
        raise ValueError("a JSON object is expected, but the line is empty.")
    try:
        content = parse_json(written)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"a JSON object is expected, but at character {error.pos + 1} this goes wrong: {error.msg}. "
            f"The line begins {shortened(written)}."
        ) from None
    except ValueError as error:
        raise ValueError(f"a JSON object is expected, but {error}.") from None
    if not isinstance(content, dict):
        raise ValueError(f"a JSON object is expected, but this is {shortened(content)}.")
    return content


def text(content: Mapping[str, Any], key: str) -> str:
    """A value that must be a text with something in it."""
    value = given(content, key, "a text")
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f'"{key}" should be a text that is not empty, but is {shortened(value)}.')
    return value


def pair_identifier(content: Mapping[str, Any], key: str) -> str:
    """What a pair is called, as text."""
    value = given(content, key, "a text or a whole number")
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise ValueError(f'"{key}" should be a text or a whole number, but is {shortened(value)}.')
    return str(value)


def flag(content: Mapping[str, Any], key: str) -> bool | None:
    """A value that is true, false or absent."""
    value = content.get(key)
    if value is not None and not isinstance(value, bool):
        raise ValueError(f'"{key}" should be true or false, but is {shortened(value)}.')
    return value


def given(content: Mapping[str, Any], key: str, expected: str) -> Any:
    if key not in content:
        raise ValueError(f'"{key}" ({expected}) is missing; the keys are {", ".join(content) or "none"}.')
    return content[key]


def shortened(value: Any) -> str:
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}…"


def notes_on(paradigms: Sequence[Sequence[Pair]], missing: Sequence[str]) -> list[str]:
    """A line for each thing that is not as in BLiMP as it was published, and for what is odd in that."""
    uids = {pairs[0].uid for pairs in paradigms}
    own = sorted(uids - ALL_PARADIGMS)
    sizes = sorted({len(pairs) for pairs in paradigms})
    found = []
    if missing and len(missing) < len(ALL_PARADIGMS):  # if all are missing, the files are not meant to be BLiMP
        found.append(
            f"{len(missing)} of BLiMP's {len(ALL_PARADIGMS)} paradigms are missing, so that totals are not those of BLiMP: "
            f"{listed(missing)}."
        )
    if own:
        found.append(f"not among BLiMP's {len(ALL_PARADIGMS)} paradigms, and counted all the same: {listed(own)}.")
    if len(sizes) > 1:
        found.append(
            f"paradigms have from {sizes[0]:,} to {sizes[-1]:,} pairs, so the mean over pairs is not that over paradigms."
        )
    same = [f"{pair.uid} {pair.pair_id}" for pairs in paradigms for pair in pairs if pair.good == pair.bad]
    if same:
        found.append(
            f"both sentences are the same, so that no model can be right, in {len(same):,} of the pairs: {listed(same)}."
        )
    repeated = [name for pairs in paradigms for name in repeats(pairs)]
    if repeated:
        found.append(
            f"{len(repeated):,} of the pairs repeat the sentences of another of their paradigm: {listed(repeated)}."
        )
    return found


def repeats(pairs: Sequence[Pair]) -> list[str]:
    """The pairs of a paradigm that have an earlier one's sentences."""
    seen: dict[tuple[str, str], str] = {}
    found = []
    for pair in pairs:
        before = seen.setdefault((pair.good, pair.bad), pair.pair_id)
        if before != pair.pair_id:
            found.append(f"{pair.uid} {pair.pair_id} (as {before})")
    return found


def listed(names: Sequence[str]) -> str:
    """Names in a row; of many, the first ones and how many more."""
    shown = ", ".join(names[:LISTED])
    return shown if len(names) <= LISTED else f"{shown} and {len(names) - LISTED:,} more"
