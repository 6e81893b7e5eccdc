"""Constituency parsers as a task: how many labelled brackets of a treebank a parser finds; `brackets` says what counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import nan
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from dtg.errors import InputError
from dtg.evaluation.contract import Content, Item, Row
from dtg.evaluation.intervals import ratio_interval
from dtg.evaluation.rendering import Block, TextBlock
from dtg.evaluation.tasks.brackets import match_brackets, words_that_count
from dtg.evaluation.tasks.gold import GoldTask, ParsingTask, by_length, identity, percent, ticket
from dtg.evaluation.tasks.selection import choose, content_hash
from dtg.parser.parser import Parser
from dtg.tables.columns import Column
from dtg.trees import BracketReading, ConstituencyTree, TreebankReport

SCORES = {"f1": "F1", "precision": "precision", "recall": "recall", "unlabelled_f1": "unlabelled F1", "exact": "exact"}
SAMPLES = 1000
IGNORED = (
    "Labelled brackets as EVALB counts them: words tagged , : `` '' and . are taken out, ADVP and PRT are the same, ROOT and X "
    "over everything do not count. Exact: the share of sentences with all brackets right."
)


class GoldPhrases(GoldTask, Protocol):
    """A task of phrases that are compared with gold ones; models are compared by F1."""

    measured: ClassVar[tuple[str, str]] = ("f1", "F1")
    matched: ClassVar[str]  # the columns with how many brackets are right ...
    found: ClassVar[str]  # ... of how many

    @classmethod
    def difference(cls, ours: Sequence[Item], theirs: Sequence[Item]) -> dict[str, Any]:
        counts = [
            (np.array([2 * row[cls.matched] for row in rows]), np.array([row["gold"] + row[cls.found] for row in rows]))
            for rows in (ours, theirs)
        ]
        return difference_of_ratios(counts[0], counts[1])


@dataclass(frozen=True)
class PhraseParsing(ParsingTask, GoldPhrases):
    """Gold trees, and how many of a parser's trees are looked at. `PhraseParsing.of` reads them."""

    name: ClassVar[str] = "parser-phrases"
    table: ClassVar[str] = "sentences.csv"
    matched: ClassVar[str] = "matched"
    found: ClassVar[str] = "found"
    unit: ClassVar[str] = "brackets"
    shares: ClassVar[Mapping[str, str]] = SCORES
    columns: ClassVar[Sequence[Column]] = (
        Column("sentence_id", int, "the sentence's number in its file, from 1"),
        Column("sent_id", str, "its file and number"),
        Column("words", int, "how many it has"),
        Column("scored", int, "those that are not punctuation"),
        Column("gold", int, "brackets of the gold tree"),
        Column("found", int, "brackets of the parser's tree"),
        Column("matched", int, "brackets of both, with the same label"),
        Column("matched_spans", int, "brackets of both, whatever their labels"),
        Column("oracle_found", int, "brackets of the tree of the list that has the highest F1"),
        Column("oracle_matched", int, "those of them that the gold tree has"),
    )

    files: tuple[Path, ...]
    gold: tuple[ConstituencyTree, ...]
    nbest: int = 10
    reading: BracketReading = field(default_factory=BracketReading)
    report: TreebankReport = field(default_factory=TreebankReport, compare=False)

    @classmethod
    def of(
        cls,
        source: Path | Sequence[Path],
        *,
        nbest: int = 10,
        limit: int | None = None,
        sample: int | None = None,
        seed: int = 0,
        reading: BracketReading | None = None,
    ) -> Self:
        """Gold trees of one or more treebanks in brackets.

        Args:
            source: files (.ptb, .mrg, .brackets, .gz, .xz).
            nbest: also score the best of the parser's n-best trees; 1 for none.
            limit, sample, seed: the first sentences, or some at random.
            reading: what happens to traces, functions and unary chains, and to what cannot be read.
        """
        files = (source,) if isinstance(source, Path) else tuple(source)
        reading = reading or BracketReading()
        gold, report = read_gold(files, reading, limit, sample, seed)
        return cls(files, gold, nbest, reading, report)

    @cached_property
    def data_sha256(self) -> str:
        return content_hash([[tree.words, tree.key, tree.tags] for tree in self.gold])

    def for_model(self, model: Parser) -> Self:  # type: ignore[override]  # of parsers, not language models
        if isinstance(model, Parser) and model.kind != "constituency":
            raise InputError(
                f"{self.data} holds phrases, and the parser gives dependencies. Name a treebank in CoNLL-U, or a "
                "constituency parser."
            )
        return self

    def measure(self, model: Parser, items: Sequence[ConstituencyTree]) -> list[Row]:  # type: ignore[override]
        lists = model.k_best_all((tree.words for tree in items), self.nbest)
        return [counted(gold, [one.tree for one in found]) for gold, found in zip(items, lists, strict=True)]

    def summarize(self, rows: Sequence[Row], name: str) -> Content:
        content: dict[str, Any] = {
            "title": self.titled(name),
            "all": bracket_scores(rows),
            "by_length": by_length(rows, bracket_scores),
            "intervals": {"all words": {"f1": f1_interval(rows, "matched", "found")}},
        }
        if self.nbest > 1:
            content["oracle"] = {"nbest": self.nbest, **bracket_scores(rows, "oracle_matched", "oracle_found")}
        return content

    @classmethod
    def summary(cls, name: str, content: Content) -> list[Block]:
        low, high = content["intervals"]["all words"]["f1"]
        lines = TextBlock([f"95 % interval of F1, over sentences: {low:.2f} to {high:.2f}.", IGNORED])
        return [cls.shares_table(content), lines, *cls.against(content)]


