"""BLiMP, pairs of one's own, SyntaxGym, perplexity and reranking: tables with a row for each group, and bar charts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dtg.evaluation.contract import Interval, Metric
from dtg.evaluation.report.comparing import IMPORTED, Basis, basis_of, notes_on, unlike
from dtg.evaluation.report.gathering import ReportedModel
from dtg.evaluation.report.overview import DEPENDENCIES, OF_WORDS, PAPER, metrics_of, ppl_cell, sg_average
from dtg.evaluation.report.page import (
    Cell,
    Notes,
    ReportBlock,
    Section,
    Table,
    Text,
    absent,
    accuracy,
    bar_figures,
    difference,
    missing,
    not_evaluated,
    number,
    texts,
    without_empty_columns,
)
from dtg.evaluation.tasks.pairs.paradigms import title as blimp_title
from dtg.evaluation.tasks.perplexity_scores import CONVENTIONS_EXPLAINED, MEANINGS
from dtg.evaluation.tasks.reranking import EXPLAINED as RERANKING_EXPLAINED
from dtg.evaluation.tasks.reranking import PARTS, WHOSE
from dtg.evaluation.tasks.syntaxgym.scores import CIRCUITS, CONTRADICTION, PAPER_LIKELY, RULE_TITLES, RULES

NO_ITEMS = "None of its items were evaluated."
PAIRS_EXPLAINED = (
    "A pair is right if the acceptable sentence has the higher log p. A tie is not right.",
    "By pairs: the share of all pairs. Mean over paradigms: the same where paradigms have equally many pairs. Per word: by "
    "log p divided by the number of words.",
)
SG_TITLE = "SyntaxGym by circuit, first prediction."
THE_PAPERS = "What the paper most likely reports."
SG_EXPLAINED = (
    *(f"{RULE_TITLES[rule].capitalize()}: {meaning}." for rule, meaning in RULES.items()),
    "Micro: the share of all items that are right. A suite's score is the share of its items, a circuit's the mean over its "
    "suites.",
    CONTRADICTION,
    PAPER_LIKELY,
)
PPL_COLUMNS = {
    "per_word": "per word",
    "per_word_and_end": "per word, + <END>",
    "per_word_without_end": "per word, no <END>",
    "per_piece": "per piece",
    "per_piece_and_end": "per piece, + <END>",
    "per_piece_without_end": "per piece, no <END>",
}
PPL_TABLES = (
    ("perplexity", "Perplexity of the words.", OF_WORDS),
    ("perplexity-joint", "Perplexity of the words together with the trees of the file.", ("joint",)),
)
RERANKING_HEADER = (
    *("Model", "words", "UAS of the proposal", "UAS reranked", "UAS of the oracle", "reranked − proposal"),
    *("exact, proposal", "exact, reranked", "exact, oracle", "trees a sentence", "sentences"),
)
NO_TREES = "The model has no trees."


def pivot(
    models: Sequence[ReportedModel],
    kind: str,
    groups: Sequence[str],
    found: Sequence[Mapping[str, Metric]],
    title: Callable[[str], str] = str,
) -> list[list[Cell]]:
    """A row for each group and a column for each model. Dashes of a model without results are explained at its name."""

    def cell(model: ReportedModel, known: Mapping[str, Metric], group: str) -> Cell:
        if kind not in model.results:
            return absent()
        return accuracy(known[group].value) if group in known else absent(NO_ITEMS)

    return [
        [Cell(title(group)), *(cell(model, known, group) for model, known in zip(models, found, strict=True))]
        for group in groups
    ]


def header_of(models: Sequence[ReportedModel], kind: str) -> list[Cell]:
    """The models' names, with what is to be known of their results."""
    return [
        Cell(model.name, notes if kind in model.results else missing(kind).notes)
        for model, notes in zip(models, notes_on(models, kind), strict=True)
    ]


def groups_in(found: Sequence[Mapping[str, Metric]]) -> list[str]:
    return sorted({group for some in found for group in some})


