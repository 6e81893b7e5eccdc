"""A small suite in SyntaxGym's form, for tests to change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def content(name: str = "number_made_up", metric: str = "sum") -> dict[str, Any]:
    """Two items, two conditions, four regions: an empty one, and words that are split."""
    sentences = {
        1: {
            "match": ["The dog's", "", "tail is", "n't long ."],
            "mismatch": ["The dog's", "", "tail are", "n't long ."],
        },
        2: {"mismatch": ["Cats", "", " run ", ", she says"], "match": ["Cats", "do", " run ", ", she says"]},
    }
    return {
        "meta": {"name": name, "metric": metric, "author": "us"},
        "region_meta": {"1": "subject", "2": "auxiliary", "3": "verb", "4": "end"},
        "predictions": [
            {"type": "formula", "formula": "(3;%match%) < (3;%mismatch%)"},
            {"type": "formula", "formula": "[(*;%match%)] < [(*;%mismatch%)]"},
        ],
        "items": [
            {
                "item_number": number,
                "conditions": [
                    {
                        "condition_name": condition,
                        "regions": [
                            {"region_number": place, "content": text} for place, text in enumerate(regions, start=1)
                        ],
                    }
                    for condition, regions in conditions.items()
                ],
            }
            for number, conditions in sentences.items()
        ],
    }


def write_suite(path: Path, suite: object) -> Path:
    path.write_text(json.dumps(suite), encoding="utf-8")
    return path
