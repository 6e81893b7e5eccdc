"""The report's section on seeds of the same system: means, ranges, intervals over seeds and items, and comparisons of systems.

Results on other items, or found in another way, have a note in place of a number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dtg.errors import InputError
from dtg.evaluation.contract import Interval
from dtg.evaluation.intervals import Floats, Resampling
from dtg.evaluation.probability import KINDS
from dtg.evaluation.rendering import BarChart, pluralize
from dtg.evaluation.report.comparing import Basis, basis_of, differing
from dtg.evaluation.report.gathering import Found, ReportedModel
from dtg.evaluation.report.item_scores import TITLES, Measure, Scores, measured, percent
from dtg.evaluation.report.overview import word_kinds
from dtg.evaluation.report.page import (
    Cell,
    Figure,
    Notes,
    ReportTable,
    Section,
    Text,
    absent,
    described,
    interval_cell,
    number,
    parts_of,
    quoted,
    texts,
)
from dtg.evaluation.report.systems import Seed, System, systems_of
from dtg.evaluation.seeds import SeedScores, Spread, difference, spread
from dtg.evaluation.tasks.perplexity_scores import SIGNS

HOW = Resampling()
ALSO_DECIDES = (
    "boundary",
    "times",
    "without_ends",
    "frequencies",
    "weight",
    "project",
)  # settings besides those of a Basis
ONE_SEED = "One seed: the interval is over items alone."
TITLE = "Means over seeds, in percent."
HEADER = ("evaluation", "system", "seeds", "mean over seeds", "lowest", "highest", "items")
PAIRED_HEADER = ("evaluation", "first", "second", "first − second", "in", "lowest", "highest", "holds in", "items")
EXPLAINED = (
    "Models called `NAME`, `NAME-seed1`, `NAME-seed2` and so on are seeds of one system. Lowest, highest: of the seeds; of "
    "differences, of all pairs of a seed of the first system and one of the second.",
    "Intervals: 95 %, two-level bootstrap: seeds and items are drawn with replacement, the same items for all seeds. Of n "
    "seeds this shows (n − 1)/n of the variance between seeds, so that with few of them intervals are too narrow.",
    "Holds in: pairs of seeds in which the difference has the same sign as the mean difference. Pairs share seeds, and are not "
    "independent of each other.",
    "Perplexities are subtracted as bits per word: below 0, the first system predicts the words better.",
)


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """A system's seeds in one evaluation: what each counts on each item, the same items for all of them."""

    system: System
    seeds: tuple[Seed, ...]
    basis: Basis
    sign: str
    scores: Mapping[Measure, Sequence[Scores]]
    notes: Notes


@dataclass(frozen=True, slots=True)
class Refused:
    """A system whose seeds do not compare in an evaluation."""

    system: System
    why: str


@dataclass(frozen=True)
class Resampled:
    """Systems that were scored on the same items, by a measure."""

    measure: Measure
    systems: Sequence[Scored]

    @cached_property
    def table(self) -> SeedScores:
        """A row for each seed of each system."""
        every = [scores for one in self.systems for scores in one.scores[self.measure]]
        keys = list(every[0])
        names = {name: place for place, name in enumerate(dict.fromkeys(one.group for one in every[0].values()))}
        return SeedScores(
            np.array([[scores[key].above for key in keys] for scores in every], np.float64),
            np.array([[scores[key].below for key in keys] for scores in every], np.float64),
            np.array([names[every[0][key].group] for key in keys], np.int64),
            self.measure.over_groups,
        )

    @cached_property
    def ratios(self) -> tuple[Floats, Floats]:
        """(seeds,) of all items, and (samples, seeds) of resamples: drawn once for all systems."""
        return self.table.numbers(), self.table.drawn(HOW)

    def of(self, one: Scored) -> tuple[Floats, Floats]:
        """Those of one system."""
        first = sum(len(system.seeds) for system in self.systems[: self.systems.index(one)])
        numbers, drawn = self.ratios
        return numbers[first : first + len(one.seeds)], drawn[:, first : first + len(one.seeds)]

    def numbers(self, one: Scored) -> Floats:
        """(seeds,) as they are shown."""
        return self.measure.scale(self.of(one)[0])

    def spread(self, one: Scored) -> Spread:
        numbers, drawn = map(self.measure.scale, self.of(one))
        return spread(numbers, drawn, HOW)


