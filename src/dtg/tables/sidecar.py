"""The sidecar file of a table, OUT.meta.json: how the table was made, what its columns mean, and how much is written.

The table itself is a plain rectangle; what a reader must know besides (the unit, the model, the beam) is here. An
interrupted run is resumed from here too: `progress` says up to where everything is on disk.

    {"format_version": 1, "finished": true,
     "settings": {"command": "surprisal", "dtg": "0.1.0", "unit": "bits", "beam": 300, ...},
     "given": {"model": "run/best", "input": "items.txt"},
     "columns": {"sentence_id": "the line of the input, from 1", ...},
     "progress": {"sentences": 64, "rows": 1210, "bytes": 180312, "input_sha256": "...", "sha256": "..."},
     "sha256": "..."}

`settings` decide the numbers, and a resumed run must have the same; `given` only has paths and names. The hashes are of what is
written: in `progress` of the rows so far, at the end of the finished file. Files from before there were hashes lack them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from dtg.errors import DamagedFileError, ResumeError
from dtg.io.atomic import replacing
from dtg.io.json_files import FORMAT_VERSION, json_text, read_json
from dtg.io.settings import describe_changes
from dtg.tables.columns import Column

HASH = {"sha256"}  # what files from before there were hashes lack


@dataclass(frozen=True, slots=True)
class ResumePoint:
    """What is safely in the table: whole sentences, up to a number of bytes; and hashes of their input and of those bytes."""

    sentences: int = 0
    rows: int = 0
    bytes: int = 0
    input_sha256: str = ""
    sha256: str = ""  # empty: not known


@dataclass(frozen=True, slots=True)
class Sidecar:
    """The content of the file beside a table."""

    settings: Mapping[str, Any]
    given: Mapping[str, Any]
    columns: Mapping[str, str]
    progress: ResumePoint = ResumePoint()
    finished: bool = False
    sha256: str = ""  # of the finished file; empty: not finished, or not known

    @classmethod
    def begin(cls, settings: Mapping[str, Any], given: Mapping[str, Any], columns: Sequence[Column]) -> Sidecar:
        """For a table that is to be written."""
        return cls(settings, given, {column.name: column.meaning for column in columns})

    def to_json(self) -> str:
        content = {
            "format_version": FORMAT_VERSION,
            "finished": self.finished,
            "settings": dict(self.settings),
            "given": dict(self.given),
            "columns": dict(self.columns),
            "progress": asdict(self.progress),
            "sha256": self.sha256,
        }
        return json_text(content)

    def save(self, path: Path) -> None:
        """Write the file atomically. It is written often: leftovers of killed processes are removed where tables are opened."""
        with replacing(path, clean=False) as temporary:
            temporary.write_text(self.to_json(), encoding="utf-8")

    def has_same_settings(self, other: Sidecar) -> bool:
        """Whether a run with the settings of `other` would write the same numbers."""
        return not describe_changes(self.settings, other.settings)

    def check_same_settings(self, other: Sidecar, path: Path) -> None:
        """Raise if a run with the settings of `other` would write other numbers into the table at `path`."""
        if differing := describe_changes(self.settings, other.settings):
            raise ResumeError(
                f"cannot resume: {path} was written with other settings.\n{differing}"
                "Give the same options again, write to another file, or pass --overwrite to start over."
            )


def sidecar_path(table: Path) -> Path:
    """OUT.meta.json for OUT."""
    return table.with_name(f"{table.name}.meta.json")


def read_sidecar(path: Path) -> Sidecar:
    """The file, checked."""
    advice = "Pass --overwrite to start over."
    content = read_json(path, advice)
    expected = {"format_version", *(field.name for field in fields(Sidecar))}
    if not isinstance(content, dict) or set(content) | HASH != expected:
        raise DamagedFileError(f"{path} is not a file that dtg writes beside a table.\n{advice}")
    if (version := content.pop("format_version")) != FORMAT_VERSION:
        raise DamagedFileError(f"{path} has format_version {version!r}; this dtg reads {FORMAT_VERSION}.\n{advice}")
    progress = content.pop("progress")
    if not isinstance(progress, dict) or set(progress) | HASH != {field.name for field in fields(ResumePoint)}:
        raise DamagedFileError(f"the progress in {path} is not what dtg writes.\n{advice}")
    check_types({**content, **progress}, path, advice)
    return Sidecar(**content, progress=ResumePoint(**progress))


def check_types(values: Mapping[str, Any], path: Path, advice: str) -> None:
    """Raise unless every value of a sidecar, and of its progress, is of its kind."""
    kinds: dict[str, type] = {"settings": dict, "given": dict, "columns": dict, "finished": bool}
    counts = ("sentences", "rows", "bytes")
    for name, value in values.items():
        kind = int if name in counts else kinds.get(name, str)
        if type(value) is not kind or (isinstance(value, int) and value < 0):
            raise DamagedFileError(f"{name} in {path} is {str(value)[:40]!r}, which dtg does not write.\n{advice}")
