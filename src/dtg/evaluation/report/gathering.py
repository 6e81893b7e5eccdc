"""What a report is made of: every evaluation and training run below some paths, and which model each belongs to.

What is looked for, however deep:

    results.json    of dtg evaluate ... --out FOLDER
    any .json       printed by dtg evaluate parser --json
    log.jsonl       of dtg train --out RUN

A name stands for one model: models that share a name are told apart by where their results lie. A model has one result of a
kind; two are an error that names both places, because a table could show but one of them. Training runs carry no name; they
belong to the model in the same folder.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dtg import families
from dtg.errors import InputError
from dtg.evaluation.contract import Metric
from dtg.evaluation.results import RESULTS, read_content
from dtg.evaluation.storage import SETTINGS
from dtg.evaluation.tasks.registry import TASKS
from dtg.io.json_files import FORMAT_VERSION, WEIGHTS, parse_json
from dtg.model.saving import model_hash
from dtg.training.log import read_log

LOG = "log.jsonl"
PARSERS = ("parser", "parser-phrases")  # results of parsers, not of language models
NOT_LOOKED_INTO = ("checkpoints",)  # of a training run: large, and no results
RENAME = "Give one of them another name: the same evaluation under another name finds its work done."


@dataclass(frozen=True, slots=True)
class Found:
    """One evaluation. `settings` decide its numbers, `given` says where things were, `content` has the numbers."""

    kind: str
    place: Path  # a folder of results, or a file
    argument: int  # which of the paths it lies below
    settings: Mapping[str, Any]
    given: Mapping[str, Any]
    content: Mapping[str, Any]

    @property
    def metrics(self) -> list[Metric]:
        return TASKS[self.kind].metrics(dict(self.content))


@dataclass(slots=True)
class Findings:
    """Everything below some paths; `notes` say what could not be used, and why."""

    results: list[Found] = field(default_factory=list)
    runs: list[tuple[int, Path]] = field(default_factory=list)  # with the argument
    notes: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.results) + len(self.runs) + len(self.notes)


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
class ReportedModel:
    """A row of the report."""

    name: str
    results: Mapping[str, Found]
    run: Run | None = None

    @property
    def family(self) -> str | None:
        """None if nothing says it, as for surprisals of another tool."""
        said = [found.settings["family"] for found in self.results.values() if "family" in found.settings]
        return said[0] if said else None if self.run is None else self.run.model["family"]

    @property
    def has_trees(self) -> bool:
        return family_has_trees(self.family)

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

    models: tuple[ReportedModel, ...]
    parsers: tuple[Found, ...]
    notes: tuple[str, ...]


def family_has_trees(family: str | None) -> bool:
    """Whether models of a family, as results and logs name it, have trees; of one that is not known, it is assumed."""
    return family is None or family not in families.FAMILIES or families.get(family).has_trees


def find(paths: Sequence[Path]) -> Findings:
    """Look at every path, in order; one without any results is a mistake."""
    found = Findings()
    seen = set[Path]()
    for argument, path in enumerate(paths):
        if not path.exists():
            raise InputError(f"cannot read {path}: there is no such file or folder.")
        before, repeated = len(found), False
        for file in [path] if path.is_file() else files_below(path):
            if file.resolve() in seen:
                repeated = True
                continue
            seen.add(file.resolve())
            look_at(file, argument, found)
        if len(found) == before and not repeated:
            raise InputError(
                f"there are no results in {path}. A folder that dtg evaluate has written is expected, JSON of dtg evaluate "
                "parser, or a run of dtg train."
            )
    return found


def files_below(folder: Path) -> Iterator[Path]:
    """The files of a folder and of those in it, in the order of their names."""
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            leads_back = folder.resolve().is_relative_to(path.resolve())  # as a link can
            if not path.name.startswith(".") and path.name not in NOT_LOOKED_INTO and not leads_back:
                yield from files_below(path)
        elif path.suffix == ".json" or path.name == LOG:
            yield path


def look_at(file: Path, argument: int, found: Findings) -> None:
    """Add what a file has, if it is one of ours."""
    if file.name == LOG:
        found.runs.append((argument, file.parent))
    elif file.name == SETTINGS:
        if not (file.parent / RESULTS).is_file() and "command" in object_in(file, found):
            found.notes.append(f"{file.parent} is not finished, and left out. The same command resumes it.")
    elif file.name == RESULTS:
        kind = str(object_in(file, found).get("kind"))
        if kind not in TASKS:
            raise InputError(f"{file} has results of the kind {kind!r}; known are {', '.join(TASKS)}.")
        content = read_content(file.parent, kind)
        found.results.append(
            checked(Found(kind, file.parent, argument, content["settings"], content["given"], content))
        )
    else:
        from_json(file, object_in(file, found), argument, found)


def from_json(file: Path, content: Mapping[str, Any], argument: int, found: Findings) -> None:
    """What dtg evaluate parser prints as JSON; any other JSON is not ours."""
    if content.get("kind") in ("rerank", "rerank-phrases") and "settings" in content:
        found.notes.append(
            f"{file} is left out: of dtg evaluate rerank, the folder that it writes is read, not what it prints."
        )
    if not {"by_length", "all", "parser", "files"} <= content.keys():
        return
    if content.get("format_version") != FORMAT_VERSION:
        raise InputError(
            f"{file} has format_version {content.get('format_version')!r}; this dtg reads {FORMAT_VERSION}. Make it anew."
        )
    given = {"parser": content["parser"], "files": content["files"]}
    found.results.append(checked(Found(PARSERS["f1" in content["all"]], file, argument, {}, given, content)))


def checked(found: Found) -> Found:
    """Raise unless the numbers are there that a report shows."""
    try:
        metrics = found.metrics
        whole = bool(metrics) and all(one.n >= 0 for one in metrics)
        needed = (
            [] if found.kind in PARSERS else [found.settings["data_sha256"], found.given["name"], found.given["data"]]
        )
        needed += [found.settings["model_sha256"]] if found.settings.get("model_sha256") is not None else []
        if whole and all(isinstance(value, str) for value in needed):
            return found
        reason = "a number or a name is not one"
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, StopIteration) as error:
        reason = f"{type(error).__name__}: {error}"
    raise InputError(f"the results in {found.place} are damaged ({reason}). Evaluate {found.kind} again.")


def object_in(file: Path, found: Findings) -> dict[str, Any]:
    """The JSON object of a file; an empty one for any other content. What is not JSON at all is told."""
    try:
        content = parse_json(file.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        if file.name == RESULTS:
            raise InputError(f"cannot read {file}: {error}. Make it anew.") from None
        found.notes.append(f"{file} is left out: it is not JSON ({error}).")
        return {}
    return content if isinstance(content, dict) else {}


def gather(findings: Findings, runs: Mapping[str, Path]) -> Gathered:
    """Put results and runs, those named by the user first, with their models."""
    notes = list(findings.notes)
    results: dict[str, dict[str, Found]] = {}
    for name, found in named_results([one for one in findings.results if one.kind not in PARSERS]):
        own = results.setdefault(name, {})
        if (first := own.get(found.kind)) is not None:
            raise InputError(
                f"there are two results of dtg evaluate {found.kind} of {name}: {first.place} and {found.place}.\n{RENAME}"
            )
        own[found.kind] = found
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
                f"there are two training runs for {name}: {named[name].folder} and {folder}. Leave one of them out, or say "
                "which model each has trained."
            )
        named[name] = run
    names = dict.fromkeys([*results, *named])
    models = tuple(ReportedModel(name, results.get(name, {}), named.get(name)) for name in names)
    for model in models:
        check_run(model)
    return Gathered(models, tuple(one for one in findings.results if one.kind in PARSERS), tuple(notes))


def named_results(results: Sequence[Found]) -> Iterator[tuple[str, Found]]:
    """Results with the name of their model; the second model of a name has the place of its results in it."""
    known: dict[str, dict[str, str]] = {}  # of each name: what its models, by hash, are called
    for found in results:
        name, sha256 = str(found.given["name"]), found.settings.get("model_sha256")
        own = known.setdefault(name, {})
        if sha256 is None:  # of another tool
            yield name, found
            continue
        where = found.place.parent.name if found.place.name == found.kind else found.place.name
        called = name if not own else f"{name} ({where})"
        if called in own.values() and sha256 not in own:
            called = f"{name} ({sha256[:8]})"
        yield own.setdefault(sha256, called), found


def name_of_run(argument: int, folder: Path, every: Iterable[Found]) -> str:
    """That of results of the run's best model; or of the only results below the same path; or of the folder."""
    named = [one for one in every if one.kind not in PARSERS]
    best = (folder / "best").resolve()
    names = {one.given["name"] for one in named if "model" in one.given and Path(one.given["model"]).resolve() == best}
    names = names or {one.given["name"] for one in named if one.argument == argument}
    return str(names.pop()) if len(names) == 1 else folder.name


def read_run(folder: Path) -> Run:
    """The log of a training run."""
    path = folder / LOG
    records = read_log(path) if path.is_file() else []
    if not records or not isinstance(records[0].get("model"), dict):
        raise InputError(f"{folder} is not a run of dtg train: {path} with the log of one is expected.")
    return Run(folder, records[0], records[1:])


def check_run(model: ReportedModel) -> None:
    """Raise if the run cannot be that of the model."""
    if model.run is None:
        return
    trained = model.run.model.get("family", "a parser")
    if trained != model.family:
        raise InputError(
            f"the run {model.run.folder} is of {trained}, but the results called {model.name} are of {model.family}. Name "
            "the model that the run has trained."
        )
