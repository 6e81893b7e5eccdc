"""Results that lie in folders: paths in, every evaluation and training run below them out.

What is looked for, however deep:

    results.json                        of dtg evaluate ppl, blimp or sg --out FOLDER
    any .json                           printed by dtg evaluate rerank --json or dtg evaluate parser --json
    any .jsonl with its .meta.json      the table of dtg evaluate rerank --out FILE.jsonl
    log.jsonl                           of dtg train --out RUN
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from dtg.errors import InputError
from dtg.evaluation.results import RESULTS, read_results
from dtg.evaluation.work import SETTINGS
from dtg.files import FORMAT_VERSION
from dtg.tables.reading import read_rows
from dtg.tables.sidecar import read_sidecar

Kind = Literal["ppl", "blimp", "sg", "rerank", "parser"]
KINDS: tuple[Kind, ...] = get_args(Kind)
LOG = "log.jsonl"
SIDECAR = ".jsonl.meta.json"
NOT_LOOKED_INTO = ("checkpoints",)  # of a training run: large, and no results


@dataclass(frozen=True, slots=True)
class Found:
    """One evaluation. `settings` decide its numbers, `given` says where things were, `content` has the numbers."""

    kind: Kind
    place: Path  # a folder of results, or a file
    argument: int  # which of the paths it lies below
    settings: Mapping[str, Any]
    given: Mapping[str, Any]
    content: Mapping[str, Any]


@dataclass(slots=True)
class Findings:
    """Everything below some paths; `notes` say what could not be used, and why."""

    results: list[Found] = field(default_factory=list)
    runs: list[tuple[int, Path]] = field(default_factory=list)  # with the argument
    notes: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.results) + len(self.runs) + len(self.notes)


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
                f"there are no results in {path}. A folder that dtg evaluate ppl, blimp or sg --out has made is expected, JSON "
                "of dtg evaluate rerank or parser --json, or a run of dtg train."
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
    elif file.name.endswith(SIDECAR):
        from_table(file, argument, found)
    elif file.name == SETTINGS:
        if not (file.parent / RESULTS).is_file() and "command" in object_in(file, found):
            found.notes.append(f"{file.parent} is not finished, and left out. The same command goes on with it.")
    elif file.name == RESULTS:
        kind = object_in(file, found).get("kind")
        if kind not in ("ppl", "blimp", "sg"):
            raise InputError(f"{file} has results of the kind {kind!r}; those of ppl, blimp and sg are known.")
        content = read_results(file.parent, kind)
        found.results.append(Found(kind, file.parent, argument, content["settings"], content["given"], content))
    else:
        from_json(file, object_in(file, found), argument, found)


def from_json(file: Path, content: Mapping[str, Any], argument: int, found: Findings) -> None:
    """What dtg evaluate rerank --json and dtg evaluate parser --json print; any other JSON is not ours."""
    is_rerank = {"trees_wanted", "all", "proposal", "model", "input"} <= content.keys()
    if not is_rerank and not {"by_length", "all", "parser", "files"} <= content.keys():
        return
    if content.get("format_version") != FORMAT_VERSION:
        raise InputError(
            f"{file} has format_version {content.get('format_version')!r}; this dtg reads {FORMAT_VERSION}. Make it anew."
        )
    if is_rerank:
        settings = {"trees": content["trees_wanted"], **{name: content.get(name) for name in ("weight", "seed")}}
        given = {name: content[name] for name in ("model", "proposal", "input")}
        numbers = {name: content[name] for name in ("sentences", "crossing", "trees", "all", "without_punctuation")}
        found.results.append(Found("rerank", file, argument, settings, given, numbers))
    else:
        given = {"parser": content["parser"], "files": content["files"]}
        found.results.append(Found("parser", file, argument, {}, given, content))


def from_table(file: Path, argument: int, found: Findings) -> None:
    """The table of dtg evaluate rerank, counted again; other tables are not ours."""
    if object_in(file, found).get("settings", {}).get("command") != "evaluate rerank":
        return
    sidecar = read_sidecar(file)
    table = file.with_name(file.name.removesuffix(".meta.json"))
    if not sidecar.finished:
        found.notes.append(f"{table} is not finished, and left out. The same command with --resume goes on with it.")
        return
    from dtg.evaluation.reranking import RerankedSentence, summarize

    numbers = summarize((RerankedSentence(**row) for _, row in read_rows(table)), sidecar.settings["seed"])
    found.results.append(Found("rerank", table, argument, sidecar.settings, sidecar.given, numbers))


def object_in(file: Path, found: Findings) -> dict[str, Any]:
    """The JSON object of a file; an empty one for any other content. What is not JSON at all is told."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        if file.name == RESULTS:
            raise InputError(f"cannot read {file}: {error}. Make it anew.") from None
        found.notes.append(f"{file} is left out: it is not JSON ({error}).")
        return {}
    return content if isinstance(content, dict) else {}
