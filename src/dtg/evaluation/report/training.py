"""Learning curves and what each model was given to learn from; and how every number was made."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from dtg.evaluation.report.comparing import USED, Basis, shown, unlike
from dtg.evaluation.report.gathering import Found, Gathered, ReportedModel, Run, family_has_trees
from dtg.evaluation.report.overview import DEPENDENCIES
from dtg.evaluation.report.page import (
    Cell,
    Figure,
    Notes,
    ReportTable,
    Section,
    Text,
    absent,
    letters,
    marks,
    number,
    parts_of,
    quoted,
    texts,
    without_empty_columns,
)
from dtg.evaluation.tasks.registry import TASKS
from dtg.training.curves import learning_curves

NO_RUN = "No training run is known. Name it, and it is shown."
OTHER_WEIGHTS = "The best model of this run, as it is now, is not the one that was evaluated."
HEADER = (
    "Model",
    "layers × width",
    "pieces",
    "corpus",
    "words read",
    "steps",
    "planned",
    "epoch",
    "batch",
    "peak rate",
    "seed",
    "hours",
    "best dev PPL",
    "at step",
    "test PPL",
)
EXPLAINED = (
    "Perplexities here are per word, of words and tree together, with the trees of the development set. Those of a model "
    "without trees (txl-tokens) are of the words alone, and do not compare with the others'.",
    "Pieces: of the vocabulary. Corpus: the sha256 of what was trained on. Batch: sentences. Hours depend on the machine.",
)
EVALUATIONS_HEADER = (
    "Model",
    "evaluation",
    "data",
    "data sha256",
    "model sha256",
    "log p",
    "device",
    "dtg",
    "results in",
)
CONVENTIONS = (
    "Intervals are 95 % intervals: by bootstrap over sentences (perplexity, reranking), pairs within a paradigm (BLiMP) or "
    "items within a suite (SyntaxGym), and over all pairs or items where a paradigm or suite has fewer than ten; of a single "
    "paradigm or suite they are Wilson's. They leave out the variance between models trained with different seeds: of two "
    "models with one seed each, they cannot say that one kind of model is better than the other.",
    "A sum over the trees of a beam or of a proposal is a lower bound of p, so perplexity is at most what is shown. With a "
    "wider beam or more trees it comes down. Only numbers with the same beam, or the same trees, compare; others are marked.",
    "Log-probabilities include `<END>`. Each sentence is by itself.",
    "Perplexity per word: the words of the treebank. Per piece: those of the model's tokenizer, so only models with the same "
    "tokenizer compare.",
    DEPENDENCIES,
)


def training_section(models: Sequence[ReportedModel]) -> Section:
    """Curves and budgets."""
    runs = {model.name: model.run for model in models if model.run is not None}
    if not runs:
        return Section("Learning curves", (Text((NO_RUN,)),))
    notes = dict(zip(runs, unlike([basis_of_run(run) for run in runs.values()]), strict=True))
    for model in models:
        if model.has_other_weights():
            notes[model.name] = (*notes[model.name], OTHER_WEIGHTS)
    nothing = [absent(NO_RUN), *[absent()] * (len(HEADER) - 2)]
    rows = [
        [Cell(model.name), *nothing] if model.run is None else budget(model.name, model.run, notes[model.name])
        for model in models
    ]
    header, *rows = without_empty_columns(texts(*HEADER), rows)
    table = ReportTable("training", "What was trained, and how long.", header, rows)
    return Section("Learning curves", (*figures(runs, notes), table, Text(EXPLAINED)))


def basis_of_run(run: Run) -> Basis:
    """What its perplexities rest on."""
    of = "words and tree" if family_has_trees(run.model["family"]) else "words"
    return Basis((("perplexity of", of), ("corpus", run.about["corpus"])), None)


def figures(runs: Mapping[str, Run], notes: Mapping[str, Notes]) -> list[Figure]:
    """The curves of those runs that have any yet."""
    begun = [name for name, run in runs.items() if any(record["kind"] in ("train", "dev") for record in run.records)]
    found = []
    for name, suffix, some in parts_of("learning-curves", begun):
        of = letters(note for one in some for note in notes[one])
        labelled = {f"{one}{marks(notes[one], of)}": runs[one].records for one in some}
        ends = ", ".join(f"{one} {last(runs[one])['word_perplexity']:,.1f}" for one in some)
        title = f"Perplexity per word, tree included, against words read.{suffix}"
        description = f"{title} The curves end at: {ends}."
        found.append(Figure(name, title, description, partial(learning_curves, runs=labelled), tuple(of)))
    return found


def last(run: Run) -> Mapping[str, Any]:
    """The last score on the development set; without any, the last on what was trained on."""
    by_kind = [[record for record in run.records if record["kind"] == kind] for kind in ("dev", "train")]
    return next(records[-1] for records in by_kind if records)


def budget(name: str, run: Run, notes: Notes) -> list[Cell]:
    """The row of a run."""
    train, dev, test = ([one for one in run.records if one["kind"] == kind] for kind in ("train", "dev", "test"))
    settings = run.about["training"]
    latest: Mapping[str, Any] = max([*train, *dev], key=lambda one: int(one["step"]), default={})
    best: Mapping[str, Any] = min(dev, key=lambda one: float(one["loss"]), default={})
    seconds = latest["time"]["seconds"] if latest else None
    return [
        Cell(name, notes),
        Cell(f"{run.model['layers']} × {run.model['width']}"),
        number(run.model["vocabulary"]),
        Cell(str(run.about["corpus"])[:8]),
        *(number(latest.get(key)) for key in ("words", "step")),
        number(run.about["steps"]),
        number(latest.get("epoch")),
        number(settings["batch_sentences"]),
        Cell(f"{settings['peak_rate']:g}", number=settings["peak_rate"]),
        number(settings["seed"]),
        number(None if seconds is None else seconds / 3600, 2),
        number(best.get("word_perplexity"), 2),
        number(best.get("step")),
        number(test[-1]["word_perplexity"] if test else None, 2),
    ]


def conventions_section(gathered: Gathered) -> Section:
    """What was done, and what to keep in mind."""
    found = [(model, model.results[kind]) for model in gathered.models for kind in TASKS if kind in model.results]
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
        ReportTable("evaluations", "Evaluations.", texts(*EVALUATIONS_HEADER), rows),
        ReportTable(
            "settings", "Every setting.", texts("Model", "evaluation", "setting", "value"), settings, is_folded=True
        ),
    )
    return Section("Conventions", (*(tables if rows else ()), Text(tuple(told))))


def evaluation_row(model: ReportedModel, found: Found) -> list[Cell]:
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
