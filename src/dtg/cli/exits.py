"""How a command ends: exit codes, what is said of an error, signals, closed pipes; and what terminals without Unicode show.

| code | meaning |
|---|---|
| 0 | done; or the reader of the output has seen enough (`dtg ... | head -1`) |
| 1 | an error that a message explains: input, options, files, a full disk, too little memory |
| 2 | the command line cannot be understood: an unknown option, a missing argument |
| 70 | a fault in dtg: a traceback is printed, which should be reported |
| 130 | interrupted (Ctrl-C, SIGINT) |
| 143 | terminated (SIGTERM) |

Of several processes that share the work (torchrun), the first speaks; of an error, the one that meets it.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from dtg.errors import DtgError
from dtg.io.processes import launched

DONE, FAILED, FAULT, INTERRUPTED, TERMINATED = 0, 1, 70, 130, 143
# What to do about an error of the system.
ADVICE = {
    errno.ENOSPC: "Make room, or write elsewhere; what is unfinished can be resumed.",
    errno.EDQUOT: "Make room, or write elsewhere; what is unfinished can be resumed.",
    errno.EFBIG: "Write elsewhere, or raise the limit for the size of files.",
    errno.EROFS: "Write elsewhere.",
    errno.EACCES: "Check the permissions.",
    errno.EPERM: "Check the permissions.",
    errno.ENAMETOOLONG: "Choose a shorter name; dtg adds up to 40 characters for the files beside it.",
    errno.EMFILE: "Raise the limit for open files (ulimit -n).",
}
# What stands for characters that a terminal lacks; other characters are shown by their numbers.
LOOK_ALIKES = {
    **dict.fromkeys("│", "|"),
    **dict.fromkeys("─━╸╺–—−", "-"),
    **dict.fromkeys("┌└├┬┴┼", "+"),
    **dict.fromkeys("█▉▊▋▌", "#"),
    **dict.fromkeys("▍▎▏", " "),
    **dict.fromkeys("“”", '"'),
    **dict.fromkeys("‘’", "'"),
    "►": ">",
    "→": ">",
    "…": ".",
    "₂": "2",
}
PLAIN = "dtg-plain"  # the name of the error handler that uses them
OUT_OF_MEMORY = re.compile(r"can't allocate memory|out of memory|bad_alloc|not enough memory", re.IGNORECASE)


class Terminated(KeyboardInterrupt):
    """SIGTERM has arrived; everything is left as after Ctrl-C."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C while the block runs, so that commands clean up, or leave what can be resumed."""

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class NoteStream(io.FileIO):
    """The error stream, which nobody has to read: a command continues where its notes cannot be written."""

    def write(self, data: object) -> int:
        with suppress(OSError):
            return super().write(data)  # type: ignore[arg-type]
        return len(data)  # type: ignore[arg-type]


class AsciiStream(io.TextIOWrapper):
    """Text in ASCII that calls itself Latin-1: Typer takes a stream of ASCII for a mistake, and would write UTF-8 to it."""

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "iso8859-1"


def prepare_streams() -> None:
    """Let every character be printed somehow, and notes be lost rather than work."""
    codecs.register_error(PLAIN, look_alike)
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        if codecs.lookup(sys.stdout.encoding).name == "ascii":
            sys.stdout = AsciiStream(sys.stdout.buffer, "ascii", PLAIN, line_buffering=sys.stdout.line_buffering)
        else:
            sys.stdout.reconfigure(errors=PLAIN)
    if isinstance(sys.stderr, io.TextIOWrapper) and sys.stderr is sys.__stderr__:
        raw = NoteStream(sys.stderr.fileno(), "wb", closefd=False)
        sys.stderr = io.TextIOWrapper(
            io.BufferedWriter(raw), sys.stderr.encoding, PLAIN, line_buffering=True, write_through=True
        )


def mute_helpers() -> None:
    """Let all processes but the first print nothing, until they fail."""
    with suppress(DtgError):  # what is wrong with the environment is said later
        if not launched().is_main:
            sys.stdout = sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115


def look_alike(error: UnicodeError) -> tuple[str, int]:
    """What is printed for characters that an encoding lacks."""
    assert isinstance(error, UnicodeEncodeError)
    lacking = error.object[error.start : error.end]
    shown = (LOOK_ALIKES.get(one, one.encode("ascii", "backslashreplace").decode()) for one in lacking)
    return "".join(shown), error.end


def run(command: Callable[[], None]) -> int:
    """Run a command, say what went wrong, and return its exit code."""
    try:
        code = code_of(command)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except DtgError as error:
        tell_failure(str(error))
    except KeyboardInterrupt as error:
        return interrupted(error)
    except OSError as error:
        silence_output()
        if error.errno == errno.EPIPE:  # the reader of our output has seen enough
            return DONE
        tell_failure(what_failed(error))
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and not OUT_OF_MEMORY.search(str(error)):
            return fault()
        reason = str(error).splitlines()[0] if str(error) else "the system gives no more"
        tell_failure(f"there is not enough memory: {reason}\nSmaller batches, beams, models or sentences need less.")
    except Exception:
        return fault()
    return FAILED


def code_of(command: Callable[[], None]) -> int:
    """The exit code of a command that ends in SystemExit, as Typer's do; what Typer has hidden in it is raised again."""
    try:
        command()
    except SystemExit as end:
        hidden = end.__context__
        if isinstance(hidden, OSError):
            raise hidden from None
        if isinstance(getattr(hidden, "__cause__", None), KeyboardInterrupt):
            assert hidden is not None
            raise hidden.__cause__ from None  # type: ignore[misc]
        return end.code if isinstance(end.code, int) else FAILED if end.code else DONE
    return DONE


def interrupted(error: KeyboardInterrupt) -> int:
    """Say so, and return the code."""
    is_terminated = isinstance(error, Terminated)
    tell_failure("terminated." if is_terminated else "interrupted.")
    return TERMINATED if is_terminated else INTERRUPTED


def fault() -> int:
    """Print the traceback of what should not have happened, and return the code."""
    shown = traceback.format_exc()
    tell_failure("this is a fault in dtg. Please report it, with the lines above and the command.", shown)
    return FAULT


def tell_failure(message: str, before: str = "") -> None:
    """Say why the command ends; of several processes that share its work, the first that fails does. `before` comes first."""
    try:
        together = launched().count > 1
    except DtgError:  # this is what is told
        together = False
    if not together:
        tell(message, before)
        return
    from dtg.io.rendezvous import failing

    with failing() as is_first:
        if is_first:
            sys.stderr = sys.__stderr__
            tell(message, before)


def tell(message: str, before: str = "") -> None:
    """Print a message of one or more lines on the error stream."""
    first, *rest = message.splitlines() or [""]
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            shown = before + "\n".join([f"dtg: {first}", *(f"     {line}" for line in rest)])
            print(shown, file=sys.stderr, flush=True)  # noqa: T201


def what_failed(error: OSError) -> str:
    """An error of the system as a message: which file, why, and what to do."""
    where = " ".join(repr(os.fspath(name))[1:-1] for name in (error.filename, error.filename2) if isinstance(name, str))
    reason = error.strerror or str(error) or type(error).__name__
    advice = ADVICE.get(error.errno or 0, "")
    return f"cannot go on{' with ' + where if where else ''}: {reason[0].lower()}{reason[1:]}.\n{advice}".strip()


def silence_output() -> None:
    """Drop what is left to be printed: where the output is closed or full, Python would try again at the end, and complain."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.__stdout__.fileno())  # type: ignore[union-attr]
        os.close(nowhere)
