"""The results table, a row for each model; and the tables that set its numbers beside parsers and arc representations."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dtg.evaluation.contract import Metric
from dtg.evaluation.probability import KINDS
from dtg.evaluation.report.comparing import IMPORTED, Basis, basis_of, notes_on, unlike
from dtg.evaluation.report.gathering import Found, ReportedModel
from dtg.evaluation.report.page import (
    Cell,
    Notes,
    ReportBlock,
    ReportTable,
    Section,
    Text,
    absent,
    accuracy,
    missing,
    number,
    perplexity,
    texts,
    without_empty_columns,
)
from dtg.evaluation.report.pivots import metrics_of
from dtg.evaluation.tasks.perplexity_scores import SIGNS
from dtg.evaluation.tasks.phrase_parsing import IGNORED
from dtg.evaluation.tasks.phrase_parsing import SCORES as BRACKET_SCORES

OF_WORDS = ("exact", "proposal", "beam", "estimate")  # joint is of something else: words and tree
PAPER = ("33 suites", "suite mean")  # by the first prediction: syntaxgym/scores.py says why
EXPLAINED = (
    "PPL: perplexity of the words; less is better. ≤: at most that, because p is a sum over some trees; ≈: an estimate; no "
    "sign if exact. `<END>` is predicted, and not counted as a word or piece.",
    "BLiMP: the share of pairs that are right, by log p of the sentence. SG: 33 suites, suite mean, first prediction, if not "
    "said otherwise. Both are in percent; more is better.",
    "Brackets are 95 % intervals by bootstrap over sentences, pairs or items. They leave out the variance between models "
    "trained with different seeds.",
)
NAME = "arc_representation"
NO_REPRESENTATIONS = (
    "No two of these models differ in `arc_representation` and nothing else of their configuration, which is known from "
    "training runs."
)
# What is shown of parsers: of which words, which share, under which title; the first is also shown of the best of a list.
PARSER_COLUMNS: Mapping[str, Sequence[tuple[str, str, str]]] = {
    "parser": (
        *(("all words", name, title) for name, title in (("uas", "UAS"), ("las", "LAS"), ("exact", "exact"))),
        *(("no punctuation", name, f"{title}, no punctuation") for name, title in (("uas", "UAS"), ("las", "LAS"))),
    ),
    "parser-phrases": tuple(("all words", name, title) for name, title in BRACKET_SCORES.items()),
}
BRACKETS = IGNORED.replace("tagged , : `` '' and .", "tagged as punctuation")  # a report's backticks enclose code
CORPORA = (
    "The parser that proposes trees for evaluation need not be the one whose trees the model was trained on. Two models were "
    "trained on the same trees if their corpora (by sha256) are the same."
)
DEPENDENCIES = (
    "Trees are Universal Dependencies unless said otherwise. The paper's are Stanford Dependencies of the Penn Treebank, so "
    "its UAS does not compare with these."
)


@dataclass(frozen=True, slots=True)
class Headlines:
    """The columns of the results table, a cell for each model; other tables take them from here."""

    kind: list[Cell]
    per_word: list[Cell]
    per_piece: list[Cell]
    blimp: list[Cell]
    sg: list[Cell]

    @classmethod
    def of(cls, models: Sequence[ReportedModel]) -> Headlines:
        """One perplexity of each: by the kind that all models with trees have, the paper's first."""
        kinds = word_kinds(models)
        pairs, items = (zip(models, notes_on(models, kind), strict=True) for kind in ("blimp", "sg"))
        return cls(
            [kind_cell(by) for by in kinds],
            perplexities(models, kinds, "word"),
            perplexities(models, kinds, "piece"),
            [blimp_cell(model, notes) for model, notes in pairs],
            [sg_cell(model, notes) for model, notes in items],
        )


