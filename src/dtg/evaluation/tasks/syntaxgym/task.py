"""SyntaxGym as a task: whether a model is surprised where the suites say it should be.

Sentences of an item are searched together, so that what its conditions begin with is computed once; which word comes next plays
no part in a search until it is known, so this changes no number. The end of a sentence counts nowhere. All surprisals are in
bits: the tolerance of `=` was meant for those.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar, Self

import dtg
from dtg.errors import InputError, UnknownNameError
from dtg.evaluation.accuracies import AccuracyTask, by_group
from dtg.evaluation.comparison import overlap_table
from dtg.evaluation.contract import Content, Interval, Item, Metric, Ready, Row, Tables
from dtg.evaluation.probability import Probability
from dtg.evaluation.rendering import BarChart, Block, Table, TextBlock, percent, pluralize
from dtg.evaluation.tasks.selection import amount, check_amount, content_hash, draw
from dtg.evaluation.tasks.syntaxgym.importing import Imported, import_surprisals
from dtg.evaluation.tasks.syntaxgym.scores import (
    CONTRADICTION,
    INTERVALS,
    PAPER_LIKELY,
    RULE_TITLES,
    RULES,
    Rule,
    compare_items,
    judge_items,
    region_surprisals,
    score_items,
)
from dtg.evaluation.tasks.syntaxgym.suites import Key, Suite, SuiteSentence, read_suites, suite_sentences
from dtg.evaluation.tasks.syntaxgym.tables import (
    REGION_COLUMNS,
    VERDICT_COLUMNS,
    WORD_COLUMNS,
    region_rows,
    results_of,
    verdict_rows,
    word_rows,
)
from dtg.io.hashing import file_hash
from dtg.io.settings import check_choice
from dtg.language_model import LanguageModel
from dtg.tables.columns import Base, Column
from dtg.text.words import ENGLISH

ITEMS_TOGETHER = 8  # at least, and computed again after an interruption


@dataclass(frozen=True)
class SyntaxGym(AccuracyTask):
    """Suites, and a model or a table that says how surprising their words are. `SyntaxGym.of` reads them."""

    name: ClassVar[str] = "sg"
    table: ClassVar[str] = "verdicts.csv"
    row_name: ClassVar[str] = "prediction"
    columns: ClassVar[Sequence[Column]] = VERDICT_COLUMNS
    heading: ClassVar[str] = "SyntaxGym"
    items_name: ClassVar[str] = "items"
    strata: ClassVar[str] = "suites"
    rules: ClassVar[Mapping[str, str]] = RULE_TITLES
    labels: ClassVar[Mapping[str, str]] = {"averages": "", "circuits": "circuit", "suites": "suite"}
    summarized: ClassVar[Sequence[str]] = ("averages", "circuits")
    pictured: ClassVar[Mapping[str, Sequence[str]]] = {"circuits": ("averages", "circuits")}

    source: Path
    suites: tuple[Suite, ...]
    how: Probability
    rule: Rule = "first"
    said: str = ""  # how many items of each suite
    imported: tuple[Path, Imported] | None = None
    language: str = ENGLISH  # whose rules split regions into words: the model's

    @classmethod
    def of(
        cls,
        source: Path,
        *,
        suites: Sequence[str] | None = None,
        rule: Rule = "first",
        surprisals: Path | None = None,
        base: Base | None = None,
        limit: int | None = None,
        sample: int | None = None,
        seed: int = 0,
        **how: Any,
    ) -> Self:
        """Suites of a folder.

        Args:
            source: a folder of SyntaxGym's .json suites, or one suite.
            suites: only these.
            rule: when an item is right, in pictures and comparisons: by its "first" prediction or by "all".
            surprisals: a table of another tool's surprisals, to be scored instead of a model.
            base: of the logarithms in that table, where no file beside it says so.
            limit, sample, seed: the first items of each suite, or some at random.
            **how: how log p is found: `accuracy`, `beam`, `word_beam` (see `Probability.of`).
        """
        check_choice("rule", rule, RULES)
        check_amount(limit, sample)
        chosen = tuple(
            replace(suite, items=some(suite, limit, sample, seed)) for suite in chosen_suites(source, suites)
        )
        imported = None if surprisals is None else (surprisals, import_surprisals(surprisals, chosen, base=base))
        return cls(source, chosen, Probability.of(**how), rule, amount(limit, sample, seed), imported)

    @property
    def data(self) -> str:
        return str(self.source)

    @cached_property
    def data_sha256(self) -> str:
        """Of the items, formulas and regions."""
        return content_hash([asdict(suite) for suite in self.suites])

    def for_model(self, model: LanguageModel) -> Self:
        return replace(self, how=self.how.for_model(model), language=model.language)

    def ready(self) -> Ready | None:
        if self.imported is None:
            return None
        path, found = self.imported
        settings = {
            "command": "evaluate sg --surprisals",
            "dtg": dtg.__version__,
            "surprisals_sha256": file_hash(path),
            "data_sha256": self.data_sha256,
            "unit": found.unit,
        }
        rows = [
            {"suite": key.suite, "item": key.item, "condition": key.condition, "regions": list(values)}
            for key, values in found.surprisals.items()
        ]
        return Ready(path.stem, rows, settings, {"surprisals": str(path)})

    def items(self) -> list[list[SuiteSentence]]:
        """Sentences of items of one suite that are computed together."""
        size = self.how.together(ITEMS_TOGETHER, 4)  # conditions of an item
        found = list[list[SuiteSentence]]()
        for _, sentences in groupby(suite_sentences(self.suites), key=lambda sentence: sentence.key.suite):
            items = [list(some) for _, some in groupby(sentences, key=lambda sentence: sentence.key.item)]
            for first in range(0, len(items), size):
                found.append([sentence for item in items[first : first + size] for sentence in item])
        return found

    def settings(self) -> dict[str, Any]:
        return {**self.how.settings(), "items_together": self.how.together(ITEMS_TOGETHER, 4)}

    def search_remarks(self) -> list[str]:
        return self.how.kept.remarks()

    def measure(self, model: LanguageModel, items: Sequence[SuiteSentence]) -> list[Row]:
        found = self.how.surprisals(model, [sentence.split(self.language).words for sentence in items], ends=False)
        return [
            {**asdict(sentence.key), "surprisals": (one.surprisals / math.log(2)).tolist()}
            for sentence, one in zip(items, found, strict=True)
        ]

    def regions(self, rows: Iterable[Row]) -> dict[Key, tuple[float, ...]]:
        """The surprisals of every sentence's regions."""
        by_name, by_key = {suite.name: suite for suite in self.suites}, rows_by_key(rows)
        found = dict[Key, tuple[float, ...]]()
        for sentence in suite_sentences(self.suites):
            row, suite = by_key[sentence.key], by_name[sentence.key.suite]
            if "regions" in row:
                found[sentence.key] = tuple(row["regions"])
            else:
                regions = sentence.split(self.language).regions
                found[sentence.key] = region_surprisals(row["surprisals"], regions, len(suite.regions), suite.metric)
        return found

    def summarize(self, rows: Sequence[Row], name: str) -> Content:
        results = judge_items(self.suites, self.regions(rows))
        rules: tuple[Rule, ...] = ("first", "all")
        scores = {rule: score_items(results, rule) for rule in rules}
        counts = f"{pluralize(len(self.suites), 'suite')}, {pluralize(len(results), 'item')}{self.said}"
        by = f"by {self.how.title.removesuffix(' (lower bound)')}"
        averaged = {average["suites"] for average in scores[self.rule]["averages"]}
        remarks = [INTERVALS, *([CONTRADICTION] if "fgd_hierarchy" in scores[self.rule]["suites"] else [])]
        return {
            "title": f"{counts}; surprisals {by if self.imported is None else f'from {self.imported[0].name}'}.",
            "notes": [] if self.imported is None else import_notes(*self.imported),
            "remarks": [*remarks, *([PAPER_LIKELY] if "33 suites" in averaged else [])],
            "rule": self.rule,
            "items": len(results),
            "scores": scores,
            "against": None,
        }

    def tables(self, rows: Sequence[Row]) -> Tables:
        by_name, regions = {suite.name: suite for suite in self.suites}, self.regions(rows)
        results = judge_items(self.suites, regions)
        sentences = list(suite_sentences(self.suites))
        tables: Tables = {}
        if self.imported is None:
            by_key = rows_by_key(rows)
            words = [row for one in sentences for row in word_rows(one, by_key[one.key]["surprisals"], self.language)]
            tables["words.csv"] = (WORD_COLUMNS, words)
        known = [row for one in sentences for row in region_rows(one, by_name[one.key.suite], regions[one.key])]
        return {**tables, "regions.csv": (REGION_COLUMNS, known), self.table: (VERDICT_COLUMNS, verdict_rows(results))}

    @classmethod
    def metrics(cls, content: Content) -> list[Metric]:
        found = []
        for rule, scores in content["scores"].items():
            levels = {level: scores[level].items() for level in ("circuits", "suites")}
            averages = [(one["suites"], one) for one in scores["averages"]]
            for level, groups in {"averages": averages, **levels}.items():
                for group, one in groups:
                    name, value = one.get("mean", "accuracy"), Interval.of(one)
                    found.append(Metric(group, name, value, one["items"], one["ties"], rule, level))
        return found

    def check_comparable(self, theirs: Sequence[Item], where: str) -> None:
        ours = {(suite.name, item.number) for suite in self.suites for item in suite.items}
        if differing := sorted(ours ^ {(one.suite, one.item) for one in results_of(theirs)}):
            is_in = "is not in" if differing[0] in ours else "is only in"
            raise InputError(
                f"suite {differing[0][0]}, item {differing[0][1]} {is_in} {where} ({len(differing):,} differ in all). Models "
                "are compared on the same items: choose the same suites."
            )

    @classmethod
    def compared(
        cls, content: Content, ours: Sequence[Item], theirs: Sequence[Item], names: tuple[str, str]
    ) -> Content:
        against: dict[str, Any] = {"models": list(names)}
        for rule in RULES:
            overall, *circuits = compare_items(results_of(ours), results_of(theirs), rule)
            tests = {test.group: test.as_dict() for test in circuits}
            against[rule] = {"overall": overall.as_dict(), "circuits": tests}
        return {**content, "against": against}

    @classmethod
    def tests(cls, content: Content, rule: str) -> dict[str, Mapping[str, Any]]:
        compared = content["against"][rule]
        return {"all items": compared["overall"], **compared["circuits"]}

    @classmethod
    def compared_names(cls, content: Content) -> tuple[str, str]:
        first, second = content["against"]["models"]
        return first, second

    @classmethod
    def compared_blocks(cls, content: Content, rule: str) -> list[Block]:
        first, second = content["against"]["models"]
        return [TextBlock([f"By {cls.rules[rule]}: {first} and {second}."]), overlap_table(cls.tests(content, rule))]

    @classmethod
    def explained(cls, content: Content) -> TextBlock:
        sets = {one["suites"]: one["meaning"] for one in content["scores"]["first"]["averages"]}
        meanings = {**sets, **{title: RULES[rule] for rule, title in RULE_TITLES.items()}}  # type: ignore[index]
        return TextBlock([f"{name}: {meaning}." for name, meaning in meanings.items()], is_list=True)

    @classmethod
    def table_of(cls, metrics: Sequence[Metric], level: str) -> Table:
        table = super().table_of(metrics, level)
        if level != "averages":
            return table
        means = [name for _, name in by_group([one for one in metrics if one.level == level])]
        rows = [[group, mean, *cells] for mean, (group, *cells) in zip(means, table.rows, strict=True)]
        return Table(["", "mean", *table.header[1:]], rows)

    @classmethod
    def page(cls, name: str, content: Content) -> list[Block]:
        blocks = super().page(name, content)
        predictions = {suite: one["predictions"] for suite, one in content["scores"]["first"]["suites"].items()}
        for place, block in enumerate(blocks):
            if isinstance(block, Table) and block.header[0] == "suite":
                rows = [[*row, " / ".join(map(percent, predictions[row[0]]))] for row in block.rows]
                blocks[place] = Table([*block.header, "each prediction"], rows)
        return blocks

    @classmethod
    def is_drawn(cls, metric: Metric) -> bool:
        return metric.name in ("accuracy", "suite mean")

    @classmethod
    def chart(cls, models: Mapping[str, Sequence[Metric]]) -> BarChart:
        """The first mean over suites that there is, and the circuits."""
        kept = {}
        for name, metrics in models.items():
            mean, *_ = (one for one in metrics if one.name == "suite mean")
            overall = replace(mean, group=f"{mean.group}, mean")
            kept[name] = [overall, *(one for one in metrics if one.level == "circuits")]
        return super().chart(kept)


