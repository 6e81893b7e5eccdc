"""Atomic writes: files and folders that are whole or absent, whenever the process is killed.

Everything is written under a temporary name beside its place, forced to disk and then renamed. A killed process leaves the
old content or the new, and perhaps a temporary file that nobody reads; the next to write there removes it.
"""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dtg.errors import FileError

PARTIAL = ".partial"
ASIDE = ".old"
HERE = -100  # AT_FDCWD: paths are relative to the working folder
EXCHANGE = 2  # RENAME_EXCHANGE


def check_parent(path: Path) -> None:
    """Raise unless the folder in which `path` is to be written exists."""
    if not path.parent.is_dir():
        raise FileError(f"cannot write {path}: the folder {path.parent} does not exist.")


def check_is_not_input(outputs: Iterable[Path], inputs: Iterable[Path]) -> None:
    """Raise if a file that is to be written is one that is to be read, under whatever name.

    Args:
        outputs: files that will be written; they need not exist.
        inputs: files and folders that will be read; of a folder, the files that lie in it.
    """
    written = [path for path in outputs if path.exists()]
    for given in inputs if written else ():
        for path in sorted(given.iterdir()) if given.is_dir() else [given]:
            for output in written:
                if path.exists() and path.samefile(output):
                    other = "" if path.name == output.name else f" ({path} is the same file)"
                    raise FileError(
                        f"cannot write {output}: it is what is read{other}, and would be lost. Write to another file."
                    )


@contextmanager
def replacing(path: Path, *, clean: bool = True) -> Iterator[Path]:
    """Give a temporary name beside `path`; on success the file written there takes path's place, otherwise it is removed.

    Args:
        path: where the file is to be. Its folder must exist.
        clean: remove temporary files that killed processes left for the same place; that looks through the folder.
    """
    check_parent(path)
    if clean:
        remove_leftovers(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}{PARTIAL}{path.suffix}")
    try:
        yield temporary
        force_to_disk(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: Path, *, must_be_new: bool = False) -> Iterator[Path]:
    """Give an empty temporary folder beside `path`; on success it takes path's place, otherwise it is removed.

    Temporary folders that killed processes left for the same place are removed.

    Args:
        path: where the folder is to be. Its parent must exist.
        must_be_new: raise an `OSError` where `path` exists and is not an empty folder, instead of replacing it.
    """
    check_parent(path)
    remove_leftovers(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}{PARTIAL}")
    try:
        temporary.mkdir()
        yield temporary
        for file in (*sorted(temporary.rglob("*")), temporary):
            force_to_disk(file)
        if must_be_new:
            temporary.rename(path)  # fails unless there is nothing, or an empty folder
        else:
            put_in_place(temporary, path)
        force_to_disk(path.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)  # a failed attempt, or the folder that was replaced


def put_in_place(temporary: Path, path: Path) -> None:
    """Rename; where `path` exists, exchange the two in one operation if the system can do that."""
    if not path.exists():
        temporary.rename(path)
    elif not exchange(temporary, path):
        aside = path.with_name(f".{path.name}{ASIDE}{PARTIAL}")
        shutil.rmtree(aside, ignore_errors=True)
        path.rename(aside)
        temporary.rename(path)
        shutil.rmtree(aside, ignore_errors=True)


def exchange(one: Path, other: Path) -> bool:
    """Exchange two paths; False where the system cannot."""
    rename = getattr(ctypes.CDLL(None), "renameat2", None) if os.name == "posix" else None
    if rename is None:
        return False
    return bool(rename(HERE, os.fsencode(one), HERE, os.fsencode(other), EXCHANGE) == 0)


def remove_folder(path: Path) -> None:
    """Remove a folder so that it is never seen half removed under its own name."""
    doomed = path.with_name(f".{path.name}.{os.getpid()}{PARTIAL}")
    shutil.rmtree(doomed, ignore_errors=True)
    path.rename(doomed)
    shutil.rmtree(doomed, ignore_errors=True)


def remove_leftovers(path: Path, *, is_locked: bool = False) -> None:
    """Remove the temporary files and folders that earlier processes left for `path`, unless those are still running.

    Args:
        path: the place that they were for.
        is_locked: nobody else can be writing there, so that all of them go.
    """
    beginning, ends = f".{path.name}.", (PARTIAL, f"{PARTIAL}{path.suffix}")
    for name in names_in(path.parent):
        if not name.startswith(beginning) or not name.endswith(ends):
            continue
        process = name.removeprefix(beginning).partition(".")[0]
        if process.isdecimal() and (is_locked or int(process) == os.getpid() or not is_running(int(process))):
            leftover = path.with_name(name)
            if leftover.is_dir():
                shutil.rmtree(leftover, ignore_errors=True)
            else:
                leftover.unlink(missing_ok=True)


def names_in(folder: Path) -> list[str]:
    """What lies in a folder; nothing, where that cannot be known."""
    try:
        return os.listdir(folder)  # noqa: PTH208 - a Path for each of many files takes long
    except OSError:
        return []


def clean_up(folder: Path) -> None:
    """Remove everything temporary in a folder that one process writes to; put back what was set aside and not replaced."""
    for leftover in sorted(folder.glob(f".*{PARTIAL}*")):
        successor = folder / leftover.name.removeprefix(".").removesuffix(f"{ASIDE}{PARTIAL}")
        if leftover.name.endswith(f"{ASIDE}{PARTIAL}") and not successor.exists():
            leftover.rename(successor)
        elif leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)


def is_running(process: int) -> bool:
    """True if there is such a process, or if that cannot be known."""
    if os.name != "posix":
        return True  # elsewhere, asking would interrupt it
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # another user's
        return True
    return True


def force_to_disk(path: Path) -> None:
    """Return once a file's content, or a folder's list of names, would survive a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
