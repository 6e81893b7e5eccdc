"""Rows that are computed, and wait for others to be written before them: a file for each group, in a folder beside the table.

Processes that share a table finish its groups out of order. OUT.parts/17.part has a line of JSON that says what is in it, and
then the rows as they will stand in the table. A part goes when its rows are written; those that a killed run leaves are used
by the next.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from dtg.errors import FileError
from dtg.io.atomic import replacing
from dtg.io.hashing import content_hash

SUFFIX = ".part"


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of one group of sentences, encoded as they are written."""

    group: int
    sentences: int
    rows: int
    input_sha256: str  # of the sentences
    content: bytes

    def to_bytes(self) -> bytes:
        """As it is stored, with a hash."""
        about = {"group": self.group, "sentences": self.sentences, "rows": self.rows, "input_sha256": self.input_sha256}
        digest = content_hash(json.dumps(about).encode() + self.content)
        return json.dumps({**about, "sha256": digest}).encode() + b"\n" + self.content

    @classmethod
    def of_bytes(cls, stored: bytes) -> Part | None:
        """What was stored; None if it is not whole."""
        header, _, content = stored.partition(b"\n")
        try:
            about = json.loads(header)
            digest = about.pop("sha256")
            part = cls(**about, content=content)
        except (ValueError, TypeError, KeyError, AttributeError):
            return None
        return part if content_hash(json.dumps(about).encode() + content) == digest else None


class PartFolder:
    """The folder that parts are kept in; it is there as long as any are."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def file(self, group: int) -> Path:
        return self.path / f"{group}{SUFFIX}"

    def save(self, part: Part) -> None:
        """Store a part; it is whole or absent, whenever the process is killed."""
        try:
            self.path.mkdir(exist_ok=True)
            with replacing(self.file(part.group), clean=False) as temporary:
                temporary.write_bytes(part.to_bytes())
        except FileNotFoundError:
            raise FileError(f"cannot write into {self.path}: the folder was removed while it was in use.") from None

    def read(self, group: int) -> Part | None:
        """The part of a group; None if it is not there, or damaged."""
        try:
            part = Part.of_bytes(self.file(group).read_bytes())
        except FileNotFoundError:
            return None
        return part if part is not None and part.group == group else None

    def remove(self, group: int) -> None:
        """Its rows are written."""
        self.file(group).unlink(missing_ok=True)

    def keep_from(self, first: int) -> list[int]:
        """Remove everything but whole parts of the groups from `first` on; which these are."""
        kept = []
        for file in sorted(self.path.iterdir()) if self.path.is_dir() else ():
            name = file.name.removesuffix(SUFFIX)
            if name.isdecimal() and int(name) >= first and self.read(int(name)) is not None:
                kept.append(int(name))
            elif file.is_file():
                file.unlink(missing_ok=True)
        return sorted(kept)

    def clear(self) -> None:
        """Remove all of it."""
        shutil.rmtree(self.path, ignore_errors=True)