def seeds_section(models: Sequence[ReportedModel]) -> Section | None:
    """Nothing where every system has one seed."""
    systems = systems_of(models)
    if not any(len(system.seeds) > 1 or system.notes for system in systems):
        return None
    kinds = dict(zip((model.name for model in models), word_kinds(models), strict=True))
    rows, paired, pictured = list[list[Cell]](), list[list[Cell]](), list[Resampled]()
    for kind, title in TITLES.items():
        found = [one for system in systems if (one := score(system, kind, kinds)) is not None]
        clusters = resampled([one for one in found if isinstance(one, Scored)])
        for one in found:
            if isinstance(one, Refused):
                names = [Cell(title), Cell(one.system.name, one.system.notes), absent()]
                rows.append(refused_row(names, one.why, HEADER))
        rows += [row for cluster in clusters for row in system_rows(cluster)]
        if found and found[0].system is systems[0]:
            paired += [row for other in found[1:] for row in paired_rows(found[0], other, clusters, title)]
        pictured += [one for one in clusters if one.measure.scale is percent]
    tables = [ReportTable("seeds", "Means over seeds.", texts(*HEADER), rows)]
    if paired:
        tables.append(ReportTable("seeds-paired", "Systems on the same items.", texts(*PAIRED_HEADER), paired))
    return Section("Seeds", (*figures(pictured, systems), *tables, Text(EXPLAINED)))


def score(system: System, kind: str, kinds: Mapping[str, str | None]) -> Scored | Refused | None:
    """The seeds that were evaluated; or why they do not compare; or None if none was. `kinds` are those of perplexities."""
    seeds = tuple(seed for seed in system.seeds if kind in seed.model.results)
    if not seeds:
        return None
    found = [seed.model.results[kind] for seed in seeds]
    ways = [kinds[seed.model.name] if kind == "ppl" else None for seed in seeds]
    if kind == "ppl" and None in ways:
        return Refused(system, f"seed {seeds[ways.index(None)].number} has no perplexity of the words without a tree")
    bases = [whole_basis(one, by) for one, by in zip(found, ways, strict=True)]
    try:
        for seed, basis in zip(seeds, bases, strict=True):
            if lines := unequal(bases[0], basis):
                raise InputError(f"seed {seed.number} and seed {seeds[0].number} differ: {'; '.join(lines)}")
        every = [measured(one, by) for one, by in zip(found, ways, strict=True)]
        for seed, one in zip(seeds, every, strict=True):
            if line := other_items(every[0], one):
                raise InputError(f"seed {seed.number} and seed {seeds[0].number} differ: {line}")
    except InputError as error:
        return Refused(system, str(error).removesuffix("."))
    without = [str(seed.number) for seed in system.seeds if seed not in seeds]
    notes = (f"Without seed {', '.join(without)}: not evaluated yet.",) if without else ()
    sign = SIGNS[KINDS[ways[0]]] if kind == "ppl" else ""  # type: ignore[index]  # one of OF_WORDS
    scores = {measure: [one[measure] for one in every] for measure in every[0]}
    return Scored(system, seeds, bases[0], sign, scores, notes if len(seeds) > 1 else (*notes, ONE_SEED))


def whole_basis(found: Found, by: str | None) -> Basis:
    """What a number rests on, with every setting that decides it besides the model."""
    basis = basis_of(found, by)
    settings = tuple((name.replace("_", " "), found.settings.get(name)) for name in ALSO_DECIDES)
    return replace(basis, data=(*basis.data, *settings))


def unequal(one: Basis, other: Basis) -> list[str]:
    """What keeps numbers from being compared. What is exact compares with all on the same data."""
    method = [] if one.method is None or other.method is None else differing(other.method, one.method)
    return differing(other.data, one.data) + method


def other_items(one: Mapping[Measure, Scores], other: Mapping[Measure, Scores]) -> str:
    """What tells the items apart; nothing if they are the same."""
    for measure in dict.fromkeys((*one, *other)):
        different = len(one.get(measure, {}).keys() ^ other.get(measure, {}).keys())
        if different:
            return f"{pluralize(different, 'item')} of {measure.title} {'is' if different == 1 else 'are'} not in both"
    return ""


