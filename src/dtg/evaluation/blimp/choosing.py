"""Which paradigms and pairs to evaluate: what there is and what was asked for in, names and pairs out."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Sequence
from pathlib import Path

from dtg.errors import InputError
from dtg.evaluation.blimp.lines import Pair
from dtg.evaluation.blimp.paradigms import ALL_PARADIGMS


def check_amount(first: int | None, share: float | None) -> None:
    """Raise unless this says how many pairs are wanted."""
    if first is not None and share is not None:
        raise InputError("either the first pairs of each paradigm or a share of them can be asked for, not both.")
    if first is not None and first < 1:
        raise InputError(f"the first {first} pairs of each paradigm were asked for; ask for at least 1.")
    if share is not None and not 0 < share <= 1:
        raise InputError(f"a share of {share} of each paradigm was asked for; it must be above 0 and at most 1.")


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


def some(pairs: Sequence[Pair], first: int | None, share: float | None, seed: int) -> Sequence[Pair]:
    """The part of a paradigm's pairs that was asked for."""
    if share is None:
        return pairs[:first]
    count = max(1, round(share * len(pairs)))

    def rank(number: int) -> bytes:
        # A hash rather than a generator: the same on every machine, and no pair's fate hangs on the others.
        return hashlib.sha256(f"{seed}\t{pairs[number].uid}\t{pairs[number].pair_id}".encode()).digest()

    return [pairs[number] for number in sorted(sorted(range(len(pairs)), key=rank)[:count])]
