"""Perplexities told: summaries and rows in, the cells of a table, lines that explain it, and a folder of results out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dtg.evaluation.markdown import page
from dtg.evaluation.perplexity import LEVEL, Measured, Perplexity, Row
from dtg.evaluation.perplexity_comparison import Difference
from dtg.evaluation.perplexity_rows import COLUMNS, SENTENCES, By
from dtg.evaluation.results import results_content, write_results, write_rows, write_text
from dtg.io.messages import pluralize
from dtg.scoring.marginal import Kind

SIGNS: Mapping[Kind, str] = {"exact": "=", "lower bound": "≤", "estimate": "≈"}  # p at least is perplexity at most
TITLES = {
    "per_word": "per word",
    "per_word_and_end": "+ <END>",
    "per_word_without_end": "no <END>",
    "per_piece": "per piece",
    "per_piece_and_end": "+ <END>",
    "per_piece_without_end": "no <END>",
}
MEANINGS: Mapping[By, str] = {
    "exact": "exact: of the words; a model without trees has no sum to make.",
    "joint": "joint: of the words together with the trees of the file.",
    "proposal": "proposal: of the words, at most: the sum is over the trees that the proposal gives.",
    "estimate": "estimate: of the words, from the same trees weighted by how probable it was to draw them; not a bound.",
    "beam": "beam: of the words, at most: the sum is over the trees that the search ends with.",
}
CONVENTIONS = (
    "per word, per piece: <END> is predicted, but not counted as a word or piece.",
    "+ <END>: <END> is predicted, and counted as one more word or piece of each sentence.",
    "no <END>: <END> is neither predicted nor counted.",
)
INTERVAL = (
    f"{LEVEL:.0%}: of perplexity per word, by bootstrap over sentences. It leaves out the variance between seeds."
)


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that is told of one model on some sentences."""

    name: str
    data: str
    rows: Sequence[Row]
    found: Sequence[Perplexity]
    further: tuple[str, ...]  # lines about how it was computed, and what was not
    compared: tuple[str, Sequence[Difference]] | None = None  # the name of another model, and how far it is from that

    @property
    def title(self) -> str:
        """Of which model and how many sentences."""
        sentences, words, pieces = len(self.rows), total(self.rows, "words"), total(self.rows, "pieces")
        counts = f"{pluralize(sentences, 'sentence')}, {pluralize(words, 'word')}, {pluralize(pieces, 'piece')}"
        return f"Perplexity of {self.name} on {Path(self.data).name}: {counts}"

    def cells(self, *, counts: bool) -> tuple[list[str], list[list[str]]]:
        """Titles, and a row for each kind of probability; what applies to none has no column. `counts` adds how many words."""
        named = [name for name in TITLES if any(name in one.perplexities for one in self.found)]
        has_draws = any(one.drawn is not None for one in self.found)
        titles = ["", "", *(TITLES[name] for name in named), "bits/word", f"{LEVEL:.0%}"]
        titles += ["ESS"] * has_draws + ["sentences", "words", "pieces"] * counts
        return titles, [
            [
                one.by,
                SIGNS[one.kind],
                *(shown(one.perplexities.get(name)) for name in named),
                f"{one.bits_per_word.value:.3f}",
                "{} to {}".format(*map(figure, (one.perplexities["per_word"].low, one.perplexities["per_word"].high))),
                *[effective(one)] * has_draws,
                *[f"{count:,}" for count in (one.sentences, one.words, one.pieces)] * counts,
            ]
            for one in self.found
        ]

    def lines(self) -> list[str]:
        """What the rows and columns are, and what else is to be known."""
        ends = CONVENTIONS if any("per_word_without_end" in one.perplexities for one in self.found) else CONVENTIONS[:2]
        uses_trees = any(one.by == "joint" for one in self.found)
        lifted = [row["lifted_arcs"] for row in self.rows if uses_trees and row.get("lifted_arcs")]
        return [
            *(MEANINGS[one.by] for one in self.found),
            *ends,
            INTERVAL,
            *(line for one in self.found for line in remarks(one)),
            *(
                [f"lifted {pluralize(sum(lifted), 'crossing arc')} in {pluralize(len(lifted), 'sentence')}."]
                if lifted
                else []
            ),
            *self.further,
            *self.comparison(),
        ]

    def comparison(self) -> list[str]:
        """A line for each kind of probability that two models were compared by."""
        if self.compared is None:
            return []
        other, differences = self.compared
        return [
            f"{self.name} − {other}, by {one.by}: {one.shown} bits a word; better on {one.better:,} of "
            f"{pluralize(one.sentences, 'sentence')}."
            for one in differences
        ]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "title": self.title,
            "sentences": len(self.rows),
            "words": total(self.rows, "words"),
            "pieces": total(self.rows, "pieces"),
            "lifted_arcs": total(self.rows, "lifted_arcs"),
            "notes": self.lines(),
            "perplexities": {one.by: one.as_dict() for one in self.found},
            **self.compared_as_dict(),
        }

    def compared_as_dict(self) -> dict[str, Any]:
        if self.compared is None:
            return {}
        other, differences = self.compared
        return {"compared": {"with": other, "differences": [one.as_dict() for one in differences]}}

    def markdown(self) -> str:
        """For people."""
        return page(self.title, *self.cells(counts=True), self.lines())


def write_report(folder: Path, report: Report, settings: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Write all files."""
    write_sentences(folder, report.rows)
    write_text(folder / "results.md", report.markdown())
    write_results(folder, results_content("ppl", settings, given, report.as_dict()))


def write_sentences(folder: Path, rows: Sequence[Row]) -> None:
    """Write sentences.csv, without columns that do not apply."""
    columns = [column for column in COLUMNS if column.name in rows[0]]
    write_rows(folder / SENTENCES, columns, [tuple(row[column.name] for column in columns) for row in rows])


def remarks(one: Perplexity) -> Iterable[str]:
    """What is to be known of one row of the table."""
    if one.without:
        why = (
            "draws allow no estimate"
            if one.by == "estimate"
            else "trees have probability 0, which would make it infinite"
        )
        yield f"{one.by}: without {pluralize(one.without, 'sentence')} whose {why}."
    if one.trees is not None and one.by == "proposal":
        yield f"proposal: {one.trees:,.1f} different trees a sentence."
    if one.drawn is not None and one.drawn.exact_sentences:
        yield f"estimate: exact for {pluralize(one.drawn.exact_sentences, 'sentence')}, all of whose trees were drawn."
    if one.drawn is not None and one.drawn.standard_error is not None:
        share = one.drawn.standard_error / one.words
        yield (
            f"estimate: the draws make perplexity per word uncertain by {share:.2%} (one standard error), more where few "
            "of them carry it (ESS)."
        )
    if one.drawn is not None and one.drawn.below_bound:
        below = pluralize(one.drawn.below_bound, "sentence")
        yield f"estimate: below one of the bounds, so too low for certain, for {below}."


def total(rows: Iterable[Row], name: str) -> int:
    return sum(row.get(name, 0) for row in rows)


def shown(measured: Measured | None) -> str:
    return "" if measured is None else figure(measured.value)


def figure(value: float) -> str:
    """A perplexity, with as many decimals as may matter."""
    if value >= 1e7:  # of a model that knows nothing
        return f"{value:.2e}"
    return f"{value:,.1f}" if value >= 100 else f"{value:.2f}"


def effective(one: Perplexity) -> str:
    size = None if one.drawn is None else one.drawn.effective_sample_size
    return "" if size is None else f"{size:,.1f}"