def overview(models: Sequence[ReportedModel], headlines: Headlines) -> Section:
    """The paper's main table."""
    columns = (headlines.kind, headlines.per_word, headlines.per_piece, headlines.blimp, headlines.sg)
    rows = [
        [Cell(model.name), Cell(model.family) if model.family else absent(IMPORTED), *cells]
        for model, *cells in zip(models, *columns, strict=True)
    ]
    header = texts("Model", "Family", "log p", "PPL per word", "PPL per piece", "BLiMP", "SG")
    return Section("Results", (ReportTable("results", "Every model's results.", header, rows), Text(EXPLAINED)))


def word_kinds(models: Sequence[ReportedModel]) -> list[str | None]:
    """Which perplexity of its words stands for each model; None if it has none."""
    known = [
        [by for by in OF_WORDS if by in model.results["ppl"].content["perplexities"]] if "ppl" in model.results else []
        for model in models
    ]
    with_trees = [some for some in known if some and some != ["exact"]]
    shared = [by for by in OF_WORDS if with_trees and all(by in some for some in with_trees)]
    return [next((by for by in (*shared, *some) if by in some), None) for some in known]


def kind_cell(by: str | None) -> Cell:
    """What the perplexity is by, and what is known of it."""
    if by is None:
        return missing("ppl")
    kind = KINDS[by]  # type: ignore[index]  # one of OF_WORDS
    return Cell(kind if kind == by else f"{kind} ({by})")


def perplexities(models: Sequence[ReportedModel], kinds: Sequence[str | None], unit: str) -> list[Cell]:
    """A column of perplexities per word or per piece."""
    bases: list[Basis | None] = []
    for model, by in zip(models, kinds, strict=True):
        basis = None if by is None else basis_of(model.results["ppl"], by)
        if basis is not None and unit == "piece":  # as many pieces only by the same tokenizer
            basis = replace(basis, data=(*basis.data, ("pieces", model.results["ppl"].content["pieces"])))
        bases.append(basis)
    return [
        missing("ppl") if by is None else ppl_cell(model, by, f"per_{unit}", notes)
        for model, by, notes in zip(models, kinds, unlike(bases), strict=True)
    ]


def ppl_cell(model: ReportedModel, by: str, convention: str, notes: Notes) -> Cell:
    """A perplexity; sentences that are not in it are told."""
    found = model.results["ppl"]
    metric = next((one for one in found.metrics if (one.rule, one.name) == (by, convention)), None)
    one = found.content["perplexities"][by]
    if one["sentences_without"]:
        notes = (*notes, f"Without {one['sentences_without']:,} of the sentences, which have no such probability.")
    return perplexity(None if metric is None else metric.value, SIGNS[one["kind"]], notes)


def blimp_cell(model: ReportedModel, notes: Notes) -> Cell:
    if "blimp" not in model.results:
        return missing("blimp")
    return accuracy(
        metrics_of(model, "blimp", level="overall", rule="sentence", name="accuracy")["all pairs"].value, notes
    )


def sg_average(model: ReportedModel) -> Metric:
    """What the paper most likely reports; or the suite mean of those that were given."""
    averages = [
        one for one in model.results["sg"].metrics if (one.level, one.rule, one.name) == ("averages", "first", PAPER[1])
    ]
    return next((one for one in averages if one.group == PAPER[0]), averages[0])


def sg_cell(model: ReportedModel, notes: Notes) -> Cell:
    if "sg" not in model.results:
        return missing("sg")
    average = sg_average(model)
    if average.group != PAPER[0]:
        notes = (*notes, f"The mean of {average.group}, not of the {PAPER[0]} that the paper most likely reports.")
    return accuracy(average.value, notes)


