"""Training: runs in, learning curves and what each model was given to learn from out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from dtg.evaluation.report.bars import parts_of
from dtg.evaluation.report.cells import absent, number, texts
from dtg.evaluation.report.comparing import Basis, unlike
from dtg.evaluation.report.models import Model, Run
from dtg.evaluation.report.page import Cell, Figure, Section, Table, Text, letters, marks, without_empty_columns
from dtg.training.curves import learning_curves

NO_RUN = "No training run is known. `--run NAME=RUN` names one."
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


def training_section(models: Sequence[Model]) -> Section:
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
    table = Table("training", "What was trained, and how long.", header, rows)
    return Section("Learning curves", (*figures(runs, notes), table, Text(EXPLAINED)))


def basis_of_run(run: Run) -> Basis:
    """What its perplexities rest on."""
    of = "words" if run.model["family"] == "txl-tokens" else "words and tree"
    return Basis((("perplexity of", of), ("corpus", run.about["corpus"])), None)


def figures(runs: Mapping[str, Run], notes: Mapping[str, tuple[str, ...]]) -> list[Figure]:
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


def budget(name: str, run: Run, notes: tuple[str, ...]) -> list[Cell]:
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
