"""Reranking: models in, the paper's table of trees that language models chose out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dtg.evaluation.report.cells import COMMANDS, absent, difference, missing, number, texts
from dtg.evaluation.report.comparing import IMPORTED, basis_of, unlike
from dtg.evaluation.report.models import Model
from dtg.evaluation.report.page import Cell, Section, Table, Text
from dtg.evaluation.reranking import WHOSE
from dtg.evaluation.reranking_report import EXPLAINED, PARTS

HEADER = (
    "Model",
    "words",
    "UAS of the proposal",
    "UAS reranked",
    "UAS of the oracle",
    "reranked − proposal",
    "exact, proposal",
    "exact, reranked",
    "exact, oracle",
    "trees a sentence",
    "sentences",
)
NO_TREES = "The model has no trees."
DEPENDENCIES = (
    "Trees are Universal Dependencies unless said otherwise. The paper's are Stanford Dependencies of the Penn Treebank, so "
    "its UAS does not compare with these."
)


def reranking_section(models: Sequence[Model]) -> Section:
    """Two rows for each model: all words, and those that are not punctuation."""
    some = [model for model in models if "rerank" in model.results]
    if not some:
        return Section("Reranking", (Text((f"Not evaluated yet: {COMMANDS['rerank']} makes it.",)),))
    unequal = unlike([basis_of(model.results["rerank"], "rerank") for model in some])
    notes = {model.name: found for model, found in zip(some, unequal, strict=True)}
    rows = [row for model in models for row in rows_of(model, notes.get(model.name, ()))]
    return Section(
        "Reranking",
        (Table("reranking", "Trees chosen by models.", texts(*HEADER), rows), Text((*EXPLAINED, DEPENDENCIES))),
    )


def rows_of(model: Model, notes: tuple[str, ...]) -> list[list[Cell]]:
    if "rerank" not in model.results:
        why = missing("rerank") if model.family and model.has_trees else absent(NO_TREES if model.family else IMPORTED)
        return [[Cell(model.name), why, *[absent()] * (len(HEADER) - 2)]]
    content = model.results["rerank"].content
    trees = content["trees"] / content["sentences"]
    return [
        [
            Cell(model.name, notes),
            Cell(title),
            *measures(content[part]),
            number(trees, 1),
            number(content[part]["proposal"]["sentences"]),
        ]
        for part, title in PARTS.items()
        if content[part] is not None
    ]


def measures(part: Mapping[str, Any]) -> list[Cell]:
    """UAS and exact match of the three, and what reranking gains."""
    uas, exact = ([number(part[who][measure], 1) for who in WHOSE] for measure in ("uas", "exact"))
    gained = part["difference"]["uas"]
    return [*uas, difference(gained["value"], gained["interval"]), *exact]
