"""Minimal pairs: how often a model finds the acceptable sentence of two more probable.

A pair is right if the acceptable sentence has the higher log-probability. Equal ones are a tie, and a tie is not right. There
are two conventions: log p of the sentence, which is what Warstadt et al. and the paper compare, and log p per word. With a
critical region, log p of the region's words, given what is before them, takes the sentence's place.

    dtg.evaluate("dtg-small", "pairs", "pairs.tsv", good="grammatical", bad="ungrammatical", group="construction")
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

from dtg.errors import InputError
from dtg.evaluation.accuracies import AccuracyTask
from dtg.evaluation.comparison import ItemOutcome, overlap_table, paired_tests
from dtg.evaluation.contract import Content, Interval, Item, Metric, Row, Tables
from dtg.evaluation.intervals import FEW, SEEDS
from dtg.evaluation.probability import Probability
from dtg.evaluation.rendering import Block, Table, TextBlock, interval, percent, pluralize
from dtg.evaluation.tasks.pairs.own_pairs import MinimalPair, read_table, region_log_probabilities
from dtg.evaluation.tasks.pairs.scored import (
    HOW,
    Levels,
    ScoredPair,
    identity,
    numbers_of,
    score,
    scored_of,
    shared_pairs,
)
from dtg.evaluation.tasks.selection import amount, check_amount, content_hash, draw
from dtg.language_model import LanguageModel
from dtg.tables.columns import Column
from dtg.text.sentence import Sentence

PAIRS_TOGETHER = 50  # at least, and computed again after an interruption


@dataclass(frozen=True)
class MinimalPairs(AccuracyTask):
    """Pairs of a table of one's own. `MinimalPairs.of` reads it."""

    name: ClassVar[str] = "pairs"
    table: ClassVar[str] = "pairs.csv"
    row_name: ClassVar[str] = "pair"
    sentences_per_row: ClassVar[int] = 2
    heading: ClassVar[str] = "Minimal pairs"
    items_name: ClassVar[str] = "pairs"
    strata: ClassVar[str] = "groups"
    rules: ClassVar[Mapping[str, str]] = {
        "sentence": "log p of the sentence",
        "per_word": "log p per word",
        "region": "log p of the region",
        "region_per_word": "log p per word of the region",
    }
    labels: ClassVar[Mapping[str, str]] = {"overall": "", "groups": "group"}
    summarized: ClassVar[Sequence[str]] = ("overall", "groups")
    pictured: ClassVar[Mapping[str, Sequence[str]]] = {"groups": ("overall", "groups")}
    only: ClassVar[tuple[str, str]] = ("only_a", "only_b")
    chance: ClassVar[float | None] = 50.0
    levels: ClassVar[Levels] = {"groups": lambda pair: pair.group}
    compared_level: ClassVar[str] = "groups"
    columns: ClassVar[Sequence[Column]] = (
        Column("group", str, "the pair's group"),
        Column("pair_id", str, "the pair's number in the table"),
        Column("good", str, "the acceptable sentence"),
        Column("bad", str, "the other"),
        Column("good_words", int, "words of the acceptable sentence, or of its region"),
        Column("bad_words", int, "words of the other"),
        Column("good_log_probability", float, "log p of the acceptable sentence, or of its region, in nats"),
        Column("bad_log_probability", float, "log p of the other, in nats"),
        Column("right", int, "1 if the acceptable sentence has the higher log p, otherwise 0"),
        Column("tie", int, "1 if both have the same log p, otherwise 0"),
    )

    source: Path
    pairs: tuple[Any, ...]
    how: Probability
    said: str  # how many there are
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        source: Path,
        *,
        good: str = "good",
        bad: str = "bad",
        group: str | None = None,
        region: str | Sequence[str] | None = None,
        limit: int | None = None,
        sample: int | None = None,
        seed: int = 0,
        **how: Any,
    ) -> Self:
        """Pairs of a CSV, TSV or JSON lines file.

        Args:
            source: the file.
            good, bad: the columns with the acceptable sentence and the other.
            group: the column that pairs are grouped by; without it, `group` if there is one, and all pairs otherwise.
            region: the column with the critical words (or with their numbers among the words between spaces, such as 4 or 4-6);
                two columns if they differ in the two sentences.
            limit, sample, seed: the first pairs of each group, or some at random.
            **how: how log p is found: `by`, `accuracy`, `beam`, `word_beam`, `proposal`, `trees`, `device` (see
                `Probability.of`).
        """
        check_amount(limit, sample)
        regions = (region, region) if isinstance(region, str) else None if region is None else tuple(region)
        if regions is not None and len(regions) != 2:
            raise InputError(f"a region is one column, or one for each sentence; {', '.join(regions)} were named.")
        every = read_table(source, good, bad, group, regions)
        by_group: dict[str, list[MinimalPair]] = {}
        for pair in every:
            by_group.setdefault(pair.group, []).append(pair)
        chosen = {
            name: some[:limit]
            if sample is None
            else draw(some, lambda pair: f"{seed}\t{pair.group}\t{pair.pair_id}", sample)
            for name, some in by_group.items()
        }
        pairs = tuple(pair for name in sorted(chosen) for pair in chosen[name])
        said = f"{pluralize(len(chosen), 'group')}, {pluralize(len(pairs), 'pair')}{amount(limit, sample, seed)}"
        same = sum(pair.good == pair.bad for pair in pairs)
        notes = (
            [f"both sentences are the same, so that no model can be right, in {pluralize(same, 'pair')}."]
            if same
            else []
        )
        return cls(source, pairs, Probability.of(seed=seed, **how), said, tuple(notes))

    @property
    def data(self) -> str:
        return str(self.source)

    @cached_property
    def data_sha256(self) -> str:
        every = (asdict(pair) for pair in self.pairs)
        return content_hash([{key: value for key, value in pair.items() if key != "columns"} for pair in every])

    @property
    def conventions(self) -> tuple[str, str]:
        at_region = bool(self.pairs) and getattr(self.pairs[0], "regions", None) is not None
        return ("region", "region_per_word") if at_region else ("sentence", "per_word")

    def for_model(self, model: LanguageModel) -> Self:
        return replace(self, how=self.how.for_model(model))

    def items(self) -> list[list[Any]]:
        """Pairs of one group that are computed together; those that begin alike come together."""
        size = self.how.together(PAIRS_TOGETHER, 2)
        by_stratum: dict[str, list[Any]] = {}
        for pair in self.pairs:
            by_stratum.setdefault(pair.stratum, []).append(pair)
        in_order = (sorted(some, key=lambda pair: pair.good) for some in by_stratum.values())
        return [some[first : first + size] for some in in_order for first in range(0, len(some), size)]

    def settings(self) -> dict[str, Any]:
        return {**self.how.settings(), "pairs_together": self.how.together(PAIRS_TOGETHER, 2)}

    def given(self) -> dict[str, Any]:
        return {} if self.how.proposal is None or self.name == "blimp" else {"proposal": self.how.proposal.name}

    def search_remarks(self) -> list[str]:
        return self.how.kept.remarks()

    def measure(self, model: LanguageModel, items: Sequence[Any]) -> list[Row]:
        sentences = [Sentence.of_text(text, model.language) for pair in items for text in (pair.good, pair.bad)]
        if self.conventions[0] == "region":
            regions = [region for pair in items for region in pair.regions]
            found, words = region_log_probabilities(self.how, model, sentences, regions)
        else:
            found = self.how.log_probabilities(model, sentences)
            words = [len(sentence) for sentence in sentences]
        return [
            {
                "paradigm": pair.stratum,
                "pair_id": pair.pair_id,
                "good": found[place],
                "bad": found[place + 1],
                "good_words": words[place],
                "bad_words": words[place + 1],
            }
            for place, pair in zip(range(0, len(found), 2), items, strict=True)
        ]

    def scored(self, rows: Iterable[Row]) -> list[ScoredPair]:
        """The pairs in their order, with what is stored of them."""
        by_name = {(row["paradigm"], row["pair_id"]): row for row in rows}
        return [
            ScoredPair(pair, found["good"], found["bad"], found["good_words"], found["bad_words"])
            for pair in self.pairs
            for found in [by_name[pair.stratum, pair.pair_id]]
        ]

    def summarize(self, rows: Sequence[Row], name: str) -> Content:
        scored = self.scored(rows)
        return {
            "title": f"{self.said}; log p by {self.how.title}.",
            "notes": list(self.notes),
            "intervals": self.intervals_explained(),
            "scores": {rule: score(scored, rule, self.levels, self.strata) for rule in self.conventions},
            "against": None,
        }

    @classmethod
    def intervals_explained(cls) -> str:
        one = cls.strata[:-1]
        return (
            f"Intervals: {100 * HOW.level:g} %; of a single {one} Wilson's, of totals by bootstrap ({HOW.samples:,} resamples) "
            f"over the pairs of each {one}, or over all pairs where a {one} has fewer than {FEW}. They leave out the {SEEDS}. "
            "A pair whose two numbers are equal is a tie, and not right."
        )

    def tables(self, rows: Sequence[Row]) -> Tables:
        more = dict.fromkeys(name for pair in self.pairs for name in getattr(pair, "columns", {}))
        known = {column.name for column in self.columns}
        extra = [name for name in more if name not in known]
        columns = (*self.columns, *(Column(name, str, "as given") for name in extra))
        scored = self.scored(rows)
        shown = [
            (*self.pair_row(one), *(getattr(one.pair, "columns", {}).get(name) for name in extra)) for one in scored
        ]
        return {self.table: (columns, shown)}

    def pair_row(self, scored: ScoredPair) -> tuple[Any, ...]:
        pair = scored.pair
        return (pair.group, pair.pair_id, pair.good, pair.bad, *numbers_of(scored))

    @classmethod
    def scored_pair(cls, item: Item) -> ScoredPair:
        """What a row of the table says. Columns that are not needed may be absent."""
        pair = MinimalPair(str(item["pair_id"]), item["group"], item["good"], item["bad"])
        return scored_of(pair, item)

    def check_comparable(self, theirs: Sequence[Item], where: str) -> None:
        wanted = {(pair.stratum, pair.pair_id) for pair in self.pairs}
        scored = [self.scored_pair(item) for item in theirs]
        if not any((one.pair.stratum, one.pair.pair_id) in wanted for one in scored):
            raise InputError(
                f"none of the {len(wanted):,} pairs to be scored is among the {len(scored):,} in {where}; models are compared "
                f"on the same pairs. Choose the same {self.strata} and pairs."
            )

    @classmethod
    def compared(
        cls, content: Content, ours: Sequence[Item], theirs: Sequence[Item], names: tuple[str, str]
    ) -> Content:
        scored = {
            name: [cls.scored_pair(item) for item in items] for name, items in zip(names, (ours, theirs), strict=True)
        }
        return {**content, "against": {rule: cls.compare_scored(scored, rule) for rule in content["scores"]}}

    @classmethod
    def compare_scored(cls, models: Mapping[str, Sequence[ScoredPair]], rule: str) -> dict[str, Any]:
        """Two models on the pairs that both have scored; how many are left out, and of whom, is in `notes`."""
        a, b = models
        first, second = shared_pairs(models)
        group_of = cls.levels[cls.compared_level]

        def outcomes(scored: Iterable[ScoredPair]) -> dict[tuple[str, str], ItemOutcome]:
            return {
                identity(one): ItemOutcome(one.is_right(rule), group_of(one.pair), one.pair.stratum) for one in scored
            }

        groups = sorted({group_of(one.pair) for one in first})
        everything, *others = paired_tests(outcomes(first), outcomes(second), "all pairs", groups)
        told = [
            f"{len(scored) - len(first):,} of the {len(scored):,} pairs of {name} are left out: not every model has scored "
            "them."
            for name, scored in models.items()
            if len(scored) > len(first)
        ]
        return {
            "convention": rule,
            "models": {name: score(some, rule, cls.levels, cls.strata) for name, some in ((a, first), (b, second))},
            "tests": [{"a": a, "b": b, **everything.as_dict(cls.only)}],
            cls.compared_level: {test.group: [{"a": a, "b": b, **test.as_dict(cls.only)}] for test in others},
            "notes": told,
        }

    @classmethod
    def metrics(cls, content: Content) -> list[Metric]:
        mean = f"{cls.strata[:-1]}_mean"
        found = []
        for rule, scores in content["scores"].items():
            for level in cls.labels:
                for group, one in ({"all pairs": scores["overall"]} if level == "overall" else scores[level]).items():
                    strata = 0 if level == cls.strata else one[cls.strata]
                    counts = {"n": one["pairs"], "ties": one["ties"], "rule": rule, "level": level, "strata": strata}
                    found.append(Metric(group, "accuracy", Interval.of(one), **counts))
                    if level == "overall":
                        value = Interval.of(one, mean, f"{mean}_interval")
                        found.append(Metric(f"mean over {cls.strata}", mean, value, **counts))
        return found

    @classmethod
    def tests(cls, content: Content, rule: str) -> dict[str, Mapping[str, Any]]:
        compared = content["against"][rule]
        groups = {cls.title(name): tests[0] for name, tests in compared[cls.compared_level].items()}
        return {"all pairs": compared["tests"][0], **groups}

    @classmethod
    def compared_names(cls, content: Content) -> tuple[str, str]:
        first, second = content["against"][cls.rule_of(content)]["models"]
        return first, second

    @classmethod
    def comparison(cls, names: tuple[str, str], content: Content) -> list[Block]:
        return [*super().comparison(names, content), TextBlock(content["against"][cls.rule_of(content)]["notes"])]

    @classmethod
    def compared_blocks(cls, content: Content, rule: str) -> list[Block]:
        """Both models' numbers on the same pairs, and every test."""
        models = content["against"][rule]["models"]
        (_, first), *_ = scores = list(models.items())
        mean = f"{cls.strata[:-1]}_mean"
        shown: dict[str, Callable[[Mapping[str, Any]], str]] = {
            "all pairs": lambda one: f"{percent(one['accuracy'])} {interval(one['interval'])}",
            f"mean over {cls.strata}": lambda one: percent(one[mean]),
            "ties, in all": lambda one: f"{one['ties']:,}",
        }
        pairs = f"{first['overall']['pairs']:,}"
        rows = [[name, pairs, *(text(each["overall"]) for _, each in scores)] for name, text in shown.items()]
        blocks: list[Block] = [TextBlock([f"Compared by {cls.rules[rule]}."]), Table(["", "pairs", *models], rows)]
        for level, label in cls.labels.items():
            if level in first and level != "overall" and (level != cls.strata or len(cls.labels) == 2):
                groups = [
                    [
                        cls.title(name),
                        f"{one['pairs']:,}",
                        *(percent(each[level][name]["accuracy"]) for _, each in scores),
                    ]
                    for name, one in first[level].items()
                ]
                blocks.append(Table([label, "pairs", *models], groups))
        blocks.append(overlap_table(cls.tests(content, rule), "pairs", cls.only, " − ".join(models)))
        return [*blocks, TextBlock(content["against"][rule]["notes"], is_list=True)]
