"""Two models on the same items: the first model and each other in, the paper's overlap table and McNemar's test out.

And on the same sentences: by how many bits a word they differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from dtg.errors import InputError
from dtg.evaluation.blimp.columns import scored_pair
from dtg.evaluation.blimp.comparison import compare as compare_pairs
from dtg.evaluation.blimp.paradigms import title
from dtg.evaluation.blimp.reporting import PAIRS
from dtg.evaluation.markdown import p_value
from dtg.evaluation.perplexity_comparison import BITS_EXPLAINED, read_sentences
from dtg.evaluation.perplexity_comparison import compare as compare_sentences
from dtg.evaluation.report.cells import absent, difference, missing, number, texts
from dtg.evaluation.report.comparing import Basis, basis_of, unlike
from dtg.evaluation.report.finding import Found, Kind
from dtg.evaluation.report.models import Model
from dtg.evaluation.report.page import Block, Cell, Section, Table, Text, quoted
from dtg.evaluation.sg.comparison import compare as compare_items
from dtg.evaluation.sg.reporting import read_verdicts
from dtg.tables.formats import read_rows

Counts = Mapping[str, Any]  # both, only_first, only_second, neither, difference, interval, p
Compare = Callable[[Found, Found], Iterable[tuple[str, Counts, tuple[str, ...]]]]  # names of groups, counts, and notes
HEADER = ("first", "second", "items", "first − second", "both right", "only first", "only second", "neither", "p")
PPL_HEADER = ("first", "second", "log p by", "first − second, bits a word", "better by first", "sentences", "words")
EXPLAINED = (
    BITS_EXPLAINED,
    "Other differences are points of a hundred. All have 95 % intervals of the paired bootstrap.",
    "p is of McNemar's test, exact and two-sided: how likely so uneven a split of the items that only one model gets right "
    "would be if neither were better.",
    "It says nothing about other seeds of the same models, and is not corrected for there being several comparisons.",
)


def paired_section(models: Sequence[Model]) -> Section:
    """The first model against each other."""
    if len(models) < 2:
        return Section("Paired comparisons", (Text(("There is only one model.",)),))
    first, *others = models
    tables: list[Block] = []
    if any("ppl" in model.results for model in models):
        rows = [row for other in others for row in ppl_rows(first, other)]
        tables.append(Table("paired-ppl", "Perplexity, sentence by sentence.", texts(*PPL_HEADER), rows))
    benchmarks: tuple[tuple[Kind, str, Compare], ...] = (
        ("sg", "SyntaxGym, first prediction.", syntaxgym),
        ("blimp", "BLiMP, by log p of the sentence.", blimp),
    )
    for kind, heading, compared in benchmarks:
        if any(kind in model.results for model in models):
            rows = [row for other in others for row in rows_of(first, other, kind, compared)]
            tables.append(Table(f"paired-{kind}", heading, texts(*HEADER), rows))
    if not tables:
        return Section("Paired comparisons", (Text(("These need results of perplexity, SyntaxGym or BLiMP.",)),))
    return Section("Paired comparisons", (*tables, Text(EXPLAINED)))


def ppl_rows(first: Model, second: Model) -> list[list[Cell]]:
    """By every kind of probability that both have; or why they are not compared."""
    names = [Cell(first.name), Cell(second.name)]
    if "ppl" not in first.results or "ppl" not in second.results:
        return [[*names, missing("ppl"), *[absent()] * 4]]
    results = [model.results["ppl"] for model in (first, second)]
    try:
        found = compare_sentences(*(read_sentences(result.place)[1] for result in results))
    except InputError as error:
        return [[*names, absent(f"Not compared: {error}"), *[absent()] * 4]]
    rows = []
    for one in found:
        bases = [
            Basis((), basis_of(result, by).method)
            for result, by in zip(results, (one.first_by, one.second_by), strict=True)
        ]
        _, other_way = unlike(bases, f"Not found as for {quoted(first.name)}")
        bits = one.bits_per_word
        shown = Cell(one.shown, other_way, bits.value, (bits.low, bits.high))
        rows.append([*names, Cell(one.by), shown, *map(number, (one.better, one.sentences, one.words))])
    return rows


def rows_of(first: Model, second: Model, kind: Kind, compared: Compare) -> list[list[Cell]]:
    """What the two are compared on; or why they are not."""
    names = [Cell(first.name), Cell(second.name)]
    if kind not in first.results or kind not in second.results:
        return [[*names, missing(kind), *[absent()] * 6]]
    ours, theirs = first.results[kind], second.results[kind]
    try:
        found = list(compared(ours, theirs))
    except InputError as error:
        return [[*names, absent(f"Not compared: {error}"), *[absent()] * 6]]
    bases = [Basis((), basis_of(one).method) for one in (ours, theirs)]  # the items are the same
    _, other_way = unlike(bases, f"Not found as for {quoted(first.name)}")
    return [
        [
            *names,
            Cell(name, notes),
            difference(counts["difference"], counts["interval"], other_way),
            *(number(counts[which]) for which in ("both", "only_first", "only_second", "neither")),
            Cell(p_value(counts["p"]), number=counts["p"]),
        ]
        for name, counts, notes in found
    ]


def syntaxgym(first: Found, second: Found) -> Iterable[tuple[str, Counts, tuple[str, ...]]]:
    """All items, and those of each circuit."""
    if first.settings["data_sha256"] != second.settings["data_sha256"]:
        raise InputError("the suites are not the same.")
    comparison = compare_items(read_verdicts(first.place), read_verdicts(second.place), "first")
    for one in (comparison.overall, *comparison.circuits):
        yield one.name, one.as_dict(), ()


def blimp(first: Found, second: Found) -> Iterable[tuple[str, Counts, tuple[str, ...]]]:
    """All pairs that both have scored, and those of each phenomenon."""
    places = {"the first": first.place, "the second": second.place}
    scored = {name: [scored_pair(row) for _, row in read_rows(place / PAIRS)] for name, place in places.items()}
    comparison = compare_pairs(scored, "sentence")
    for name, (test,) in comparison.groups.items():
        counts = test.as_dict()
        notes = comparison.notes if name == "all pairs" else ()
        yield title(name), {**counts, "only_first": counts["only_a"], "only_second": counts["only_b"]}, notes
