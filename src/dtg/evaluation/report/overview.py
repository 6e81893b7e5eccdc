"""The results table: models in, a row for each with perplexity, BLiMP and SyntaxGym out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dtg.evaluation.perplexity_report import SIGNS
from dtg.evaluation.report.cells import absent, accuracy, missing, perplexity, texts
from dtg.evaluation.report.comparing import IMPORTED, Basis, basis_of, unlike
from dtg.evaluation.report.finding import Kind
from dtg.evaluation.report.models import Model
from dtg.evaluation.report.page import Cell, Section, Table, Text

OF_WORDS = ("exact", "proposal", "beam", "estimate")  # joint is of something else: words and tree
PAPER = ("33 suites", "suite mean")  # by the first prediction: sg/circuits.py says why
EXPLAINED = (
    "PPL: perplexity of the words; less is better. ≤: at most that, because p is a sum over some trees; ≈: an estimate; no "
    "sign if exact. `<END>` is predicted, and not counted as a word or piece.",
    "BLiMP: the share of pairs that are right, by log p of the sentence. SG: 33 suites, suite mean, first prediction, if not "
    "said otherwise. Both are in percent; more is better.",
    "Brackets are 95 % intervals by bootstrap over sentences, pairs or items. They leave out the variance between models "
    "trained with different seeds.",
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
    def of(cls, models: Sequence[Model]) -> Headlines:
        """One perplexity of each: by the kind that all models with trees have, the paper's first."""
        kinds = word_kinds(models)
        pairs = zip(models, notes_on(models, "blimp"), strict=True)
        items = zip(models, notes_on(models, "sg"), strict=True)
        return cls(
            [kind_cell(model, by) for model, by in zip(models, kinds, strict=True)],
            perplexities(models, kinds, "word"),
            perplexities(models, kinds, "piece"),
            [
                accuracy(blimp_of(model), notes) if "blimp" in model.results else missing("blimp")
                for model, notes in pairs
            ],
            [sg_cell(model, notes) for model, notes in items],
        )


def overview(models: Sequence[Model], headlines: Headlines) -> Section:
    """The paper's main table."""
    columns = (headlines.kind, headlines.per_word, headlines.per_piece, headlines.blimp, headlines.sg)
    rows = [
        [Cell(model.name), Cell(model.family) if model.family else absent(IMPORTED), *cells]
        for model, *cells in zip(models, *columns, strict=True)
    ]
    header = texts("Model", "Family", "log p", "PPL per word", "PPL per piece", "BLiMP", "SG")
    return Section("Results", (Table("results", "Every model's results.", header, rows), Text(EXPLAINED)))


def word_kinds(models: Sequence[Model]) -> list[str | None]:
    """Which perplexity of its words stands for each model; None if it has none."""
    known = [
        [by for by in OF_WORDS if by in model.results["ppl"].content["perplexities"]] if "ppl" in model.results else []
        for model in models
    ]
    with_trees = [some for some in known if some and some != ["exact"]]
    shared = [by for by in OF_WORDS if with_trees and all(by in some for some in with_trees)]
    return [next((by for by in (*shared, *some) if by in some), None) for some in known]


def kind_cell(model: Model, by: str | None) -> Cell:
    """What the perplexity is by, and what is known of it."""
    if by is None:
        return missing("ppl")
    kind = ppl_of(model, by)["kind"]
    return Cell(kind if kind == by else f"{kind} ({by})")


def perplexities(models: Sequence[Model], kinds: Sequence[str | None], unit: str) -> list[Cell]:
    """A column of perplexities per word or per piece."""
    bases: list[Basis | None] = []
    for model, by in zip(models, kinds, strict=True):
        basis = None if by is None else basis_of(model.results["ppl"], by)
        if basis is not None and unit == "piece":  # as many pieces only by the same tokenizer
            basis = replace(basis, data=(*basis.data, ("pieces", model.results["ppl"].content["pieces"])))
        bases.append(basis)
    return [
        missing("ppl") if by is None else ppl_cell(ppl_of(model, by), f"per_{unit}", notes)
        for model, by, notes in zip(models, kinds, unlike(bases), strict=True)
    ]


def ppl_cell(one: Mapping[str, Any], convention: str, notes: tuple[str, ...]) -> Cell:
    """A perplexity; sentences that are not in it are told."""
    if one["sentences_without"]:
        notes = (*notes, f"Without {one['sentences_without']:,} of the sentences, which have no such probability.")
    return perplexity(one.get(convention), SIGNS[one["kind"]], notes)


def ppl_of(model: Model, by: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = model.results["ppl"].content["perplexities"][by]
    return found


def blimp_of(model: Model) -> Mapping[str, Any]:
    found: Mapping[str, Any] = model.results["blimp"].content["scores"]["sentence"]["overall"]
    return found


def sg_average(model: Model) -> Mapping[str, Any]:
    """What the paper most likely reports; or the suite mean of those that were given."""
    averages = [one for one in model.results["sg"].content["scores"]["first"]["averages"] if one["mean"] == PAPER[1]]
    return next((one for one in averages if one["suites"] == PAPER[0]), averages[0])


def sg_cell(model: Model, notes: tuple[str, ...]) -> Cell:
    if "sg" not in model.results:
        return missing("sg")
    average = sg_average(model)
    if average["suites"] != PAPER[0]:
        notes = (*notes, f"The mean of {average['suites']}, not of the {PAPER[0]} that the paper most likely reports.")
    return accuracy(average, notes)


def notes_on(models: Sequence[Model], kind: Kind) -> list[tuple[str, ...]]:
    """For each model, what keeps its results of a kind from being compared with those of the others."""
    bases = [basis_of(model.results[kind]) if kind in model.results else None for model in models]
    imported = [kind in model.results and "surprisals_sha256" in model.results[kind].settings for model in models]
    return [
        (*notes, IMPORTED) if is_imported else notes for notes, is_imported in zip(unlike(bases), imported, strict=True)
    ]
