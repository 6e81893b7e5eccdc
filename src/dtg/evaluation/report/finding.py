"""Results that lie in folders: paths in, every evaluation and training run below them out.

What is looked for, however deep:

    results.json    of dtg evaluate ppl, blimp, sg or rerank --out FOLDER
    any .json       printed by dtg evaluate parser --json
    log.jsonl       of dtg train --out RUN
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
from dtg.io.json_files import FORMAT_VERSION

Kind = Literal["ppl", "blimp", "sg", "rerank", "parser"]
KINDS: tuple[Kind, ...] = get_args(Kind)
LOG = "log.jsonl"
IN_FOLDERS = ("ppl", "blimp", "sg", "rerank")
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
                f"there are no results in {path}. A folder that dtg evaluate ppl, blimp, sg or rerank --out has made is "
                "expected, JSON of dtg evaluate parser --json, or a run of dtg train."
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
            found.notes.append(f"{file.parent} is not finished, and left out. The same command goes on with it.")
    elif file.name == RESULTS:
        kind = object_in(file, found).get("kind")
        if kind not in IN_FOLDERS:
            raise InputError(f"{file} has results of the kind {kind!r}; known are {', '.join(IN_FOLDERS)}.")
        content = read_results(file.parent, kind)
        found.results.append(Found(kind, file.parent, argument, content["settings"], content["given"], content))
    else:
        from_json(file, object_in(file, found), argument, found)


def from_json(file: Path, content: Mapping[str, Any], argument: int, found: Findings) -> None:
    """What dtg evaluate parser --json prints; any other JSON is not ours."""
    if content.get("kind") == "rerank" and "settings" in content:
        found.notes.append(
            f"{file} is left out: of dtg evaluate rerank, the folder that --out makes is read, not --json."
        )
    if not {"by_length", "all", "parser", "files"} <= content.keys():
        return
    if content.get("format_version") != FORMAT_VERSION:
        raise InputError(
            f"{file} has format_version {content.get('format_version')!r}; this dtg reads {FORMAT_VERSION}. Make it anew."
        )
    given = {"parser": content["parser"], "files": content["files"]}
    found.results.append(Found("parser", file, argument, {}, given, content))


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
