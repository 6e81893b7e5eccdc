"""Two models on the same items: the first model and each other, by the paper's overlap table and McNemar's test.

And on the same sentences: by how many bits per word they differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from dtg.errors import InputError
from dtg.evaluation.contract import Interval, Item
from dtg.evaluation.rendering import p_value
from dtg.evaluation.report.comparing import Basis, basis_of, unlike
from dtg.evaluation.report.gathering import Found, ReportedModel
from dtg.evaluation.report.page import (
    Cell,
    Notes,
    ReportBlock,
    ReportTable,
    Section,
    Text,
    absent,
    difference,
    missing,
    number,
    quoted,
    texts,
)
from dtg.evaluation.results import read_items
from dtg.evaluation.tasks.perplexity_scores import BITS_EXPLAINED
from dtg.evaluation.tasks.perplexity_scores import compare as compare_sentences
from dtg.evaluation.tasks.registry import ACCURACY_TASKS, TASKS

HEADER = ("first", "second", "items", "first − second", "both right", "only first", "only second", "neither", "p")
PPL_HEADER = ("first", "second", "log p by", "first − second, bits per word", "better by first", "sentences", "words")
EXPLAINED = (
    BITS_EXPLAINED,
    "Other differences are percentage points. All have 95 % intervals of the paired bootstrap.",
    "p is of McNemar's test, exact and two-sided: how likely so uneven a split of the items that only one model gets right "
    "would be if neither were better.",
    "It says nothing about other seeds of the same models, and is not corrected for there being several comparisons.",
)
TITLES = {
    "sg": "SyntaxGym, first prediction.",
    "blimp": "BLiMP, by log p of the sentence.",
    "pairs": "Minimal pairs, by log p.",
}


def paired_section(models: Sequence[ReportedModel]) -> Section:
    """The first model against each other."""
    if len(models) < 2:
        return Section("Paired comparisons", (Text(("There is only one model.",)),))
    first, *others = models
    tables: list[ReportBlock] = []
    if any("ppl" in model.results for model in models):
        rows = [row for other in others for row in rows_of(first, other, "ppl", ppl_rows, PPL_HEADER)]
        tables.append(ReportTable("paired-ppl", "Perplexity, sentence by sentence.", texts(*PPL_HEADER), rows))
    for kind, heading in TITLES.items():
        if any(kind in model.results for model in models):
            rows = [row for other in others for row in rows_of(first, other, kind, overlap_rows, HEADER)]
            tables.append(ReportTable(f"paired-{kind}", heading, texts(*HEADER), rows))
    if not tables:
        return Section("Paired comparisons", (Text(("These need results of perplexity, SyntaxGym or BLiMP.",)),))
    return Section("Paired comparisons", (*tables, Text(EXPLAINED)))


def rows_of(
    first: ReportedModel,
    second: ReportedModel,
    kind: str,
    rows: Callable[[Found, Found, str], Iterable[list[Cell]]],
    header: Sequence[str],
) -> list[list[Cell]]:
    """What the two are compared on; or why they are not."""
    names, rest = [Cell(first.name), Cell(second.name)], [absent()] * (len(header) - 3)
    if kind not in first.results or kind not in second.results:
        return [[*names, missing(kind), *rest]]
    try:
        return [[*names, *row] for row in rows(first.results[kind], second.results[kind], first.name)]
    except InputError as error:
        return [[*names, absent(f"Not compared: {error}"), *rest]]


def items_of(found: Found) -> list[Item]:
    task = TASKS[found.kind]
    return read_items(found.place / task.table, task.columns)


def other_way(ours: Found, theirs: Found, name: str, by: tuple[str | None, str | None] = (None, None)) -> Notes:
    """A note if the second was not found as the first."""
    bases = [Basis((), basis_of(one, each).method) for one, each in zip((ours, theirs), by, strict=True)]
    return unlike(bases, f"Not found as for {quoted(name)}")[1]


def ppl_rows(ours: Found, theirs: Found, name: str) -> Iterable[list[Cell]]:
    """By every kind of probability that both have."""
    for one in compare_sentences(items_of(ours), items_of(theirs)):
        notes, bits = other_way(ours, theirs, name, (one.first_by, one.second_by)), one.bits_per_word
        shown = Cell(one.shown, notes, bits.value, (bits.low, bits.high))
        yield [Cell(one.by), shown, *map(number, (one.better, one.sentences, one.words))]


def overlap_rows(ours: Found, theirs: Found, name: str) -> Iterable[list[Cell]]:
    """All items, and those of each group."""
    if ours.kind == "sg" and ours.settings["data_sha256"] != theirs.settings["data_sha256"]:
        raise InputError("the suites are not the same.")
    task = ACCURACY_TASKS[ours.kind]
    content = task.compared(dict(ours.content), items_of(ours), items_of(theirs), ("the first", "the second"))
    way, rule = other_way(ours, theirs, name), next(iter(content["scores"]))
    notes = content["against"][rule].get("notes", ())
    for place, (group, one) in enumerate(task.tests(content, rule).items()):
        yield [
            Cell(group, () if place else tuple(notes)),
            difference(Interval.of(one, "difference"), way),
            *(number(one[count]) for count in ("both", *task.only, "neither")),
            Cell(p_value(one["p"]), number=one["p"]),
        ]
