"""Who has which results: everything that was found in, one `Model` for each name out, in the order given.

A name stands for one model, and a model has one result of a kind: anything else is an error that names both places, because
a table could show but one of them. Training runs carry no name; they belong to the model in the same folder.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dtg.errors import InputError
from dtg.evaluation.report.finding import LOG, Findings, Found, Kind
from dtg.io.json_files import WEIGHTS
from dtg.model.saving import model_hash
from dtg.training.log import read_log

RENAME = "Give one of them another name: the same dtg evaluate command with --name NAME finds its work done."


@dataclass(frozen=True, slots=True)
class Run:
    """A training run: its folder, what it is, and what happened."""

    folder: Path
    about: Mapping[str, Any]  # the first line of the log
    records: Sequence[Mapping[str, Any]]

    @property
    def model(self) -> Mapping[str, Any]:
        """The [model] table of its configuration."""
        table: Mapping[str, Any] = self.about["model"]
        return table


@dataclass(frozen=True, slots=True)
class Model:
    """A row of the report."""

    name: str
    results: Mapping[Kind, Found]
    run: Run | None = None

    @property
    def family(self) -> str | None:
        """None if nothing says it, as for surprisals of another tool."""
        said = [found.settings["family"] for found in self.results.values() if "family" in found.settings]
        return said[0] if said else None if self.run is None else self.run.model["family"]

    @property
    def has_trees(self) -> bool:
        return self.family != "txl-tokens"

    def has_other_weights(self) -> bool:
        """Whether the best model of the run, as it is now, is not the one that was evaluated."""
        evaluated = {
            found.settings["model_sha256"] for found in self.results.values() if "model_sha256" in found.settings
        }
        if self.run is None or not evaluated or not (self.run.folder / "best" / WEIGHTS).is_file():
            return False
        return model_hash(self.run.folder / "best") not in evaluated


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a report is made of."""

    models: tuple[Model, ...]
    parsers: tuple[Found, ...]
    notes: tuple[str, ...]


def gather(findings: Findings, runs: Mapping[str, Path]) -> Gathered:
    """Put results and runs, those named by the user first, with their models."""
    notes = list(findings.notes)
    results: dict[str, dict[Kind, Found]] = {}
    for found in findings.results:
        if found.kind != "parser":
            name = str(found.given["name"])
            own = results.setdefault(name, {})
            check_is_one(name, own.get(found.kind), found)
            own[found.kind] = found
    for name, own in results.items():
        check_one_model(name, own.values())
    named = {name: read_run(folder) for name, folder in runs.items()}
    for argument, folder in findings.runs:
        if any(folder.resolve() == run.folder.resolve() for run in named.values()):
            continue
        run = read_run(folder)
        if "family" not in run.model:
            notes.append(f"{folder} is left out: it is the training of a parser, not of a language model.")
            continue
        name = name_of_run(argument, folder, findings.results)
        if name in named:
            raise InputError(
                f"there are two training runs for {name}: {named[name].folder} and {folder}. Leave one of them out, or give "
                "both a name with --run NAME=RUN."
            )
        named[name] = run
    models = tuple(Model(name, results.get(name, {}), named.get(name)) for name in dict.fromkeys([*results, *named]))
    for model in models:
        check_run(model)
    return Gathered(models, tuple(one for one in findings.results if one.kind == "parser"), tuple(notes))


def name_of_run(argument: int, folder: Path, every: Iterable[Found]) -> str:
    """That of results of the run's best model; or of the only results below the same path; or of the folder."""
    named = [one for one in every if one.kind != "parser"]
    best = (folder / "best").resolve()
    names = {one.given["name"] for one in named if "model" in one.given and Path(one.given["model"]).resolve() == best}
    names = names or {one.given["name"] for one in named if one.argument == argument}
    return str(names.pop()) if len(names) == 1 else folder.name


def check_is_one(name: str, first: Found | None, second: Found) -> None:
    """Raise if there are two results of one kind under one name."""
    if first is not None:
        raise InputError(
            f"there are two results of dtg evaluate {second.kind} of {name}: {first.place} and {second.place}.\n{RENAME}"
        )


def check_one_model(name: str, results: Iterable[Found]) -> None:
    """Raise if results of one name are of different models."""
    places: dict[str, Path] = {}
    for found in results:
        if "model_sha256" in found.settings:
            places.setdefault(found.settings["model_sha256"], found.place)
    if len(places) > 1:
        first, second, *_ = places.values()
        raise InputError(
            f"{name} stands for two different models, in {first} and in {second} (by model_sha256).\n{RENAME}"
        )


def read_run(folder: Path) -> Run:
    """The log of a training run."""
    path = folder / LOG
    records = read_log(path) if path.is_file() else []
    if not records or not isinstance(records[0].get("model"), dict):
        raise InputError(f"{folder} is not a run of dtg train: {path} with the log of one is expected.")
    return Run(folder, records[0], records[1:])


def check_run(model: Model) -> None:
    """Raise if the run cannot be that of the model."""
    if model.run is None:
        return
    trained = model.run.model.get("family", "a parser")
    if trained != model.family:
        raise InputError(
            f"the run {model.run.folder} is of {trained}, but the results called {model.name} are of {model.family}. Pass "
            "--run NAME=RUN with the name of the model that the run has trained."
        )
