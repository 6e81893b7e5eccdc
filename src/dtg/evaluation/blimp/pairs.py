"""BLiMP's pairs: a folder of .jsonl files (or one file) in, the paradigms with the pairs that were asked for out.

Pairs belong together by their `UID`, whatever their file is called. What is malformed raises, and so does a pair that is
there twice; what a reader of the results should know (paradigms that are missing, sentences that repeat, pairs whose two
sentences are the same) is in `notes`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dtg.errors import InputError
from dtg.evaluation.blimp.choosing import check_amount, chosen, some
from dtg.evaluation.blimp.lines import Pair, read_line
from dtg.evaluation.blimp.notes import listed, notes_on
from dtg.evaluation.blimp.paradigms import ALL_PARADIGMS


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
    first: int | None = None,
    share: float | None = None,
    seed: int = 0,
) -> PairSet:
    """All paradigms or those named; of each all pairs, the first so many, or a share of them drawn at random.

    What is drawn depends on the seed and the pairs' names alone, and a smaller share is part of a larger one.
    """
    check_amount(first, share)
    path = Path(path)
    found = by_paradigm(path)
    wanted = sorted(found) if paradigms is None else chosen(paradigms, sorted(found), path)
    selected = tuple(
        Paradigm(
            uid=uid,
            field=found[uid][0].field,
            phenomenon=found[uid][0].phenomenon,
            pairs=tuple(some(found[uid], first, share, seed)),
            available=len(found[uid]),
        )
        for uid in wanted
    )
    missing = sorted(ALL_PARADIGMS - found.keys()) if paradigms is None else []
    notes = notes_on([paradigm.pairs for paradigm in selected], missing)
    if first is not None:
        short = [f"{paradigm.uid} ({paradigm.available:,})" for paradigm in selected if paradigm.available < first]
        notes += [f"fewer than the first {first:,} pairs are there of: {listed(short)}."] if short else []
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
                    f"the pairs of {pair.uid} before it, {pairs[0].field} and {pairs[0].term}.\nMend the line, or give "
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
