"""Seeds of the same system: means, ranges, intervals over seeds and items, and comparisons of systems.

Models called NAME, NAME-seed1, NAME-seed2 and so on are seeds of the system NAME. What they differ in must be the seed alone:
results on other items or found in another way have a note in place of a number.
"""

from __future__ import annotations

import re
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
from dtg.evaluation.seeds import SeedScores, Spread, difference, spread
from dtg.evaluation.tasks.perplexity_scores import SIGNS

NAMED = re.compile(r"(.+)-seed(\d+)")
HOW = Resampling()
ALSO_DECIDES = (
    "boundary",
    "times",
    "without_ends",
    "frequencies",
    "weight",
    "project",
)  # settings besides those of a Basis
REFUSED = "Not compared: "
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
    "Perplexities are subtracted as bits a word: below 0, the first system predicts the words better.",
)


@dataclass(frozen=True, slots=True)
class Seed:
    """A model, and which seed of its system it is."""

    number: int
    model: ReportedModel


@dataclass(frozen=True, slots=True)
class System:
    """Models that differ in the seed; `notes` say which were left out, and why."""

    name: str
    seeds: tuple[Seed, ...]
    notes: Notes = ()


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """A system's seeds in one evaluation: what each counts on each item, the same items for all of them."""

    system: System
    seeds: tuple[Seed, ...]
    basis: Basis
    sign: str
    scores: Mapping[Measure, Sequence[Scores]]
    notes: Notes


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
        outcomes = [(system, one) for system in systems if (one := score(system, kind, kinds)) is not None]
        clusters = resampled([one for _, one in outcomes if isinstance(one, Scored)])
        for system, one in outcomes:
            if isinstance(one, str):
                nothing = [absent()] * (len(HEADER) - 4)
                rows.append([Cell(title), Cell(system.name, system.notes), absent(), absent(one), *nothing])
        rows += [row for cluster in clusters for row in system_rows(cluster)]
        if outcomes and outcomes[0][0] is systems[0]:
            paired += [row for other in outcomes[1:] for row in paired_rows(outcomes[0], other, clusters, title)]
        pictured += [one for one in clusters if one.measure.scale is percent]
    tables = [ReportTable("seeds", "Means over seeds.", texts(*HEADER), rows)]
    if paired:
        tables.append(ReportTable("seeds-paired", "Systems on the same items.", texts(*PAIRED_HEADER), paired))
    return Section("Seeds", (*figures(pictured, systems), *tables, Text(EXPLAINED)))


def systems_of(models: Sequence[ReportedModel]) -> list[System]:
    """Models by the systems that they are seeds of, in the order of the first model of each."""
    named: dict[str, list[tuple[int | None, ReportedModel]]] = {}
    for model in models:
        match = NAMED.fullmatch(model.name)
        name, said = (match[1], int(match[2])) if match else (model.name, None)
        named.setdefault(name, []).append((said, model))
    return [system_of(name, some) for name, some in named.items()]


def system_of(name: str, models: Sequence[tuple[int | None, ReportedModel]]) -> System:
    """The model without a number is the seed that its run says or, where there is no run, the first that is free."""
    taken = {said for said, _ in models}
    free = next(place for place in range(len(models) + 1) if place not in taken)
    every, notes = list[Seed](), list[str]()
    for said, model in models:
        trained = trained_seed(model)
        every.append(Seed(said if said is not None else free if trained is None else trained, model))
        if said is not None and trained not in (None, said):
            notes.append(f"{quoted(model.name)} was trained with seed {trained}, as its run says.")
    first, *others = sorted(every, key=lambda seed: seed.number)  # of the same number, in the order of the models
    kept = [first]
    for seed in others:
        if reason := next((reason for one in kept if (reason := no_other_seed(one, seed))), ""):
            notes.append(f"{quoted(seed.model.name)} is left out: {reason}.")
        else:
            kept.append(seed)
    return System(name, tuple(kept), tuple(notes))


def trained_seed(model: ReportedModel) -> int | None:
    seed = None if model.run is None else model.run.about["training"].get("seed")
    return seed if type(seed) is int else None


def no_other_seed(one: Seed, other: Seed) -> str:
    """Why a model is no other seed of the same system; nothing if it is."""
    ours, theirs = one.model, other.model
    if weights(ours) & weights(theirs):
        return f"it has the weights of {quoted(ours.name)}"
    if one.number == other.number:
        return f"it is seed {one.number}, as {quoted(ours.name)} is"
    if ours.family != theirs.family:
        return f"family: {quoted(theirs.family)}, not {quoted(ours.family)}"
    if ours.run is not None and theirs.run is not None:
        if ours.run.about["corpus"] != theirs.run.about["corpus"]:
            return f"it was trained on another corpus than {quoted(ours.name)}"
        if ours.run.model != theirs.run.model:
            return f"it is configured otherwise than {quoted(ours.name)}"
    return ""


def weights(model: ReportedModel) -> set[str]:
    return {sha256 for found in model.results.values() if (sha256 := found.settings.get("model_sha256")) is not None}


def score(system: System, kind: str, kinds: Mapping[str, str | None]) -> Scored | str | None:
    """The seeds that were evaluated; or why they do not compare; or None if none was. `kinds` are those of perplexities."""
    seeds = tuple(seed for seed in system.seeds if kind in seed.model.results)
    if not seeds:
        return None
    found = [seed.model.results[kind] for seed in seeds]
    ways = [kinds[seed.model.name] if kind == "ppl" else None for seed in seeds]
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
        return f"{REFUSED}{str(error).removesuffix('.')}."
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


def paired_rows(
    ours: tuple[System, Scored | str], theirs: tuple[System, Scored | str], clusters: Sequence[Resampled], title: str
) -> Iterator[list[Cell]]:
    """The first system against another, by every measure, or why not; nothing where both have one seed."""
    (first_system, one), (second_system, other) = ours, theirs
    names = [Cell(first_system.name), Cell(second_system.name)]
    if isinstance(one, str) or isinstance(other, str):
        whose, why = (first_system, one) if isinstance(one, str) else (second_system, other)
        lines = [f"seeds of {quoted(whose.name)}: {str(why).removeprefix(REFUSED).removesuffix('.')}"]
    elif len(one.seeds) == len(other.seeds) == 1:
        return
    else:
        line = other_items(first_of(one), first_of(other))
        lines = unequal(one.basis, other.basis) or ([line] if line else [])
    if lines or isinstance(one, str) or isinstance(other, str):
        nothing = [absent()] * (len(PAIRED_HEADER) - 4)
        yield [Cell(title), *names, absent(f"{REFUSED}{'; '.join(lines)}."), *nothing]
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