def chosen_suites(source: Path, names: Sequence[str] | None) -> tuple[Suite, ...]:
    """The suites that were asked for, by name."""
    there = read_suites(source)
    if names is None:
        return there
    known = [suite.name for suite in there]
    if unknown := [name for name in names if name not in known]:
        raise UnknownNameError("suite", unknown[0], known)
    if not names:
        raise InputError("no suite was named; name at least one, or leave the choice out for all of them.")
    return tuple(suite for suite in there if suite.name in names)


def some(suite: Suite, limit: int | None, sample: int | None, seed: int) -> tuple[Any, ...]:
    """The items of a suite that were asked for."""
    if sample is None:
        return suite.items[:limit]
    return tuple(draw(suite.items, lambda item: f"{seed}\t{suite.name}\t{item.number}", sample))


def import_notes(path: Path, found: Imported) -> list[str]:
    """What was met in a table."""
    counts = {
        f"{pluralize(found.straddling, 'token')} reaching into the next region, counted where they begin": found.straddling,
        f"{pluralize(found.after_end, 'token')} after the end of a sentence, left out": found.after_end,
        f"{pluralize(found.other_suites, 'token')} of other suites, left out": found.other_suites,
    }
    tokens = f"{pluralize(found.tokens, 'token')} in {path.name}, in {found.unit}"
    return [tokens, *(text for text in counts if counts[text])]


def rows_by_key(rows: Iterable[Row]) -> dict[Key, Row]:
    return {Key(row["suite"], row["item"], row["condition"]): row for row in rows}
