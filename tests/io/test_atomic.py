"""Files and folders that are whole or absent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dtg.errors import FileError
from dtg.io import atomic
from dtg.io.atomic import check_is_not_input, clean_up, remove_folder, replacing, replacing_folder


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


def test_leftovers_of_files_are_removed_by_the_next_to_write_there(tmp_path: Path) -> None:
    dead, running = f".a.parquet.{2**22 + 1}.partial.parquet", f".a.parquet.{os.getppid()}.partial.parquet"
    others = [f".b.parquet.{2**22 + 1}.partial.parquet", ".a.parquet.x.partial.parquet", ".a.parquet.lock"]
    for name in (dead, running, *others, f".a.parquet.{10**30}.partial.parquet"):
        (tmp_path / name).touch()
    with replacing(tmp_path / "a.parquet") as temporary:
        temporary.write_text("new")
    assert {path.name for path in tmp_path.iterdir()} == {"a.parquet", running, *others}
    atomic.remove_leftovers(tmp_path / "a.parquet", is_locked=True)  # nobody else can be writing it
    assert {path.name for path in tmp_path.iterdir()} == {"a.parquet", *others}


def test_an_output_that_is_an_input_is_refused_by_any_name(tmp_path: Path) -> None:
    given, folder = tmp_path / "a.txt", tmp_path / "model"
    given.write_text("content")
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (tmp_path / "symbolic").symlink_to(given)
    (tmp_path / "hard").hardlink_to(given)
    (tmp_path / "linked").symlink_to(folder)
    for output in (given, tmp_path / "symbolic", tmp_path / "hard", tmp_path / "model" / ".." / "a.txt"):
        with pytest.raises(
            FileError, match=r"cannot write .*: it is what is read.*would be lost. Write to another file"
        ):
            check_is_not_input([tmp_path / "other", output], [given])
    with pytest.raises(FileError, match=r"config\.json"):
        check_is_not_input([tmp_path / "linked" / "config.json"], [given, folder])
    check_is_not_input([tmp_path / "other"], [given, folder, tmp_path / "missing"])
    (tmp_path / "copy").write_text("content")
    check_is_not_input([tmp_path / "copy"], [given])
