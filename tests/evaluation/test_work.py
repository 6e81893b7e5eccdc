"""Work that is stored, resumed, and shared between processes."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dtg.errors import InputError
from dtg.evaluation.run import results_folder
from dtg.evaluation.storage import Progress, Store, compute_stored
from dtg.io.locks import Lock
from dtg.io.processes import Processes
from dtg.io.rendezvous import joined
from tests.processes import call_together

GROUPS = [list(range(first, first + 3)) for first in range(0, 30, 3)]
SETTINGS = {"model": "abc", "beam": 7, "sets": (1, 2)}


def squares(group: list[int]) -> list[Any]:
    return [{"of": number, "is": number**2 / 7} for number in group]


ROWS = [row for group in GROUPS for row in squares(group)]


class Count(Progress):
    def __init__(self) -> None:
        self.left, self.rows = 0, 0

    def begins(self, groups: int, processes: Processes) -> None:
        self.left = groups

    def finished(self, rows: int) -> None:
        self.rows += rows


def failing(after: int) -> Callable[[list[int]], list[Any]]:
    """As `squares`, but interrupted at a group."""

    def compute(group: list[int]) -> list[Any]:
        if group == GROUPS[after]:
            raise KeyboardInterrupt
        return squares(group)

    return compute


def test_rows_come_in_order_and_once(tmp_path: Path) -> None:
    count = Count()
    assert compute_stored(GROUPS, squares, Store(tmp_path / "a", SETTINGS), Processes(), count) == ROWS
    assert (count.left, count.rows) == (10, 30)
    again = Count()
    assert compute_stored(GROUPS, failing(0), Store(tmp_path / "a", SETTINGS), Processes(), again) == ROWS
    assert (again.left, again.rows) == (0, 0)


def test_what_is_stored_is_not_computed_again(tmp_path: Path) -> None:
    store = Store(tmp_path, SETTINGS)
    with pytest.raises(KeyboardInterrupt):
        compute_stored(GROUPS, failing(4), store, Processes(), Progress())
    with (tmp_path / "part-0.jsonl").open("ab") as file:
        file.write(b'{"group": 4, "rows": [{"of": 1')  # killed while writing
    count = Count()
    assert compute_stored(GROUPS, squares, store, Processes(), count) == ROWS
    assert count.left == 6
    assert len((tmp_path / "part-0.jsonl").read_text().splitlines()) == 10


def test_what_several_processes_did_counts(tmp_path: Path) -> None:
    store = Store(tmp_path, SETTINGS)
    store.check()
    for number in (2, 5, 8):
        store.append(3, number, squares(GROUPS[number]))
    count = Count()
    assert compute_stored(GROUPS, squares, store, Processes(), count) == ROWS
    assert count.left == 7


def work_together(folder: Path) -> None:
    with joined() as processes:
        count = Count()
        rows = compute_stored(GROUPS, squares, Store(folder, SETTINGS), processes, count)
        (folder / f"seen-{processes.rank}.json").write_text(json.dumps([count.left, rows]))


def test_two_processes_share_the_work(tmp_path: Path) -> None:
    done = call_together(work_together, tmp_path / "out")
    assert [one.returncode for one in done] == [0, 0], done
    seen = [json.loads((tmp_path / "out" / f"seen-{rank}.json").read_text()) for rank in range(2)]
    assert seen == [[5, ROWS], [5, ROWS]]


def test_other_settings_are_refused(tmp_path: Path) -> None:
    Store(tmp_path, SETTINGS).check()
    with pytest.raises(InputError, match=r"other settings\.\nbeam is 8, and was 7\.\nGive the same options"):
        Store(tmp_path, {**SETTINGS, "beam": 8}).check()
    (tmp_path / "settings.json").write_text("{")
    with pytest.raises(InputError, match=r"cannot read .*settings\.json"):
        Store(tmp_path, SETTINGS).check()


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    store = Store(tmp_path, SETTINGS)
    compute_stored(GROUPS, squares, store, Processes(), Progress())
    part = tmp_path / "part-0.jsonl"
    lines = part.read_text().splitlines()
    part.write_text("\n".join([*lines[:3], lines[3][:-5], *lines[4:]]) + "\n")
    with pytest.raises(InputError, match=r"line 4 of .*part-0\.jsonl is damaged"):
        compute_stored(GROUPS, squares, store, Processes(), Progress())
    part.write_text("\n".join([*lines[:3], *lines[4:]]) + "\n")
    assert compute_stored(GROUPS, squares, store, Processes(), Progress()) == ROWS


def test_a_number_that_was_altered_is_noticed(tmp_path: Path) -> None:
    """A line that is still JSON, but not what was stored; lines of 0.1.0 had no hash, and are taken as they are."""
    store = Store(tmp_path, SETTINGS)
    compute_stored(GROUPS, squares, store, Processes(), Progress())
    part = tmp_path / "part-0.jsonl"
    lines = part.read_text().splitlines()
    content = json.loads(lines[2])
    altered = {**content, "group": content["group"] + 1}
    part.write_text("\n".join([*lines[:2], json.dumps(altered), *lines[3:]]) + "\n")
    with pytest.raises(InputError, match=r"line 3 of .*part-0\.jsonl is damaged. Remove it, and it is computed again"):
        compute_stored(GROUPS, squares, store, Processes(), Progress())
    for old in ("", "sha256"):
        part.write_text("".join(json.dumps(without(json.loads(line), old)) + "\n" for line in lines))
        assert compute_stored(GROUPS, squares, store, Processes(), Progress()) == ROWS


def without(content: dict[str, object], name: str) -> dict[str, object]:
    return {key: value for key, value in content.items() if key != name}


def test_what_killed_runs_left_is_no_hindrance(tmp_path: Path) -> None:
    (tmp_path / ".lock").touch()
    (tmp_path / f".settings.json.{2**22 + 1}.partial.json").touch()
    Store(tmp_path, SETTINGS).check()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", "settings.json"]


def test_temporary_folders_of_killed_runs_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those whose lock nobody holds; a folder of the user's that is called alike is not touched."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in ("dtg-dead", "dtg-alive", "dtg-results"):
        (tmp_path / name).mkdir()
    (tmp_path / "dtg-dead" / ".temporary.lock").touch()
    (tmp_path / "dtg-results" / ".lock").touch()
    alive = tmp_path / "dtg-alive"
    with Lock.acquire(alive / ".temporary.lock", alive), results_folder(None, Processes()) as folder:
        assert folder.parent.parent == tmp_path
        assert {path.name for path in tmp_path.iterdir()} == {"dtg-alive", "dtg-results", folder.parent.name}


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(InputError, match="is not empty, and not a folder of results"):
        Store(tmp_path, SETTINGS).check()


def test_what_torchrun_says(monkeypatch: pytest.MonkeyPatch) -> None:
    with joined() as processes:
        assert processes == Processes(0, 1) and processes.is_main
    monkeypatch.setenv("WORLD_SIZE", "many")
    with pytest.raises(InputError, match="must be whole numbers"), joined():
        pass
