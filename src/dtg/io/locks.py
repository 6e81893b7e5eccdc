"""One writer at a time: locks on output files and folders that end with the process that holds them.

The lock is on a file of its own (`flock`), because tables are renamed and a lock would not follow. It says who holds it, and is
removed when it is released; that of a killed process stays, holds nothing, and is used again by the next.
"""

from __future__ import annotations

import errno
import json
import os
import platform
import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from types import TracebackType

from dtg.errors import FileError, LockedError
from dtg.io.messages import DtgWarning

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

IN_FOLDER = ".lock"  # of a folder that files are written into
UNSUPPORTED = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL}
NO_LINKS = getattr(os, "O_NOFOLLOW", 0)  # a link left by somebody else must not lead us to another file
LONGEST_COMMAND = 200  # characters


class Lock:
    """A lock on something that is to be written. Made by `acquire`; released by `release`, or when the process ends."""

    def __init__(self, path: Path, handle: int | None) -> None:
        self.path, self.handle = path, handle

    @classmethod
    def acquire(cls, path: Path, target: Path) -> Lock:
        """Lock the file at `path`, which stands for `target`.

        Raises:
            LockedError: another process has it; the message says which, and what to do.
        """
        while True:
            handle = open_lock(path, target)
            try:
                if not lock_now(handle, target):
                    os.close(handle)
                    with suppress(OSError):
                        path.unlink()
                    return cls(path, None)
            except BlockingIOError:
                holder = describe_holder(handle)
                os.close(handle)
                raise LockedError(
                    f"cannot write {target}: another process is writing it ({holder}).\n"
                    "Wait until that has ended, or end it; or write to another place."
                ) from None
            if is_at(handle, path):
                break
            os.close(handle)  # its holder removed the file after we opened it: there is another now, or none
        with suppress(OSError):  # what it says is a help only: the disk may be full, or the file another user's
            os.ftruncate(handle, 0)
            os.pwrite(handle, about_us().encode(), 0)
        return cls(path, handle)

    def release(self) -> None:
        """Let others write; again does no harm."""
        if self.handle is not None:
            with suppress(OSError):  # a file that stays holds nothing
                self.path.unlink()  # before it is unlocked: afterwards it may be another's
            os.close(self.handle)
            self.handle = None

    def __enter__(self) -> Lock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def __del__(self) -> None:
        if self.handle is not None:
            os.close(self.handle)


def lock_path(target: Path) -> Path:
    """.NAME.lock beside a file, or beside a folder that appears whole."""
    return target.with_name(f".{target.name}.lock")


def lock_file(target: Path) -> Lock:
    """The only right to write `target`, whose folder exists."""
    return Lock.acquire(lock_path(target), target)


def check_unlocked(target: Path) -> None:
    """Raise if another process is writing `target`; quick, so that it can be asked before anything is computed."""
    if lock_path(target).exists():
        lock_file(target).release()


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """The only right to write into a folder while the block runs. The folder is made if need be, but not left empty then."""
    is_new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot write into {folder}: {error.strerror or error}.") from None
    try:
        with Lock.acquire(folder / IN_FOLDER, folder):
            yield
    finally:
        if is_new:
            with suppress(OSError):  # it is not empty
                folder.rmdir()


def open_lock(path: Path, target: Path) -> int:
    """The file of a lock, open; one that another user left can perhaps only be read, which is enough to lock it."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | NO_LINKS, 0o666)
    except OSError as error:
        if error.errno == errno.EACCES:
            with suppress(OSError):
                return os.open(path, os.O_RDONLY | NO_LINKS)
        raise FileError(f"cannot write {target}: {error.strerror or error} ({path}).") from None


def lock_now(handle: int, target: Path) -> bool:
    """Lock an open file; False, after a warning, where the file system has no locks. Raises BlockingIOError if it is taken."""
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    except BlockingIOError:
        raise
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise FileError(f"cannot lock {target}: {error.strerror or error}.") from None
    warnings.warn(
        f"{target} cannot be locked: there are no file locks here. See to it that no other process writes it.",
        DtgWarning,
        stacklevel=4,
    )
    return False


def is_at(handle: int, path: Path) -> bool:
    """Whether an open file is the one of that name."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def about_us() -> str:
    """What a lock says of its holder."""
    command = shlex.join(["dtg", *sys.argv[1:]])
    return json.dumps(
        {
            "process": os.getpid(),
            "host": platform.node(),
            "since": datetime.now().astimezone().isoformat(timespec="seconds"),
            "command": command if len(command) <= LONGEST_COMMAND else f"{command[:LONGEST_COMMAND]}...",
        }
    )


def describe_holder(handle: int) -> str:
    """Who holds a lock, as far as its file says it."""
    try:
        about = json.loads(os.pread(handle, 10_000, 0))
        return f"process {int(about['process'])} on {about['host']}, since {about['since']}: {about['command']}"
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return "which one is not known"
