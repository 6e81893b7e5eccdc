"""Several models on the same garden paths, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from dtg.evaluation.rendering import Block, Heading, TextBlock
from dtg.evaluation.results import Results
from dtg.evaluation.tasks.garden_paths.pages import EXPLAINED, summary
from dtg.evaluation.together import compare_with_first


def side_by_side(found: Sequence[Results]) -> list[Block]:
    """The effects of each, and a comparison of each with the first."""
    blocks: list[Block] = [Heading("Garden paths")]
    for one in found:
        blocks += summary(one.name, {**one.content, "against": None})
    blocks += [TextBlock([EXPLAINED])]
    return blocks + compare_with_first(found)
