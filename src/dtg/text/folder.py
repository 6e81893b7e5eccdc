"""Folders that are whole or absent: built under another name beside their place, and moved there at the end."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dtg.errors import CorpusError, InputError
from dtg.io.files import force_to_disk


@contextmanager
def building(folder: Path) -> Iterator[Path]:
    """Give a temporary folder beside `folder`; when all went well it takes its place, otherwise it is removed.

    What a run that was killed outright has left behind goes too.
    """
    if not folder.parent.is_dir():
        raise InputError(f"cannot write {folder}: the folder {folder.parent} does not exist.")
    remove_leftovers(folder)
    temporary = folder.with_name(f".{folder.name}.{os.getpid()}.partial")
    try:
        temporary.mkdir()
        yield temporary
        for path in (*temporary.rglob("*"), temporary):
            force_to_disk(path)
        try:
            temporary.rename(folder)  # onto nothing, or an empty folder
        except OSError as error:
            raise CorpusError(f"cannot put the corpus at {folder}: {error.strerror}. Give another folder.") from None
        force_to_disk(folder.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def remove_leftovers(folder: Path) -> None:
    """Remove what earlier runs for the same folder had begun, unless they are still at it."""
    for path in folder.parent.glob(f".{folder.name}.*.partial"):
        found = re.fullmatch(r"(\d+)\.partial", path.name.removeprefix(f".{folder.name}."))
        if found and not is_running(int(found[1])):
            shutil.rmtree(path, ignore_errors=True)


def is_running(process: int) -> bool:
    """True if there is such a process, or if that cannot be known."""
    if os.name != "posix":
        return True  # elsewhere, asking would interrupt it
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is somebody else's
        return True
    return True