def read_gold(
    files: Sequence[Path], reading: BracketReading, limit: int | None, sample: int | None, seed: int
) -> tuple[tuple[ConstituencyTree, ...], TreebankReport]:
    """Gold trees, all or some of them."""
    report = TreebankReport()
    gold = choose(reading.read(files, report), lambda tree: ticket(tree, seed), limit=limit, sample=sample)
    if not gold:
        raise InputError(f"{', '.join(map(str, files))} has no trees with words.")
    return tuple(gold), report


def counted(gold: ConstituencyTree, found: Sequence[ConstituencyTree]) -> Row:
    """What is right in a parser's best tree, and in the best of its list."""
    counts = words_that_count(gold)
    matches = [match_brackets(gold, tree, counts) for tree in found]
    first, best = matches[0], max(matches, key=lambda match: match.f1)
    return {
        **identity(gold),
        "words": len(gold),
        "scored": sum(counts),
        "gold": first.gold,
        "found": first.found,
        "matched": first.matched,
        "matched_spans": first.matched_spans,
        "oracle_found": best.found,
        "oracle_matched": best.matched,
    }


def bracket_scores(rows: Sequence[Row], matched: str = "matched", found: str = "found") -> dict[str, Any]:
    """Shares in percent, of the brackets of all sentences together; None where there is nothing to share out."""
    gold, ours, both = (sum(row[name] for row in rows) for name in ("gold", found, matched))
    exact = sum(row["gold"] == row[found] == row[matched] for row in rows)
    scores: dict[str, Any] = {
        "sentences": len(rows),
        "words": sum(row["words"] for row in rows),
        "brackets": gold,
        "f1": percent(2 * both, gold + ours),
        "precision": percent(both, ours),
        "recall": percent(both, gold),
        "exact": percent(exact, len(rows)),
    }
    if matched == "matched":
        scores["unlabelled_f1"] = percent(2 * sum(row["matched_spans"] for row in rows), gold + ours)
    return scores


def f1_interval(rows: Sequence[Row], matched: str, found: str, seed: int = 0) -> list[float]:
    """The bootstrap interval of F1 over sentences, in percent."""
    totals = [row["gold"] + row[found] for row in rows]
    if not any(totals):
        return [nan, nan]
    bounds = ratio_interval([2 * row[matched] for row in rows], totals, seed=seed)
    return [round(100 * bound, 2) for bound in bounds]


def difference_of_ratios(ours: tuple[Any, Any], theirs: tuple[Any, Any], seed: int = 0) -> dict[str, Any]:
    """By how many percentage points one ratio is above another, with the interval of the paired bootstrap over sentences.

    A ratio is given as two arrays, numerators and denominators of the sentences.
    """
    columns = np.stack([*ours, *theirs], 1).astype(float)

    def difference(sums: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        found: np.ndarray[Any, Any] = 100 * (sums[..., 0] / sums[..., 1] - sums[..., 2] / sums[..., 3])
        return found

    if not columns[:, 1].any() or not columns[:, 3].any():
        return {"value": 0.0, "interval": [0.0, 0.0]}
    numbers, count = np.random.default_rng(seed), len(columns)
    sums = np.stack([columns[numbers.integers(count, size=count)].sum(0) for _ in range(SAMPLES)])
    drawn = difference(sums[(sums[:, 1] > 0) & (sums[:, 3] > 0)])
    low, high = np.percentile(drawn, [2.5, 97.5])
    return {
        "value": round(float(difference(columns.sum(0))), 2),
        "interval": [round(float(low), 2), round(float(high), 2)],
    }
