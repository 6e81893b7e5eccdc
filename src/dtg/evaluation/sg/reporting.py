"""A folder of SyntaxGym results: verdicts and surprisals in, results.json, results.md, tables and a picture out; and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dtg.errors import InputError
from dtg.evaluation.results import draw_picture, read_results, results_content, write_results, write_rows, write_text
from dtg.evaluation.sg.circuits import PAPER_LIKELY
from dtg.evaluation.sg.comparison import Comparison
from dtg.evaluation.sg.drawing import draw_circuits
from dtg.evaluation.sg.formulas import Verdict
from dtg.evaluation.sg.markdown import comparison_markdown, scores_markdown
from dtg.evaluation.sg.running import SurprisedSentence
from dtg.evaluation.sg.scores import INTERVALS, Scores
from dtg.evaluation.sg.suites import Suite, suite_sentences
from dtg.evaluation.sg.surprisals import (
    REGION_COLUMNS,
    VERDICT_COLUMNS,
    WORD_COLUMNS,
    region_rows,
    verdict_rows,
    word_rows,
)
from dtg.evaluation.sg.verdicts import CONTRADICTION, ItemResult, RegionSurprisals, Rule
from dtg.tables.formats import number_in, read_rows

VERDICTS = "verdicts.csv"


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that is told of one model. `rule` is the one that pictures follow; scores are by both."""

    name: str
    title: str  # what was evaluated, and how
    notes: tuple[str, ...]
    rule: Rule
    results: Sequence[ItemResult]
    scores: Mapping[Rule, Scores]
    compared: tuple[str, str] | None = None  # the names of this model and another
    comparisons: Sequence[Comparison] = ()  # of these two, by each rule

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        against = {one.rule: one.as_dict() for one in self.comparisons}
        return {
            "title": self.title,
            "notes": list(self.notes),
            "remarks": self.remarks(),
            "rule": self.rule,
            "items": len(self.results),
            "scores": {rule: scores.as_dict() for rule, scores in self.scores.items()},
            "against": {"models": list(self.compared), **against} if self.compared else None,
        }

    def remarks(self) -> list[str]:
        """What a reader of these numbers should know about any such numbers."""
        suites = {result.suite for result in self.results}
        averaged = {average.suites.name for average in self.scores[self.rule].averages}
        told = [INTERVALS]
        told += [CONTRADICTION] if "fgd_hierarchy" in suites else []
        return [*told, PAPER_LIKELY] if "33 suites" in averaged else told

    def markdown(self) -> str:
        """For people."""
        parts = [f"# SyntaxGym: {self.name}\n\n{self.title}\n", scores_markdown(self.scores)]
        parts += [f"{remark}\n" for remark in self.remarks()] + ["".join(f"- {note}\n" for note in self.notes)]
        if self.compared:
            parts += ["## Comparison\n", comparison_markdown(self.comparisons, self.compared)]
        return "\n".join(part for part in parts if part)


def write_report(
    folder: Path,
    report: Report,
    suites: Sequence[Suite],
    regions: RegionSurprisals,
    words: Sequence[SurprisedSentence],
    settings: Mapping[str, Any],
    given: Mapping[str, Any],
) -> bool:
    """Write all files, that of words if they are there; false if matplotlib is not there to draw the picture."""
    by_name = {suite.name: suite for suite in suites}
    if words:
        rows = (row for one in words for row in word_rows(one.sentence, one.words, one.surprisals))
        write_rows(folder / "words.csv", WORD_COLUMNS, rows)
    sentences = suite_sentences(suites)
    known = (row for one in sentences for row in region_rows(one, by_name[one.key.suite], regions[one.key]))
    write_rows(folder / "regions.csv", REGION_COLUMNS, known)
    write_rows(folder / VERDICTS, VERDICT_COLUMNS, verdict_rows(report.results))
    drawn = draw_picture(
        folder, "circuits", lambda path: draw_circuits(path, {report.name: report.scores[report.rule]})
    )
    write_text(folder / "results.md", report.markdown())
    write_results(folder, results_content("sg", settings, given, report.as_dict()))
    return drawn


def read_report(folder: Path, suites: Sequence[Suite]) -> tuple[str, list[ItemResult]]:
    """The name and the verdicts of a model that was evaluated before, which must be of these suites."""
    name: str = read_results(folder, "sg")["given"]["name"]
    found = read_verdicts(folder)
    ours = {(suite.name, item.number) for suite in suites for item in suite.items}
    if differing := sorted(ours ^ {(one.suite, one.item) for one in found}):
        where = "is not in" if differing[0] in ours else "is only in"
        raise InputError(
            f"suite {differing[0][0]}, item {differing[0][1]} {where} {folder} ({len(differing):,} differ in all). Models are "
            "compared on the same items: choose the same suites."
        )
    return name, found


def read_verdicts(folder: Path) -> list[ItemResult]:
    """Those in a folder of results."""
    verdicts: dict[tuple[str, int], list[Verdict]] = {}
    for where, row in read_rows(folder / VERDICTS):
        item, holds, ties = (int(number_in(row, column, int, where) or 0) for column in ("item", "holds", "ties"))
        verdicts.setdefault((row["suite"], item), []).append(Verdict(bool(holds), ties))
    return [ItemResult(suite, item, tuple(some)) for (suite, item), some in verdicts.items()]
