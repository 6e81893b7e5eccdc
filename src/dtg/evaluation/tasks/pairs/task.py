"""Minimal pairs: how often a model finds the acceptable sentence of two more probable.

A pair is right if the acceptable sentence has the higher log-probability. Equal ones are a tie, and a tie is not right. There
are two conventions: log p of the sentence, which is what Warstadt et al. and the paper compare, and log p per word. With a
critical region, log p of the region's words, given what is before them, takes the sentence's place.

    dtg.evaluate("dtg-mini", "pairs", "pairs.tsv", good="grammatical", bad="ungrammatical", group="construction")
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

from dtg.errors import InputError
from dtg.evaluation.comparison import Outcome, paired_tests
from dtg.evaluation.contract import Content, Item, LanguageModel, Row, Tables, Task
from dtg.evaluation.intervals import FEW, SEEDS
from dtg.evaluation.probability import Probability
from dtg.evaluation.rendering import pluralize
from dtg.evaluation.tasks.pairs.pages import ONLY, PairPages
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
from dtg.tables.columns import Column
from dtg.tables.reading import read_rows
from dtg.text.sentence import Sentence

PAIRS_TOGETHER = 50  # at least, and computed again after an interruption
WORD_NUMBERS = re.compile(r"(\d+)(?:\s*-\s*(\d+))?")


@dataclass(frozen=True, slots=True)
class MinimalPair:
    """Two sentences, the first of which is acceptable."""

    pair_id: str
    group: str
    good: str
    bad: str
    regions: tuple[str, str] | None = None  # the critical words of both, or their numbers
    columns: Mapping[str, Any] = field(default_factory=dict, compare=False)  # whatever else the table says of it

    @property
    def stratum(self) -> str:
        return self.group


@dataclass(frozen=True)
class Pairs(PairPages, Task):
    """Pairs of a table of one's own. `Pairs.of` reads it."""

    name: ClassVar[str] = "pairs"
    table: ClassVar[str] = "pairs.csv"
    row_name: ClassVar[str] = "pair"
    sentences_per_row: ClassVar[int] = 2
    heading: ClassVar[str] = "Minimal pairs"
    strata: ClassVar[str] = "groups"  # what pairs are drawn within, as results.json calls it
    levels: ClassVar[Levels] = {"groups": lambda pair: pair.group}
    compared_level: ClassVar[str] = "groups"
    pictured: ClassVar[Sequence[str]] = ("groups",)
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
            limit: the first pairs of each group.
            sample: so many pairs of each group at random.
            seed: which pairs are drawn, and which trees.
            **how: how log p is found: `by`, `beam`, `word_beam`, `proposal`, `trees`, `device` (see `Probability.of`).
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
        return content_hash([asdict(pair) for pair in self.pairs])

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

    def measure(self, model: LanguageModel, items: Sequence[Any]) -> list[Row]:
        sentences = [Sentence.of_text(text) for pair in items for text in (pair.good, pair.bad)]
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

        def outcomes(scored: Iterable[ScoredPair]) -> dict[tuple[str, str], Outcome]:
            return {identity(one): Outcome(one.is_right(rule), group_of(one.pair), one.pair.stratum) for one in scored}

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
            "tests": [{"a": a, "b": b, **everything.as_dict(ONLY)}],
            cls.compared_level: {test.group: [{"a": a, "b": b, **test.as_dict(ONLY)}] for test in others},
            "notes": told,
        }


def read_table(
    path: Path, good: str, bad: str, group: str | None, regions: tuple[str, ...] | None
) -> list[MinimalPair]:
    """The pairs of a table whose columns are named."""
    found = []
    for number, (where, row) in enumerate(read_rows(path), start=1):
        grouping = group or ("group" if "group" in row else None)
        for name in (good, bad, *([grouping] if grouping else []), *(regions or ())):
            if name not in row:
                raise InputError(
                    f"cannot read {path}: there is no column {name!r}. There are: {', '.join(map(str, row))}."
                )
        texts = [row[good], row[bad], *(row[name] for name in regions or ())]
        if any(value is None or not str(value).strip() for value in texts):
            raise InputError(f"cannot read {path}, {where}: a sentence or region is empty. Fill it, or remove the row.")
        named = (good, bad, *(regions or ()))
        more = {str(name): value for name, value in row.items() if name not in (*named, grouping)}
        critical = None if regions is None else (str(row[regions[0]]), str(row[regions[1]]))
        called = "all" if grouping is None else str(row[grouping])
        found.append(MinimalPair(str(number), called, str(row[good]), str(row[bad]), critical, more))
    if not found:
        raise InputError(f"cannot read {path}: there are no pairs in it.")
    return found


def region_log_probabilities(
    how: Probability, model: LanguageModel, sentences: Sequence[Sentence], regions: Sequence[str]
) -> tuple[list[float], list[int]]:
    """log p of each sentence's critical words given those before them, and how many they are."""
    places = [region_words(sentence, region) for sentence, region in zip(sentences, regions, strict=True)]
    found = how.surprisals(model, sentences, ends=False)
    logs = [-float(one.surprisals[place.start : place.stop].sum()) for one, place in zip(found, places, strict=True)]
    return logs, [len(place) for place in places]


def region_words(sentence: Sentence, region: str) -> range:
    """The words of a sentence that begin in its region: a text that is in it once, or numbers of words between spaces."""
    assert sentence.text is not None
    text, asked = sentence.text, region.strip()
    if numbers := WORD_NUMBERS.fullmatch(asked):
        spans = [match.span() for match in re.finditer(r"\S+", text)]
        first, last = int(numbers[1]), int(numbers[2] or numbers[1])
        if not 1 <= first <= last <= len(spans):
            raise InputError(f"the region {asked} is not among the {len(spans)} words of {text!r}.")
        start, end = spans[first - 1][0], spans[last - 1][1]
    else:
        starts = [match.start() for match in re.finditer(rf"(?<!\w){re.escape(asked)}(?!\w)", text)]
        if len(starts) != 1:
            often = "not in" if not starts else f"{len(starts)} times in"
            raise InputError(
                f"the region {asked!r} is {often} {text!r}; once is expected. Numbers of words, such as 4-6, work too."
            )
        start, end = starts[0], starts[0] + len(asked)
    inside = [place for place, begin in enumerate(sentence.starts) if start <= begin < end]
    if not inside:
        raise InputError(f"no word of {text!r} begins in the region {asked!r}.")
    return range(inside[0], inside[-1] + 1)
