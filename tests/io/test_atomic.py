"""Files and folders that are whole or absent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dtg.errors import FileError
from dtg.io import atomic
from dtg.io.atomic import clean_up, remove_folder, replacing, replacing_folder


def fill(path: Path, text: str) -> None:
    with replacing_folder(path) as folder:
        (folder / "file").write_text(text)


def test_a_folder_appears_whole_and_is_replaced_whole(tmp_path: Path) -> None:
    fill(tmp_path / "best", "old")
    fill(tmp_path / "best", "new")
    assert (tmp_path / "best" / "file").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["best"]


def test_a_failed_attempt_leaves_the_old_folder(tmp_path: Path) -> None:
    fill(tmp_path / "best", "old")
    with pytest.raises(RuntimeError), replacing_folder(tmp_path / "best") as folder:
        (folder / "file").write_text("half")
        raise RuntimeError
    assert (tmp_path / "best" / "file").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["best"]


def test_where_folders_cannot_change_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atomic, "exchange", lambda one, other: False)
    test_a_folder_appears_whole_and_is_replaced_whole(tmp_path)
    (tmp_path / "best").rename(tmp_path / ".best.old.partial")  # as if killed between the two renames
    (tmp_path / ".other.partial").mkdir()
    (tmp_path / ".curves.png.7.partial.png").touch()
    clean_up(tmp_path)
    assert (tmp_path / "best" / "file").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["best"]


def test_a_new_folder_does_not_replace_another(tmp_path: Path) -> None:
    fill(tmp_path / "corpus", "old")
    with pytest.raises(OSError, match="not empty"), replacing_folder(tmp_path / "corpus", must_be_new=True) as folder:
        (folder / "file").write_text("new")
    assert (tmp_path / "corpus" / "file").read_text() == "old"
    (tmp_path / "empty").mkdir()
    with replacing_folder(tmp_path / "empty", must_be_new=True) as folder:
        (folder / "file").write_text("new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus", "empty"]


def test_leftovers_of_dead_processes_are_removed(tmp_path: Path) -> None:
    dead, running = tmp_path / f".best.{2**22 + 1}.partial", tmp_path / f".best.{os.getppid()}.partial"
    dead.mkdir()
    running.mkdir()
    fill(tmp_path / "best", "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == [running.name, "best"]


def test_a_removed_folder_is_gone(tmp_path: Path) -> None:
    fill(tmp_path / "best", "old")
    remove_folder(tmp_path / "best")
    assert not list(tmp_path.iterdir())


def test_a_missing_parent_is_named(tmp_path: Path) -> None:
    for context in (replacing, replacing_folder):
        with pytest.raises(FileError, match=r"cannot write .*file: the folder .*nowhere does not exist"):
            context(tmp_path / "nowhere" / "file").__enter__()