def representation_section(models: Sequence[ReportedModel], headlines: Headlines) -> Section:
    """Models that differ in how arcs are represented, and in nothing else of the [model] table."""
    groups: dict[str, dict[int, str]] = {}
    for place, model in enumerate(models):
        if model.run is not None and model.has_trees:
            others = json.dumps({**model.run.model, NAME: None}, sort_keys=True)
            groups.setdefault(others, {})[place] = str(model.run.model[NAME])
    rows = [
        [
            *texts(models[place].name, str(models[place].family), representation),
            *(headlines.per_word[place], headlines.blimp[place], headlines.sg[place]),
        ]
        for group in groups.values()
        if len(set(group.values())) > 1
        for place, representation in group.items()
    ]
    if not rows:
        return Section("Arc representations", (Text((NO_REPRESENTATIONS,)),))
    header = texts("Model", "Family", "arc representation", "PPL per word", "BLiMP", "SG")
    return Section("Arc representations", (ReportTable("representations", "Representations of arcs.", header, rows),))


def parser_section(models: Sequence[ReportedModel], parsers: Sequence[Found], headlines: Headlines) -> Section:
    """How good parsers are, and the models for which each proposed trees."""
    blocks: list[ReportBlock] = []
    for kind, title in (("parser", "Parsers"), ("parser-phrases", "Constituency parsers")):
        if some := [found for found in parsers if found.kind == kind]:
            blocks.append(parser_table(some, title, PARSER_COLUMNS[kind]))
    if not blocks:
        blocks.append(Text(("No parser was evaluated yet: `dtg evaluate parser` does it.",)))
    rows = [
        [
            *texts(model.name, proposal),
            accuracy_of(proposal, parsers),
            corpus_of(model),
            *(headlines.per_word[place], headlines.blimp[place]),
        ]
        for place, model in enumerate(models)
        if "ppl" in model.results and (proposal := model.results["ppl"].given.get("proposal")) is not None
    ]
    if rows:
        header = texts("Model", "trees proposed by", "its UAS", "trained on corpus", "PPL per word", "BLiMP")
        blocks.append(ReportTable("external-parsers", "Models by the parser that proposes their trees.", header, rows))
        blocks.append(Text((CORPORA,)))
    brackets = [BRACKETS] if any(found.kind == "parser-phrases" for found in parsers) else []
    return Section("Parsers", (*blocks, Text((DEPENDENCIES, *brackets))))


def parser_table(parsers: Sequence[Found], title: str, columns: Sequence[tuple[str, str, str]]) -> ReportTable:
    """A row for each parser."""
    bases = [Basis((("treebank", treebank(one)), ("words", one.content["all"]["words"])), None) for one in parsers]
    rows = []
    for found, notes in zip(parsers, unlike(bases), strict=True):
        known = {(one.group, one.name): one.value.value for one in found.metrics}
        best = found.content.get("oracle", {})
        shares = [number(known.get((group, name)), 1) for group, name, _ in columns]
        about = [Cell(parser_name(found), notes), Cell(treebank(found)), number(found.content["all"]["sentences"])]
        rows.append([*about, *shares, number(best.get("nbest")), number(best.get(columns[0][1]), 1)])
    titles = [title for _, _, title in columns]
    header = texts("Parser", "treebank", "sentences", *titles, "best of", f"{titles[0]} of the best")
    header, *rows = without_empty_columns(header, rows)
    return ReportTable(title.lower().replace(" ", "-"), f"{title}.", header, rows)


def parser_name(found: Found) -> str:
    return str(found.given.get("parser", found.given.get("model")))


def treebank(found: Found) -> str:
    return ", ".join(Path(file).name for file in found.given["files"])


def accuracy_of(proposal: str, parsers: Sequence[Found]) -> Cell:
    """That of the parser in this folder, if it was evaluated."""
    main = {
        (one.kind, one.content["all"][PARSER_COLUMNS[one.kind][0][1]])
        for one in parsers
        if parser_name(one) == proposal
    }
    if not main:
        return missing("parser")
    if len(main) > 1:
        return absent("There are several; the table above has them.")
    ((kind, share),) = main
    return number(share, 1, ("F1 of labelled brackets.",) if kind == "parser-phrases" else ())


def corpus_of(model: ReportedModel) -> Cell:
    if model.run is None:
        return absent("Not known without the training run.")
    return Cell(str(model.run.about["corpus"])[:8])
