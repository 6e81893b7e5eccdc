"""Work that is stored as it is done, by one process or several, so that an interrupted run resumes where it was.

Each process appends what it has finished to a file of its own in a folder, one line for a group of items. What is there when
work begins is not done again, however many processes did it; the rest is shared out. So the rows do not depend on the number of
processes. Several machines need a folder that all of them see.

    FOLDER/settings.json    what decides the numbers; another run with other settings is refused
    FOLDER/part-0.jsonl     {"group": 17, "rows": [...], "sha256": "..."}
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from dtg.errors import InputError, ResumeError
from dtg.io.atomic import remove_leftovers
from dtg.io.hashing import json_hash
from dtg.io.json_files import parse_json, read_json, write_json
from dtg.io.locks import IN_FOLDER
from dtg.io.processes import Processes
from dtg.io.settings import describe_changes

Group = TypeVar("Group")
Rows = list[Any]  # of what JSON can hold
SETTINGS = "settings.json"


class Progress:
    """Is told how far this process is; those who want to show it inherit."""

    def begins(self, groups: int, processes: Processes) -> None:
        """`groups` are left for this process."""

    def finished(self, rows: int) -> None:
        """A group is stored."""

    def ends(self) -> None:
        """Everything that is left for this process is stored."""


class Store:
    """The folder that finished groups are kept in."""

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.settings = json.loads(json.dumps(settings))  # as it comes back from a file

    def check(self) -> None:
        """Begin, or resume what was begun with the same settings."""
        path = self.folder / SETTINGS
        remove_leftovers(path)
        if path.is_file():
            before = read_json(path, f"Remove {self.folder} to start over.")
            if differing := describe_changes(before, self.settings):
                raise ResumeError(
                    f"{self.folder} has results with other settings.\n{differing}"
                    "Give the same options again, or name another folder."
                )
            return
        if any(file.name != IN_FOLDER for file in self.folder.iterdir()):
            raise InputError(f"{self.folder} is not empty, and not a folder of results. Name another, or empty it.")
        write_json(path, self.settings)

    def finished(self) -> dict[int, Rows]:
        """What is there, of all processes there have ever been."""
        found = dict[int, Rows]()
        for path in sorted(self.folder.glob("part-*.jsonl")):
            for number, line in enumerate(whole_lines(path), start=1):
                try:
                    content = parse_json(line)
                    stored = {name: content[name] for name in ("group", "rows")}
                    if content.get("sha256", json_hash(stored)) != json_hash(stored):  # 0.1.0 wrote none
                        raise ValueError
                    found[content["group"]] = content["rows"]
                except (ValueError, KeyError, TypeError, AttributeError):
                    raise InputError(
                        f"line {number} of {path} is damaged. Remove it, and it is computed again."
                    ) from None
        return found

    def append(self, process: int, group: int, rows: Rows) -> None:
        """Store a group that is finished."""
        path = self.folder / f"part-{process}.jsonl"
        with path.open("ab") as file:
            content = json.loads(json.dumps({"group": group, "rows": rows}))  # as it will be read
            line = {**content, "sha256": json_hash(content)}
            file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")

    def repair(self, process: int) -> None:
        """Cut off what a process was writing when it was killed."""
        path = self.folder / f"part-{process}.jsonl"
        if path.is_file():
            with path.open("rb+") as file:
                file.truncate(sum(map(len, whole_lines(path))))


def compute_stored(
    groups: Sequence[Group],
    compute: Callable[[Group], Iterable[Any]],
    store: Store,
    processes: Processes,
    progress: Progress,
) -> list[Any]:
    """All rows, in the order of the groups. Computes this process's share of what is not stored yet, and waits for the rest."""
    if processes.is_main:
        store.check()
        store.repair(0)
    processes.wait()
    if not processes.is_main:
        store.check()
        store.repair(processes.rank)
    there = store.finished()
    processes.wait()  # everybody has seen the same before anything is added
    left = [number for number in range(len(groups)) if number not in there]
    mine = left[processes.rank :: processes.count]
    progress.begins(len(mine), processes)
    for number in mine:
        rows = list(compute(groups[number]))
        store.append(processes.rank, number, rows)
        progress.finished(len(rows))
    progress.ends()
    processes.wait()
    every = store.finished()
    return [row for number in range(len(groups)) for row in every[number]]


def whole_lines(path: Path) -> list[bytes]:
    """Lines up to the last end of line: what comes after was being written when the process ended."""
    content = path.read_bytes()
    return content[: content.rfind(b"\n") + 1].splitlines(keepends=True)
