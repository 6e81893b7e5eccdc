"""The effects of garden paths: of people at one item, and their means over items with intervals and tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from dtg.evaluation.contract import Item
from dtg.evaluation.intervals import mean_interval
from dtg.evaluation.tasks.garden_paths.sentences import CriticalSentence, GardenPath
from dtg.evaluation.tasks.reading.regression import sign_flip


def sentences_of(pairs: Iterable[GardenPath]) -> list[str]:
    return [sentence.text for pair in pairs for _, sentence in both(pair)]


def both(pair: GardenPath) -> tuple[tuple[str, CriticalSentence], tuple[str, CriticalSentence]]:
    return ("ambiguous", pair.ambiguous), ("unambiguous", pair.unambiguous)


def human_effect(pair: GardenPath, place: int) -> float | None:
    times = [sentence.times[place] if place < len(sentence.times) else None for _, sentence in both(pair)]
    return None if times[0] is None or times[1] is None else times[0] - times[1]


def is_at(one: Mapping[str, Any], construction: str, beam: int | None, place: int) -> bool:
    return (one["construction"], one["beam"], one["place"]) == (construction, beam, place)


def summary_of(items: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Means over items; None if there are none."""
    if not items:
        return None
    ms, human = ([one[name] for one in items if one[name] is not None] for name in ("effect_ms", "human_ms"))
    return {
        "items": len(items),
        "bits": mean_of([one["effect"] for one in items]),
        "ms": mean_of(ms) if ms else None,
        "human_ms": mean_of(human) if human else None,
    }


def mean_of(values: Sequence[float]) -> dict[str, Any]:
    some = np.asarray(values, dtype=np.float64)
    return {
        "mean": float(some.mean()),
        "interval": list(mean_interval(some)),
        "p": sign_flip(some),
        "above": int((some > 0).sum()),
        "items": len(some),
    }


def widest(items: Sequence[Item]) -> dict[tuple[str, str, int], Item]:
    """The effects by the widest beam, by construction, item and place."""
    most = max((one["beam"] or 0 for one in items), default=0)
    return {(one["construction"], str(one["item"]), one["place"]): one for one in items if (one["beam"] or 0) == most}