def blimp_section(models: Sequence[ReportedModel]) -> Section:
    """Figures by field and phenomenon, and the numbers behind them."""
    some = [model for model in models if "blimp" in model.results]
    if not some:
        return not_evaluated("BLiMP", "blimp")
    header = header_of(models, "blimp")
    notes = {model.name: found for model, found in zip(some, notes_on(some, "blimp"), strict=True)}
    figures: list[ReportBlock] = []
    tables: list[ReportBlock] = [Table("blimp", "All of BLiMP.", [Cell("all"), *header], pair_totals(models, "blimp"))]
    for level, one in (("fields", "field"), ("phenomena", "phenomenon"), ("paradigms", "paradigm")):
        found = [metrics_of(model, "blimp", level, "sentence") for model in models]
        written = str if level == "paradigms" else blimp_title
        rows = pivot(models, "blimp", groups_in(found), found, written)
        folded = level == "paradigms"
        tables.append(Table(f"blimp-{level}", f"By {one}.", [Cell(one), *header], rows, is_folded=folded))
        if not folded:
            titles = {"all pairs": "all pairs", **{group: blimp_title(group) for group in groups_in(found)}}
            bars = {
                model.name: {
                    **metrics_of(model, "blimp", "overall", "sentence"),
                    **metrics_of(model, "blimp", level, "sentence"),
                }
                for model in some
            }
            figures += bar_figures(level, f"BLiMP by {one}.", titles, bars, notes, chance=50.0)
    return Section("BLiMP", (*figures, *tables, Text(PAIRS_EXPLAINED)))


def pair_totals(models: Sequence[ReportedModel], kind: str) -> list[list[Cell]]:
    """All pairs together, by the conventions in use."""
    over = "paradigm" if kind == "blimp" else "group"

    def column(model: ReportedModel) -> list[Cell]:
        if kind not in model.results:
            return [absent()] * 5
        one, mean, per_word, _ = (each for each in model.results[kind].metrics if each.level == "overall")
        return [*(accuracy(each.value) for each in (one, mean, per_word)), number(one.n), number(one.ties)]

    titles = ("by pairs", f"mean over {over}s", "by pairs, per word", "pairs", "ties")
    return [[Cell(name), *cells] for name, *cells in zip(titles, *map(column, models), strict=True)]


def pairs_section(models: Sequence[ReportedModel]) -> Section | None:
    """Pairs of one's own; nothing where there are none."""
    some = [model for model in models if "pairs" in model.results]
    if not some:
        return None
    header = header_of(models, "pairs")
    rules = [
        next((one.rule for one in model.results["pairs"].metrics), "") if model in some else "" for model in models
    ]
    found = [metrics_of(model, "pairs", "groups", rule) for model, rule in zip(models, rules, strict=True)]
    return Section(
        "Minimal pairs",
        (
            Table("pairs", "All pairs.", [Cell("all"), *header], pair_totals(models, "pairs")),
            Table(
                "pairs-groups", "By group.", [Cell("group"), *header], pivot(models, "pairs", groups_in(found), found)
            ),
            Text(PAIRS_EXPLAINED[:1]),
        ),
    )


def syntaxgym_section(models: Sequence[ReportedModel]) -> Section:
    """The paper's circuits figure, and the numbers behind it."""
    some = [model for model in models if "sg" in model.results]
    if not some:
        return not_evaluated("SyntaxGym", "sg")
    header = header_of(models, "sg")
    notes = {model.name: found for model, found in zip(some, notes_on(some, "sg"), strict=True)}
    circuits = [circuits_of(model) for model in models]
    names = {group for known in circuits for group in known}
    groups = [*sorted(names - CIRCUITS.keys()), *(name for name in CIRCUITS if name in names)]
    bars = {model.name: known for model, known in zip(models, circuits, strict=True) if model in some}
    suites = [metrics_of(model, "sg", "suites", "first") for model in models]
    every_suite = pivot(models, "sg", groups_in(suites), suites)
    return Section(
        "SyntaxGym",
        (
            *bar_figures("circuits", SG_TITLE, {group: group for group in groups}, bars, notes, chance=None),
            Table("circuits", SG_TITLE, [Cell("circuit"), *header], pivot(models, "sg", groups, circuits)),
            Table(
                "syntaxgym-averages", "Averages in use.", [*texts("suites", "mean", "rule"), *header], averages(models)
            ),
            Table("syntaxgym-suites", "Every suite.", [Cell("suite"), *header], every_suite, is_folded=True),
            Text(SG_EXPLAINED),
        ),
    )


def circuits_of(model: ReportedModel) -> dict[str, Metric]:
    """The mean that stands for the model, and its circuits."""
    if "sg" not in model.results:
        return {}
    average = sg_average(model)
    return {f"{average.group}, mean": average, **metrics_of(model, "sg", "circuits", "first")}


def averages(models: Sequence[ReportedModel]) -> list[list[Cell]]:
    """A row for each set of suites, mean and rule that any model has."""
    known = [
        {
            (one.group, one.name, RULE_TITLES[one.rule]): one
            for one in (model.results["sg"].metrics if "sg" in model.results else [])
            if one.level == "averages"
        }
        for model in models
    ]
    keys = dict.fromkeys(key for some in known for key in some)
    rows = []
    for key in keys:
        is_the_papers = key == (*PAPER, RULE_TITLES["first"])
        first = Cell(key[0], (THE_PAPERS,) if is_the_papers else ())
        named = [{"": some[key]} if key in some else {} for some in known]
        (_, *cells), *_ = pivot(models, "sg", [""], named)
        rows.append([first, *texts(*key[1:]), *cells])
    return rows


