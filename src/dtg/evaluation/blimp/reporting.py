"""A folder of BLiMP results: scored pairs in, results.json, results.md, pairs.csv and pictures out; and back, to compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dtg.errors import InputError
from dtg.evaluation.blimp.columns import PAIR_COLUMNS, pair_row, scored_pair
from dtg.evaluation.blimp.comparison import Comparison
from dtg.evaluation.blimp.drawing import draw_scores
from dtg.evaluation.blimp.intervals import Resampling
from dtg.evaluation.blimp.lines import Pair
from dtg.evaluation.blimp.markdown import comparison_markdown, scores_markdown
from dtg.evaluation.blimp.scored import Convention, ScoredPair
from dtg.evaluation.blimp.scores import Scores
from dtg.evaluation.results import draw_picture, read_results, results_content, write_results, write_rows, write_text
from dtg.tables.formats import read_rows

PAIRS = "pairs.csv"
HOW = Resampling()
INTERVALS = (
    f"Intervals: {100 * HOW.level:g} %, by bootstrap over the pairs of each paradigm ({HOW.samples:,} resamples). They leave "
    "out the variance between models trained with different seeds. A pair whose two numbers are equal is a tie, and not right."
)


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that is told of one model."""

    name: str
    title: str  # what was evaluated, and how
    notes: tuple[str, ...]
    scored: Sequence[ScoredPair]
    scores: Mapping[Convention, Scores]
    comparisons: Sequence[Comparison] = ()  # with another model, by each convention

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "title": self.title,
            "notes": list(self.notes),
            "intervals": INTERVALS,
            "scores": {convention: scores.as_dict() for convention, scores in self.scores.items()},
            "against": {comparison.convention: comparison.as_dict() for comparison in self.comparisons} or None,
        }

    def markdown(self) -> str:
        """For people."""
        parts = [
            f"# BLiMP: {self.name}\n\n{self.title}\n",
            scores_markdown(self.scores),
            f"{INTERVALS}\n",
            "".join(f"- {note}\n" for note in self.notes),
            *(["## Comparison\n"] if self.comparisons else []),
            *(f"{comparison_markdown(one)}\n{''.join(f'- {note}' for note in one.notes)}" for one in self.comparisons),
        ]
        return "\n".join(part for part in parts if part)


def write_report(folder: Path, report: Report, settings: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    """Write all files; false if matplotlib is not there to draw the pictures."""
    write_rows(folder / PAIRS, PAIR_COLUMNS, map(pair_row, report.scored))
    models = {report.name: report.scores["sentence"]}
    drawn = draw_picture(folder, "fields", partial(draw_scores, models=models, level="fields"))
    drawn &= draw_picture(folder, "phenomena", partial(draw_scores, models=models, level="phenomena"))
    write_text(folder / "results.md", report.markdown())
    write_results(folder, results_content("blimp", settings, given, report.as_dict()))
    return drawn


def read_report(folder: Path, pairs: Sequence[Pair]) -> tuple[str, list[ScoredPair]]:
    """The name and the scored pairs of a model that was evaluated before; some of `pairs` must be among them."""
    name: str = read_results(folder, "blimp")["given"]["name"]
    scored = [scored_pair(row) for _, row in read_rows(folder / PAIRS)]
    wanted = {(pair.uid, pair.pair_id) for pair in pairs}
    if not any((one.pair.uid, one.pair.pair_id) in wanted for one in scored):
        raise InputError(
            f"none of the {len(wanted):,} pairs to be scored is among the {len(scored):,} in {folder}; models are compared "
            "on the same pairs. Choose the same paradigms and pairs."
        )
    return name, scored
