"""What a reader of BLiMP results should know about the pairs: paradigms with their pairs in, lines of text out."""

from __future__ import annotations

from collections.abc import Sequence

from dtg.evaluation.blimp.lines import Pair
from dtg.evaluation.blimp.paradigms import ALL_PARADIGMS

LISTED = 10


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
