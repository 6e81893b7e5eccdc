"""BLiMP, pairs of one's own, SyntaxGym, perplexity and reranking: tables with a row for each group, and bar charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dtg.evaluation.contract import Metric
from dtg.evaluation.report.comparing import IMPORTED, Basis, basis_of, notes_on, unlike
from dtg.evaluation.report.gathering import Found, ReportedModel
from dtg.evaluation.report.overview import BRACKETS, DEPENDENCIES, OF_WORDS, PAPER, ppl_cell, sg_average
from dtg.evaluation.report.page import (
    Cell,
    ReportBlock,
    ReportTable,
    Section,
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
from dtg.evaluation.report.pivots import groups_in, header_of, metrics_of, pivot
from dtg.evaluation.tasks.pairs.paradigms import title as blimp_title
from dtg.evaluation.tasks.perplexity_scores import CONVENTIONS_EXPLAINED, MEANINGS
from dtg.evaluation.tasks.phrase_reranking import EXPLAINED as PHRASES_EXPLAINED
from dtg.evaluation.tasks.reranking import EXPLAINED as RERANKING_EXPLAINED
from dtg.evaluation.tasks.reranking_scores import WHOSE
from dtg.evaluation.tasks.syntaxgym.scores import CIRCUITS, CONTRADICTION, PAPER_LIKELY, RULE_TITLES, RULES

BLIMP_LEVELS = {"fields": "field", "phenomena": "phenomenon", "paradigms": "paradigm"}
SENTENCES = {"rule": "sentence", "name": "accuracy"}
FIRST = {"rule": "first", "name": "accuracy"}
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
NO_TREES = "The model has no trees."


def blimp_section(models: Sequence[ReportedModel]) -> Section:
    """Figures by field and phenomenon, and the numbers behind them."""
    some = [model for model in models if "blimp" in model.results]
    if not some:
        return not_evaluated("BLiMP", "blimp")
    notes = {model.name: found for model, found in zip(some, notes_on(some, "blimp"), strict=True)}
    figures: list[ReportBlock] = []
    for level in ("fields", "phenomena"):
        groups = groups_in([metrics_of(model, "blimp", **SENTENCES, level=level) for model in models])
        titles = {"all pairs": "all pairs", **{group: blimp_title(group) for group in groups}}
        bars = {
            model.name: {
                **metrics_of(model, "blimp", **SENTENCES, level="overall"),
                **metrics_of(model, "blimp", **SENTENCES, level=level),
            }
            for model in some
        }
        figures += bar_figures(level, f"BLiMP by {BLIMP_LEVELS[level]}.", titles, bars, notes, chance=50.0)
    tables = pair_tables(models, "blimp", "All of BLiMP.", BLIMP_LEVELS)
    return Section("BLiMP", (*figures, *tables, Text(PAIRS_EXPLAINED)))


def pairs_section(models: Sequence[ReportedModel]) -> Section | None:
    """Pairs of one's own; nothing where there are none."""
    if not any("pairs" in model.results for model in models):
        return None
    tables = pair_tables(models, "pairs", "All pairs.", {"groups": "group"})
    return Section("Minimal pairs", (*tables, Text(PAIRS_EXPLAINED[:1])))


def pair_tables(models: Sequence[ReportedModel], kind: str, title: str, levels: Mapping[str, str]) -> list[ReportTable]:
    """All pairs together, and by the groups of each level."""
    header = header_of(models, kind)
    rules = [next((one.rule for one in found.metrics), "") if found else "" for found in results_of(models, kind)]
    tables = [ReportTable(kind, title, [Cell("all"), *header], pair_totals(models, kind))]
    for level, one in levels.items():
        found = [
            metrics_of(model, kind, level=level, rule=rule, name="accuracy")
            for model, rule in zip(models, rules, strict=True)
        ]
        written = blimp_title if level in ("fields", "phenomena") else str
        rows = pivot(models, kind, groups_in(found), found, title=written)
        folded = level == "paradigms"
        tables.append(ReportTable(f"{kind}-{level}", f"By {one}.", [Cell(one), *header], rows, is_folded=folded))
    return tables


def results_of(models: Sequence[ReportedModel], kind: str) -> list[Found | None]:
    return [model.results.get(kind) for model in models]


