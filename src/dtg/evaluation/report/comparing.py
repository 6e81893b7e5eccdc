"""Which numbers may stand side by side: those that rest on the same data and were found in the same way; others get a note.

Numbers compare if they are of the same data, by hash, and were found in the same way. An exact number needs no such way: it
compares with any other on the same data, and the sign before the other says of which kind that is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from dtg.evaluation.report.gathering import Found, ReportedModel
from dtg.evaluation.report.page import Notes, quoted

Facets = tuple[tuple[str, Hashable], ...]
Thing = TypeVar("Thing", bound=Hashable)
TREES = ("trees", "proposal")
USED: Mapping[str, tuple[str, ...]] = {  # which settings matter to whom
    "beam": ("beam", "word_beam", "smallest_share"),
    "trees": TREES,  # what minimal pairs call the next
    "proposal": TREES,
    "estimate": TREES,
    "joint": (),
    **dict.fromkeys(("rerank", "rerank-phrases"), (*TREES, "weight")),
}
HASH = re.compile(r"[0-9a-f]{64}")
IMPORTED = "Surprisals of another tool; how they were found is not known here."


@dataclass(frozen=True, slots=True)
class Basis:
    """What a number rests on: the data, and the way in which it was found, if it is not exact."""

    data: Facets
    method: Facets | None


def basis_of(found: Found, by: str | None = None) -> Basis:
    """Of one evaluation; `by` is the kind of probability, where there are several."""
    settings, content = found.settings, found.content
    thing = {"blimp": "pairs", "pairs": "pairs", "sg": "items", "garden-paths": "items", "reading": "words"}.get(
        found.kind, "sentences"
    )
    scored = content["scores"] if thing == "pairs" else {}
    count = next((one["overall"]["pairs"] for one in scored.values()), content.get(thing))
    by = by or settings.get("by")
    exact = by in (None, "exact")  # None: surprisals of another tool
    return Basis(((thing, (count, settings["data_sha256"])),), None if exact else method_of(str(by), settings))


def method_of(by: str, settings: Mapping[str, Any]) -> Facets:
    """How something was found, in the settings that mattered."""
    names = (*USED.get(by, ()), *(["constrained"] if "constrained" in settings else []))
    return (("log p", by), *((name.replace("_", " "), settings.get(name)) for name in names))


def unlike(bases: Sequence[Basis | None], says: str = "Not comparable with the unmarked") -> list[Notes]:
    """For each number, a note if it does not compare with most of the others; None is for those that are missing."""
    data = most_common(basis.data for basis in bases if basis is not None)
    method = most_common(basis.method for basis in bases if basis is not None and basis.method is not None)
    found: list[Notes] = []
    for basis in bases:
        differences = []
        if basis is not None:
            differences = differing(basis.data, data)
            differences += [] if basis.method is None else differing(basis.method, method)
        found.append((f"{says}: {'; '.join(differences)}.",) if differences else ())
    return found


def notes_on(models: Sequence[ReportedModel], kind: str) -> list[Notes]:
    """For each model, what keeps its results of a kind from being compared with those of the others."""
    bases = [basis_of(model.results[kind]) if kind in model.results else None for model in models]
    imported = [kind in model.results and "surprisals_sha256" in model.results[kind].settings for model in models]
    return [
        (*notes, IMPORTED) if is_imported else notes for notes, is_imported in zip(unlike(bases), imported, strict=True)
    ]


def differing(facets: Facets, usual: Facets | None) -> list[str]:
    """What is not as usual. Where the way is another altogether, that is all there is to say."""
    if usual is None or facets == usual:
        return []
    others = dict(usual)
    lines = [
        f"{name}: {shown(value)}, not {shown(others[name])}"
        for name, value in facets
        if name in others and others[name] != value
    ]
    return lines[:1] if lines and lines[0].startswith("log p") else lines


def shown(value: object) -> str:
    """A value of a setting for people."""
    if isinstance(value, tuple):
        count, sha256 = value
        return f"{count:,} (sha256 {sha256[:8]})"
    if isinstance(value, str):
        return f"sha256 {value[:8]}" if HASH.fullmatch(value) else quoted(value)
    return f"{value:,}" if type(value) is int else str(value)


def most_common(items: Iterable[Thing]) -> Thing | None:
    """The first of those that come most often."""
    counted = Counter(items).most_common(1)
    return counted[0][0] if counted else None
