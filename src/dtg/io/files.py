"""Files and options handled the same way everywhere: choices that name what is known, writes that are whole or absent."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dtg.errors import InputError, UnknownNameError

FORMAT_VERSION = 1  # of what dtg itself defines: JSON and the metadata of pictures
CONFIG, WEIGHTS = "config.json", "model.safetensors"  # in the folder of a trained model or parser


def check_choice(option: str, value: str, known: Iterable[str]) -> None:
    """Raise unless `value` is one of those known for `option`."""
    known = tuple(known)
    if value not in known:
        raise UnknownNameError(f"choice for {option}", value, known)


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """What of some settings is not what it was, a line each; empty, if all is."""
    return "".join(
        f"{name} is {now.get(name)!r}, and was {before.get(name)!r}.\n"
        for name in dict.fromkeys([*before, *now])
        if before.get(name) != now.get(name)
    )


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary name beside `path`; when all went well it takes path's place at once, otherwise it is removed."""
    if not path.parent.is_dir():
        raise InputError(f"cannot write {path}: the folder {path.parent} does not exist.")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.partial{path.suffix}")
    try:
        yield temporary
        force_to_disk(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def force_to_disk(path: Path) -> None:
    """Return once a file's content, or a folder's list of names, would survive a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
