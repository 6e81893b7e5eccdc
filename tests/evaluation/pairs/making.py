"""BLiMP pairs made up for tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dtg.evaluation.tasks.pairs.blimp_files import Pair
from dtg.evaluation.tasks.pairs.scored import ScoredPair


def record(number: int = 0, uid: str = "wh_island", **others: Any) -> dict[str, Any]:
    """What a line of a file has in it."""
    return {
        "sentence_good": f"Who sleeps {number} times?",
        "sentence_bad": f"Whom sleeps {number} times?",
        "field": "syntax",
        "linguistics_term": "island_effects",
        "UID": uid,
        "simple_LM_method": True,
        "one_prefix_method": True,
        "two_prefix_method": False,
        "lexically_identical": False,
        "pairID": str(number),
        **others,
    }


def write(path: Path, *records: Mapping[str, Any]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


def scored(
    uid: str,
    number: int,
    good: float,
    bad: float,
    *,
    field: str = "syntax",
    term: str = "island_effects",
    words: int = 4,
) -> ScoredPair:
    """A pair of two sentences of 4 words, the second with `words` words."""
    pair = Pair(uid, str(number), field, term, f"good {number}", f"bad {number}", None, None)
    return ScoredPair(pair, good, bad, 4, words)
