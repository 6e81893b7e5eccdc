"""One writer at a time, however the others ended."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dtg.errors import FileError, LockedError
from dtg.io import locks
from dtg.io.locks import check_unlocked, lock_file, lock_path, locked_folder
from dtg.io.messages import DtgWarning

HOLD = """
import sys, time
from pathlib import Path
from dtg.io.locks import lock_file
lock = lock_file(Path(sys.argv[1]))
print("locked", flush=True)
time.sleep(60)
"""


def holder(path: Path) -> subprocess.Popen[str]:
    """A process that holds the lock of a file."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "locked\n"
    return process


def test_the_second_process_is_told_who_has_it(tmp_path: Path) -> None:
    out = tmp_path / "a.csv"
    with holder(out) as process:
        try:
            for ask in (lock_file, check_unlocked):
                with pytest.raises(LockedError) as found:
                    ask(out)
                assert f"cannot write {out}: another process is writing it (process {process.pid} on " in str(
                    found.value
                )
                assert "Wait until that has ended, or end it; or write to another place." in str(found.value)
                assert f": dtg {out})" in str(found.value)
        finally:
            process.kill()
    check_unlocked(out)  # it died with its process, and the file that it left is removed
    assert not list(tmp_path.iterdir())
    with lock_file(out):
        assert lock_path(out).exists()
    assert not list(tmp_path.iterdir())


def test_a_lock_is_one_thing_in_one_process_too(tmp_path: Path) -> None:
    first = lock_file(tmp_path / "a")
    with pytest.raises(LockedError, match=f"process {os.getpid()} on"):
        lock_file(tmp_path / "a")
    lock_file(tmp_path / "b").release()
    first.release()
    first.release()
    lock_file(tmp_path / "a").release()


def test_a_lock_that_was_removed_while_it_was_opened_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between opening a file and locking it, its holder may have removed it, and somebody else made it anew."""
    out, lock_now, calls = tmp_path / "a", locks.lock_now, list[int]()

    def late(handle: int, target: Path) -> bool:
        calls.append(handle)
        if len(calls) == 1:
            lock_path(out).unlink()
        return lock_now(handle, target)

    monkeypatch.setattr(locks, "lock_now", late)
    with lock_file(out):
        assert len(calls) == 2 and lock_path(out).exists()
        with pytest.raises(LockedError):
            lock_file(out)


def test_where_there_are_no_locks_one_warning_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(handle: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", unsupported)
    with pytest.warns(DtgWarning, match=r"a cannot be locked: there are no file locks here") as told:
        lock_file(tmp_path / "a").release()
    assert len(told) == 1 and not list(tmp_path.iterdir())
    monkeypatch.setattr(locks, "fcntl", None)  # as on Windows
    with pytest.warns(DtgWarning, match="no file locks"):
        lock_file(tmp_path / "a").release()


def test_nobody_is_led_to_another_file_by_a_link(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("content")
    lock_path(tmp_path / "a").symlink_to(tmp_path / "precious")
    with pytest.raises(FileError, match=r"cannot write .*a: .*\.a\.lock"):
        lock_file(tmp_path / "a")
    assert (tmp_path / "precious").read_text() == "content"


def test_what_holds_it_may_be_unknown(tmp_path: Path) -> None:
    with lock_file(tmp_path / "a"):
        for damaged in ("", "[]", "{", '{"process": "x"}', "[" * 10_000):
            lock_path(tmp_path / "a").write_text(damaged)
            with pytest.raises(LockedError, match="which one is not known"):
                lock_file(tmp_path / "a")


def test_a_folder_is_locked_by_a_file_in_it(tmp_path: Path) -> None:
    with locked_folder(tmp_path / "new" / "run"):
        assert [path.name for path in (tmp_path / "new" / "run").iterdir()] == [".lock"]
        with pytest.raises(LockedError, match=r"cannot write .*run: another"), locked_folder(tmp_path / "new" / "run"):
            pass
        assert (tmp_path / "new" / "run" / ".lock").exists()
    assert not (tmp_path / "new" / "run").exists()  # nothing was put there
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match="cannot write into"), locked_folder(tmp_path / "file"):
        pass


def test_a_killed_process_leaves_no_lock(tmp_path: Path) -> None:
    with holder(tmp_path / "a") as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert lock_path(tmp_path / "a").exists()  # but it holds nothing
    lock_file(tmp_path / "a").release()
    assert not list(tmp_path.iterdir())
