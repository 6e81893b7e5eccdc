"""Reranked trees told: counts of sentences in, the cells of a table, lines that explain it, and a folder of results out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dtg.evaluation.markdown import page
from dtg.evaluation.reranking import COLUMNS, WHOSE, RerankedSentence
from dtg.evaluation.results import results_content, write_results, write_rows, write_text
from dtg.io.messages import pluralize

SENTENCES = "sentences.csv"
PARTS = {"all": "all words", "without_punctuation": "no punctuation"}
MEASURES = {"uas": "UAS", "exact": "exact"}
TITLES = ("", *WHOSE, "reranked − proposal (95 %)")
EXPLAINED = (
    "Proposal: the parser's own best tree. Reranked: of the trees drawn from it, the one with the highest log p(words, tree). "
    "Oracle: the best of the trees drawn, for each measure by itself.",
    "UAS: the share of words with the right head; exact: of sentences with all heads right; both in percent. The interval is "
    "that of the paired bootstrap over sentences.",
)
SEEDS = "The interval leaves out the variance between seeds."


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that is told of one model that chose trees for some sentences."""

    name: str
    data: str
    sentences: Sequence[RerankedSentence]
    found: Mapping[str, Any]  # what `summarize` makes of them
    further: tuple[str, ...]  # lines about how it was computed

    @property
    def counts(self) -> str:
        """How many sentences, and how many trees there were to choose from."""
        count, trees = self.found["sentences"], self.found["trees"]
        return f"{pluralize(count, 'sentence')}, {trees / count:.1f} trees a sentence"

    @property
    def title(self) -> str:
        return f"Reranking by {self.name} on {Path(self.data).name}: {self.counts}"

    def cells(self) -> list[list[str]]:
        """A row for each measure, below TITLES."""
        return [
            [
                f"{title}, {label}",
                *(f"{self.found[part][who][measure]:.2f}" for who in WHOSE),
                gain(self.found[part]["difference"][measure]),
            ]
            for part, label in PARTS.items()
            if self.found[part] is not None
            for measure, title in MEASURES.items()
        ]

    def crossing(self) -> list[str]:
        """A line about gold trees that cannot be reached, if there are any."""
        trees = self.found["crossing"]
        return [f"crossing arcs, which no proposal has, are in {pluralize(trees, 'gold tree')}."] if trees else []

    def lines(self) -> list[str]:
        """What the rows and columns are, and how they were made."""
        return [*EXPLAINED, SEEDS, *self.crossing(), *self.further]

    def content(self, settings: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
        """For JSON."""
        return results_content("rerank", settings, given, {"title": self.title, "notes": self.lines(), **self.found})

    def markdown(self) -> str:
        """For people."""
        return page(self.title, TITLES, self.cells(), self.lines())


def gain(difference: Mapping[str, Any]) -> str:
    """What reranking changes, in points of a hundred."""
    low, high = difference["interval"]
    return f"{difference['value']:+.2f} (from {low:+.2f} to {high:+.2f})"


def write_report(folder: Path, report: Report, content: Mapping[str, Any]) -> None:
    """Write all files."""
    write_rows(folder / SENTENCES, COLUMNS, [one.row for one in report.sentences])
    write_text(folder / "results.md", report.markdown())
    write_results(folder, content)