def pair_totals(models: Sequence[ReportedModel], kind: str) -> list[list[Cell]]:
    """All pairs together, by the conventions in use."""
    over = "paradigm" if kind == "blimp" else "group"

    def column(found: Found | None) -> list[Cell]:
        if found is None:
            return [absent()] * 5
        one, mean, per_word, _ = (each for each in found.metrics if each.level == "overall")
        return [*(accuracy(each.value) for each in (one, mean, per_word)), number(one.n), number(one.ties)]

    titles = ("by pairs", f"mean over {over}s", "by pairs, per word", "pairs", "ties")
    columns = map(column, results_of(models, kind))
    return [[Cell(name), *cells] for name, *cells in zip(titles, *columns, strict=True)]


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
    suites = [metrics_of(model, "sg", **FIRST, level="suites") for model in models]
    every_suite = pivot(models, "sg", groups_in(suites), suites)
    return Section(
        "SyntaxGym",
        (
            *bar_figures("circuits", SG_TITLE, {group: group for group in groups}, bars, notes, chance=None),
            ReportTable("circuits", SG_TITLE, [Cell("circuit"), *header], pivot(models, "sg", groups, circuits)),
            ReportTable(
                "syntaxgym-averages", "Averages in use.", [*texts("suites", "mean", "rule"), *header], averages(models)
            ),
            ReportTable("syntaxgym-suites", "Every suite.", [Cell("suite"), *header], every_suite, is_folded=True),
            Text(SG_EXPLAINED),
        ),
    )


def circuits_of(model: ReportedModel) -> dict[str, Metric]:
    """The mean that stands for the model, and its circuits."""
    if "sg" not in model.results:
        return {}
    average = sg_average(model)
    return {f"{average.group}, mean": average, **metrics_of(model, "sg", **FIRST, level="circuits")}


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
            blocks.append(ReportTable(name, title, header, rows))
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
    """A table of dependencies, and one of phrases where there are results of them."""
    blocks: list[ReportBlock] = []
    if any("rerank" in model.results for model in models):
        table = reranking_table(models, "rerank", "reranking", "Trees chosen by models.", ("uas", "UAS"))
        blocks += [table, Text((*RERANKING_EXPLAINED, DEPENDENCIES))]
    if some := [model for model in models if "rerank-phrases" in model.results]:
        title = "Trees chosen by models: phrases."
        table = reranking_table(some, "rerank-phrases", "reranking-phrases", title, ("f1", "F1"))
        blocks += [table, Text((PHRASES_EXPLAINED, BRACKETS))]
    return Section("Reranking", tuple(blocks)) if blocks else not_evaluated("Reranking", "rerank")


def reranking_table(
    models: Sequence[ReportedModel], kind: str, name: str, title: str, measure: tuple[str, str]
) -> ReportTable:
    """A row for each model and group of words: all, and of dependencies those that are not punctuation."""
    key, called = measure
    header = (
        *("Model", "words", *(f"{called} {who}" for who in ("of the proposal", "reranked", "of the oracle"))),
        *("reranked − proposal", *(f"exact, {who}" for who in WHOSE), "trees per sentence", "sentences"),
    )
    some = [found for found in results_of(models, kind) if found is not None]
    unequal = iter(unlike([basis_of(found, "rerank") for found in some]))
    rows = list[list[Cell]]()
    for model, found in zip(models, results_of(models, kind), strict=True):
        if found is None:
            why = missing(kind) if model.family and model.has_trees else absent(NO_TREES if model.family else IMPORTED)
            rows.append([Cell(model.name), why, *[absent()] * (len(header) - 2)])
            continue
        notes, known = next(unequal), {(one.group, one.name, one.rule): one for one in found.metrics}
        for group in dict.fromkeys(one.group for one in found.metrics):
            shares, exact = ([number(known[group, one, who].value.value, 1) for who in WHOSE] for one in (key, "exact"))
            gained = difference(known[group, key, "difference"].value)
            trees = number(found.content["trees"] / found.content["sentences"], 1)
            sentences = number(known[group, "exact", "proposal"].n)
            rows.append([Cell(model.name, notes), Cell(group), *shares, gained, *exact, trees, sentences])
    return ReportTable(name, title, texts(*header), rows)
