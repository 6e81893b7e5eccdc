"""How numbers were made: models and parsers in, a row for each evaluation and everything that decided its numbers out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dtg.evaluation.report.cells import absent, texts
from dtg.evaluation.report.comparing import USED, shown
from dtg.evaluation.report.finding import KINDS, Found
from dtg.evaluation.report.models import Gathered, Model
from dtg.evaluation.report.page import Cell, Section, Table, Text, quoted
from dtg.evaluation.report.reranking import DEPENDENCIES

HEADER = ("Model", "evaluation", "data", "data sha256", "model sha256", "log p", "device", "dtg", "results in")
CONVENTIONS = (
    "Intervals are 95 % bootstrap intervals over sentences (perplexity, reranking), pairs within a paradigm (BLiMP) or items "
    "within a suite (SyntaxGym). They leave out the variance between models trained with different seeds: of two models with "
    "one seed each, they cannot say that one kind of model is better than the other.",
    "A sum over the trees of a beam or of a proposal is a lower bound of p, so perplexity is at most what is shown. With a "
    "wider beam or more trees it comes down. Only numbers with the same beam, or the same trees, compare; others are marked.",
    "Log-probabilities include `<END>`. Each sentence is by itself.",
    "Perplexity per word: the words of the treebank. Per piece: those of the model's tokenizer, so only models with the same "
    "tokenizer compare.",
    DEPENDENCIES,
)


def conventions_section(gathered: Gathered) -> Section:
    """What was done, and what to keep in mind."""
    found = [(model, model.results[kind]) for model in gathered.models for kind in KINDS if kind in model.results]
    rows = [evaluation_row(model, result) for model, result in found]
    settings = [
        texts(model.name, result.kind, name, value if isinstance(value, str) else json.dumps(value))
        for model, result in found
        for name, value in (*result.settings.items(), *result.given.items())
    ]
    versions = sorted({str(result.settings["dtg"]) for _, result in found if "dtg" in result.settings})
    told = [*CONVENTIONS, *(quoted_paths(note) for note in gathered.notes)]
    if len(versions) > 1:
        told.append(
            f"Results are of different versions of dtg, {', '.join(versions)}: see the changelog for what changed."
        )
    tables = (
        Table("evaluations", "Evaluations.", texts(*HEADER), rows),
        Table("settings", "Every setting.", texts("Model", "evaluation", "setting", "value"), settings, is_folded=True),
    )
    return Section("Conventions", (*(tables if rows else ()), Text(tuple(told))))


def evaluation_row(model: Model, found: Found) -> list[Cell]:
    settings, given = found.settings, found.given
    hashes = (settings.get(name) for name in ("data_sha256", "model_sha256"))
    return [
        Cell(model.name),
        Cell(found.kind),
        Cell(str(given["data"])),
        *(Cell(value[:12]) if value else absent() for value in hashes),
        Cell("; ".join(ways(found.kind, settings))),
        *(Cell(str(settings[name])) if name in settings else absent() for name in ("device", "dtg")),
        Cell(str(found.place)),
    ]


def ways(kind: str, settings: Mapping[str, Any]) -> Sequence[str]:
    """How probabilities were found, in the settings that mattered."""
    if "surprisals_sha256" in settings:
        return ["surprisals of another tool"]
    by = settings.get("by", kind)
    told = []
    for one in by if isinstance(by, list) else [by]:
        values = [
            f"{name.replace('_', ' ')} {shown(settings[name]).strip('`')}"
            for name in USED.get(one, ())
            if settings.get(name) is not None
        ]
        told.append(f"{one} ({', '.join(values)})" if values else one)
    told += [f"seed {settings['seed']}"] if "seed" in settings else []
    told += ["illegal actions not masked"] if settings.get("constrained") is False else []
    return told


def quoted_paths(note: str) -> str:
    """A note of those who looked for results; it begins with a path."""
    path, *rest = note.split(" ", 1)
    return " ".join([quoted(path), *rest])
