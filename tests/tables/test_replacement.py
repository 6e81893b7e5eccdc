"""Nothing of a table is lost or altered unseen: replaced when the new one is whole, checked when resumed, written by one."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dtg.errors import DamagedFileError, InputError, LockedError, ResumeError
from dtg.io.messages import DtgWarning
from dtg.tables.columns import Column
from dtg.tables.files import TableFile
from dtg.tables.formats import FORMATS, Format
from dtg.tables.sidecar import Sidecar, sidecar_path
from tests.tables.test_tables import TEXT, Stop, files_of, run

LATIN = "One.\nTwo.\nThree.\nFour.\ncaf\udce9\n"  # whose last line is not UTF-8


def run_latin(path: Path, **options: Any) -> None:
    """A run whose input cannot be read to its end."""
    with pytest.raises(InputError, match="not UTF-8"):
        path.with_name("input.txt").unlink(missing_ok=True)
        original = Path.write_text

        def write(self: Path, text: str, **more: Any) -> int:
            return original(self, text, **{**more, "errors": "surrogateescape"})

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Path, "write_text", write)
            run(path, text=LATIN, **options)


@pytest.mark.parametrize("format", FORMATS)
def test_the_old_table_stays_until_the_new_one_is_whole(tmp_path: Path, format: Format) -> None:
    for folder in ("whole", "parts"):
        (tmp_path / folder).mkdir()
    whole, out = tmp_path / "whole" / f"out.{format}", tmp_path / "parts" / f"out.{format}"
    run(whole, format=format, beam=10)
    run(out, format=format)
    before = files_of(out.parent)
    run_latin(out, format=format, existing="overwrite")  # fails in the middle
    with pytest.raises(Stop):
        run(out, format=format, existing="overwrite", beam=10, stop=5)
    now = files_of(out.parent)
    assert {name: now[name] for name in before} == before
    rows = f"out.{format}.new" + (".rows.jsonl" if format == "parquet" else "")
    assert set(now) - set(before) == {rows, f"out.{format}.new.meta.json"}
    with pytest.raises(InputError, match="Pass --resume"):
        run(out, format=format)
    assert run(out, format=format, existing="resume").written == []  # the old one can still be asked for
    watcher = run(out, format=format, existing="resume", beam=10)
    assert watcher.read_past == [4] and len(watcher.written) == 7  # the new one is resumed, and takes its place
    assert files_of(out.parent) == files_of(whole.parent)


def test_an_unfinished_replacement_is_known_for_what_it_is(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    run(out)
    with pytest.raises(Stop):
        run(out, existing="overwrite", beam=10, stop=5)
    with pytest.raises(ResumeError, match=r"beam is 20, and was 10"):
        run(out, existing="resume", beam=20)
    run(out, existing="overwrite", beam=20)  # another one replaces it
    assert {path.name for path in tmp_path.iterdir()} == {"out.csv", "out.csv.meta.json", "input.txt"}
    assert json.loads(sidecar_path(out).read_text())["settings"]["beam"] == 20


def test_overwriting_nothing_is_writing(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    with pytest.raises(Stop):
        run(out, existing="overwrite", stop=5)
    assert {path.name for path in tmp_path.iterdir()} == {"out.csv", "out.csv.meta.json", "input.txt"}
    run(out, existing="resume")


class Killed(BaseException):
    """The end of a process at a certain point."""


def killed_at(call: int, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, but its nth call ends the process before anything is done."""
    calls = list[int]()

    def instead(*given: Any, **options: Any) -> Any:
        calls.append(1)
        if len(calls) == call:
            raise Killed
        return function(*given, **options)

    return instead


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_killed_while_it_takes_its_place(tmp_path: Path, format: Format, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every renaming and removal of the last moments may be the one that does not happen."""
    for folder in ("whole", "parts"):
        (tmp_path / folder).mkdir()
    run(tmp_path / "whole" / f"out.{format}", format=format, beam=10)
    points = 0
    for name in ("replace", "unlink"):
        for call in range(1, 40):
            out = tmp_path / "parts" / f"out.{format}"
            for old in out.parent.iterdir():
                old.unlink()
            run(out, format=format)
            with pytest.raises(Stop):
                run(out, format=format, existing="overwrite", beam=10, stop=10)
            with monkeypatch.context() as patch:
                patch.setattr(Path, name, killed_at(call, getattr(Path, name)))
                try:
                    run(out, format=format, existing="resume", beam=10)
                except Killed:
                    points += 1
                else:
                    break
            run(out, format=format, existing="resume", beam=10)
            assert files_of(out.parent) == files_of(tmp_path / "whole"), (name, call)
        else:
            pytest.fail("there is no end")
    assert points >= 8


def altered(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("format", FORMATS)
def test_one_bit_of_a_table_is_missed(tmp_path: Path, format: Format) -> None:
    out = tmp_path / f"out.{format}"
    with pytest.raises(Stop):
        run(out, format=format, stop=5)
    rows = tmp_path / "out.parquet.rows.jsonl" if format == "parquet" else out
    recorded = json.loads(sidecar_path(out).read_text())["progress"]["bytes"]
    for place in (0, recorded // 2, recorded - 1):
        altered(rows, place)
        with pytest.raises(DamagedFileError, match=r"cannot resume: .* was changed since it was written.*--overwrite"):
            run(out, format=format, existing="resume")
        altered(rows, place)
    altered(rows, recorded)  # what follows was never recorded, and is computed again
    run(out, format=format, existing="resume")
    for place in (0, out.stat().st_size // 2, out.stat().st_size - 1):
        altered(out, place)
        with pytest.raises(DamagedFileError, match=r"out\.\w+ was changed after it was finished"):
            run(out, format=format, existing="resume")
        altered(out, place)
    assert run(out, format=format, existing="resume").written == []
    out.unlink()
    with pytest.raises(DamagedFileError, match="was finished before, and is not there any more"):
        run(out, format=format, existing="resume")


def without_hashes(out: Path) -> None:
    """The sidecar as it was written before there were hashes."""
    content = json.loads(sidecar_path(out).read_text())
    del content["sha256"], content["progress"]["sha256"]
    sidecar_path(out).write_text(json.dumps(content))


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_sidecars_without_hashes_are_resumed_with_a_note(tmp_path: Path, format: Format) -> None:
    for folder in ("whole", "parts"):
        (tmp_path / folder).mkdir()
    run(tmp_path / "whole" / f"out.{format}", format=format)
    out = tmp_path / "parts" / f"out.{format}"
    with pytest.raises(Stop):
        run(out, format=format, stop=5)
    without_hashes(out)
    with pytest.warns(DtgWarning, match="kept no hash of it: whether it was changed since cannot be checked"):
        run(out, format=format, existing="resume")
    assert files_of(out.parent) == files_of(tmp_path / "whole")  # from here on, it can be checked
    without_hashes(out)
    with pytest.warns(DtgWarning, match="cannot be checked"):
        run(out, format=format, existing="resume")


def test_two_cannot_write_one_table(tmp_path: Path) -> None:
    out, columns = tmp_path / "out.csv", (Column("id", int, "a number"),)
    table = TableFile.open(out, "csv", columns, Sidecar.begin({"beam": 300, "unit": "bits"}, {}, columns))
    for existing in ("error", "resume", "overwrite"):
        with pytest.raises(LockedError, match=r"out.csv: another process is writing it"):
            run(out, existing=existing)
    table.close()
    run(out, existing="overwrite")
    assert not list(tmp_path.glob(".*"))


def test_a_failure_to_open_leaves_no_lock(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    run(out)
    with pytest.raises(ResumeError, match="other settings"):
        run(out, existing="resume", beam=10)
    assert not list(tmp_path.glob(".*"))


def test_what_killed_processes_left_is_removed(tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    leftovers = [f".{name}.1.partial{Path(name).suffix}" for name in ("out.parquet", "out.parquet.meta.json")]
    for name in leftovers:  # of a process that runs: but it does not have the lock
        (tmp_path / name).touch()
    run(out, format="parquet")
    assert {path.name for path in tmp_path.iterdir()} == {"out.parquet", "out.parquet.meta.json", "input.txt"}


def test_the_hash_is_that_of_the_bytes(tmp_path: Path) -> None:
    """A digest that is updated as rows are written is that of the file, also over an interruption."""
    from dtg.io.hashing import file_hash

    for name, stops in (("a.csv", ()), ("b.csv", (4, 5))):
        for stop in stops:
            with pytest.raises(Stop):
                run(tmp_path / name, existing="resume", stop=stop)
        run(tmp_path / name, existing="resume")
        content = json.loads(sidecar_path(tmp_path / name).read_text())
        assert content["sha256"] == content["progress"]["sha256"] == file_hash(tmp_path / name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(tmp_path / "a.csv", existing="resume", text=TEXT)
