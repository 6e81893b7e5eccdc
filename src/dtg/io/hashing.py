"""SHA-256 hashes of files, of texts and of JSON content, as hexadecimal digits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def content_hash(content: str | bytes) -> str:
    """The hash of bytes, or of a text in UTF-8."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def file_hash(path: Path) -> str:
    """The hash of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_hash(paths: Iterable[Path]) -> str:
    """One hash of the names and contents of several files; those that do not exist are left out."""
    return content_hash("".join(f"{path.name} {file_hash(path)}\n" for path in paths if path.is_file()))


def json_hash(content: Any, *, ensure_ascii: bool = True) -> str:
    """The hash of what JSON can hold, whatever the order of its keys."""
    return content_hash(json.dumps(content, ensure_ascii=ensure_ascii, sort_keys=True))
