"""Several models on the same reading times, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from dtg.evaluation.rendering import Block, Heading, Table, TextBlock
from dtg.evaluation.results import Results
from dtg.evaluation.tasks.reading.analysis import ALL, BY_SURPRISAL
from dtg.evaluation.tasks.reading.pages import EXPLAINED, UNIT, gain_cells
from dtg.evaluation.together import compare_with_first


def side_by_side(found: Sequence[Results]) -> list[Block]:
    """A table of all, and a comparison of each with the first."""
    rows = []
    for one in found:
        sets = one.content["sets"]
        cells = gain_cells(sets[BY_SURPRISAL]["baseline"])
        beyond = gain_cells(sets[ALL][BY_SURPRISAL])[:3] if ALL in sets else ["", "", ""]
        ms = f"{one.content['ms_per_bit']['total']:.2f}"
        rows.append([one.name, f"{one.content['words']:,}", *cells, *beyond, ms])
    beyond = ["all columns beyond it", "95 % interval", "p"]
    header = ["", "words", f"surprisal, {UNIT}", "95 % interval", "p", "folds", *beyond]
    blocks: list[Block] = [Heading("Reading times"), TextBlock([found[0].content["title"]])]
    blocks += [Table([*header, "ms a bit"], rows)]
    warnings = {line for one in found for line in one.content["warnings"]}
    blocks += [TextBlock([*sorted(warnings), EXPLAINED])]
    return blocks + compare_with_first(found)