def perplexity_section(models: Sequence[ReportedModel]) -> Section:
    """Numbers of one kind stand together, because only these compare."""
    blocks: list[ReportBlock] = []
    used: list[str] = []
    for name, title, kinds in PPL_TABLES:
        rows = ppl_rows(models, kinds)
        if rows:
            header = texts("Model", "log p by", *PPL_COLUMNS.values(), "trees", "ESS", "sentences", "words", "pieces")
            used += [by for by in kinds if any(row[1].text == by for row in rows)]
            header, *rows = without_empty_columns(header, rows)
            blocks.append(Table(name, title, header, rows))
    if not blocks:
        return not_evaluated("Perplexity", "ppl")
    explained = (
        *(as_code(line) for by, line in MEANINGS.items() if by in used),
        *map(as_code, CONVENTIONS_EXPLAINED),
        "`ESS`: the effective sample size of an estimate, the mean over sentences.",
    )
    return Section("Perplexity", (*blocks, Text(explained)))


def ppl_rows(models: Sequence[ReportedModel], kinds: Sequence[str]) -> list[list[Cell]]:
    """A row for each model and kind of probability that it has."""
    entries = [
        (by, model, model.results["ppl"].content["perplexities"][by])
        for by in kinds
        for model in models
        if "ppl" in model.results and by in model.results["ppl"].content["perplexities"]
    ]
    bases = [basis_of(model.results["ppl"], by) for by, model, _ in entries]
    data = unlike([Basis(basis.data, None) for basis in bases])
    pieces = unlike([Basis((("pieces", one["pieces"]),), None) for _, _, one in entries])
    rows = []
    for place, (by, model, one) in enumerate(entries):
        same_kind = [  # of others that are by the same: the tables say which
            Basis((), basis.method if by == other else None)
            for (other, _, _), basis in zip(entries, bases, strict=True)
        ]
        numbers = [
            ppl_cell(model, by, convention, pieces[place] if "piece" in convention and convention in one else ())
            for convention in PPL_COLUMNS
        ]
        drawn = [number(one.get(name), 1) for name in ("trees", "effective_sample_size")]
        counts = [number(one[name]) for name in ("sentences", "words", "pieces")]
        notes = (*data[place], *unlike(same_kind)[place])
        rows.append([Cell(model.name, notes), Cell(by), *numbers, *drawn, *counts])
    return rows


def as_code(line: str) -> str:
    """A line of the form `name: meaning`, the name set as code."""
    name, _, meaning = line.partition(": ")
    return f"`{name}`: {meaning.replace('<END>', '`<END>`')}"


def reranking_section(models: Sequence[ReportedModel]) -> Section:
    """Two rows for each model: all words, and those that are not punctuation."""
    some = [model for model in models if "rerank" in model.results]
    if not some:
        return not_evaluated("Reranking", "rerank")
    unequal = unlike([basis_of(model.results["rerank"], "rerank") for model in some])
    notes = {model.name: found for model, found in zip(some, unequal, strict=True)}
    rows = [row for model in models for row in reranking_rows(model, notes.get(model.name, ()))]
    table = Table("reranking", "Trees chosen by models.", texts(*RERANKING_HEADER), rows)
    return Section("Reranking", (table, Text((*RERANKING_EXPLAINED, DEPENDENCIES))))


def reranking_rows(model: ReportedModel, notes: Notes) -> list[list[Cell]]:
    if "rerank" not in model.results:
        why = missing("rerank") if model.family and model.has_trees else absent(NO_TREES if model.family else IMPORTED)
        return [[Cell(model.name), why, *[absent()] * (len(RERANKING_HEADER) - 2)]]
    found = model.results["rerank"]
    values = {(one.group, one.name, one.rule): one.value for one in found.metrics}
    rows = []
    for part, title in PARTS.items():
        if found.content[part] is None:
            continue
        uas, exact = ([number(values[title, name, who].value, 1) for who in WHOSE] for name in ("uas", "exact"))
        gained: Interval = values[title, "uas", "difference"]
        trees = found.content["trees"] / found.content["sentences"]
        sentences = found.content[part]["proposal"]["sentences"]
        rows.append(
            [
                Cell(model.name, notes),
                Cell(title),
                *uas,
                difference(gained),
                *exact,
                number(trees, 1),
                number(sentences),
            ]
        )
    return rows