def resampled(scored: Sequence[Scored]) -> list[Resampled]:
    """By measure and by the items that systems share: those with the same items are resampled together."""
    found = list[Resampled]()
    for measure in dict.fromkeys(measure for one in scored for measure in one.scores):
        by_items: dict[frozenset[object], list[Scored]] = {}
        for one in scored:
            if measure in one.scores:
                by_items.setdefault(frozenset(one.scores[measure][0]), []).append(one)
        found += [Resampled(measure, systems) for systems in by_items.values()]
    return found


def system_rows(cluster: Resampled) -> Iterator[list[Cell]]:
    """A row for each system."""
    measure = cluster.measure
    for one in cluster.systems:
        found = cluster.spread(one)
        before = f"{one.sign} " if one.sign in ("≤", "≈") else ""
        yield [
            Cell(measure.title),
            Cell(one.system.name, one.system.notes),
            Cell(", ".join(str(seed.number) for seed in one.seeds), one.notes),
            interval_cell(found.mean, measure.text, before=before),
            *(Cell(before + measure.text(value), (), value) for value in (found.lowest, found.highest)),
            number(len(cluster.table.groups)),
        ]


def refused_row(first: Sequence[Cell], why: str, header: Sequence[str]) -> list[Cell]:
    """What a row begins with, a note why there are no numbers, and dashes."""
    return [*first, absent(f"Not compared: {why}."), *[absent()] * (len(header) - len(first) - 1)]


def paired_rows(
    one: Scored | Refused, other: Scored | Refused, clusters: Sequence[Resampled], title: str
) -> Iterator[list[Cell]]:
    """The first system against another, by every measure, or why not; nothing where both have one seed."""
    names = [Cell(one.system.name), Cell(other.system.name)]
    for each in (one, other):
        if isinstance(each, Refused):
            yield refused_row([Cell(title), *names], f"seeds of {quoted(each.system.name)}: {each.why}", PAIRED_HEADER)
            return
    assert isinstance(one, Scored) and isinstance(other, Scored)
    if len(one.seeds) == len(other.seeds) == 1:
        return
    line = other_items(first_of(one), first_of(other))
    if lines := unequal(one.basis, other.basis) or ([line] if line else []):
        yield refused_row([Cell(title), *names], "; ".join(lines), PAIRED_HEADER)
        return
    alone = [quoted(each.system.name) for each in (one, other) if len(each.seeds) == 1]
    notes = (f"{alone[0]} has one seed: the interval leaves out its variance between seeds.",) if alone else ()
    for cluster in clusters:
        if one not in cluster.systems or other not in cluster.systems:
            continue
        measure = cluster.measure
        (first, drawn), (second, theirs) = (map(measure.compared, cluster.of(each)) for each in (one, other))
        found = difference(first, second, (drawn, theirs), HOW)
        ends = (found.spread.lowest, found.spread.highest)
        yield [
            Cell(measure.title),
            *names,
            interval_cell(found.spread.mean, measure.difference_text, notes),
            Cell(measure.unit),
            *(Cell(measure.difference_text(value), (), value) for value in ends),
            Cell(f"{found.holds} of {pluralize(found.pairs, 'pair')}"),
            number(len(cluster.table.groups)),
        ]


def first_of(one: Scored) -> dict[Measure, Scores]:
    """Of its first seed; the others have the same items."""
    return {measure: scores[0] for measure, scores in one.scores.items()}


def figures(clusters: Sequence[Resampled], systems: Sequence[System]) -> list[Figure]:
    """Bars of the means with their intervals, and a dot for each seed."""
    groups = list(dict.fromkeys(one.measure.title for one in clusters))
    bars: dict[str, dict[str, Interval]] = {system.name: {} for system in systems}
    dots: dict[str, dict[str, Sequence[float]]] = {system.name: {} for system in systems}
    for cluster in clusters:
        for one in cluster.systems:
            bars[one.system.name][cluster.measure.title] = cluster.spread(one).mean
            dots[one.system.name][cluster.measure.title] = cluster.numbers(one).tolist()
    found = []
    for file, suffix, some in parts_of("seeds", [name for name, own in bars.items() if own]):
        chart = BarChart(
            groups,
            {name: [bars[name].get(group) for group in groups] for name in some},
            dots={name: [dots[name].get(group, ()) for group in groups] for name in some},
        )
        title = f"{TITLE}{suffix}"
        words = f"{title} Bars with intervals, and a dot for each seed. {described(groups, chart.bars)}"
        found.append(Figure(file, title, words, chart.draw))
    return found
