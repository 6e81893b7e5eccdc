"""Folders that are whole or absent: written under a temporary name, forced to the disk, then renamed.

Killed at any moment, a program that writes so leaves the old folder or the new one, and perhaps a temporary one that
nobody reads.
"""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dtg.io.files import force_to_disk

PARTIAL = ".partial"
ASIDE = ".old"
HERE = -100  # AT_FDCWD: paths are relative to the working folder
EXCHANGE = 2  # RENAME_EXCHANGE


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Give an empty folder beside `path`; when all went well it takes path's place at once, otherwise it is removed."""
    temporary = path.with_name(f".{path.name}{PARTIAL}")
    shutil.rmtree(temporary, ignore_errors=True)  # left by a process that was killed
    temporary.mkdir(parents=True)
    try:
        yield temporary
        for file in sorted(temporary.rglob("*")):
            force_to_disk(file)
        force_to_disk(temporary)
        put_in_place(temporary, path)
        force_to_disk(path.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)  # what is under that name now: a failed attempt, or the old folder


def put_in_place(temporary: Path, path: Path) -> None:
    """Rename; where `path` exists, the two change places in one operation if the system can do that."""
    if not path.exists():
        temporary.rename(path)
    elif not exchange(temporary, path):
        aside = path.with_name(f".{path.name}{ASIDE}{PARTIAL}")
        shutil.rmtree(aside, ignore_errors=True)
        path.rename(aside)
        temporary.rename(path)
        shutil.rmtree(aside, ignore_errors=True)


def exchange(one: Path, other: Path) -> bool:
    """Let two paths change places; False where the system cannot."""
    rename = getattr(ctypes.CDLL(None), "renameat2", None) if os.name == "posix" else None
    if rename is None:
        return False
    return bool(rename(HERE, os.fsencode(one), HERE, os.fsencode(other), EXCHANGE) == 0)


def remove_whole(path: Path) -> None:
    """Remove a folder so that it is never seen half removed under its own name."""
    doomed = path.with_name(f".{path.name}{PARTIAL}")
    shutil.rmtree(doomed, ignore_errors=True)
    path.rename(doomed)
    shutil.rmtree(doomed, ignore_errors=True)


def sweep(folder: Path) -> None:
    """Remove what killed processes left; put back a folder that was set aside when its successor never came."""
    for leftover in sorted(folder.glob(f".*{PARTIAL}*")):
        successor = folder / leftover.name.removeprefix(".").removesuffix(f"{ASIDE}{PARTIAL}")
        if leftover.name.endswith(f"{ASIDE}{PARTIAL}") and not successor.exists():
            leftover.rename(successor)
        elif leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)
