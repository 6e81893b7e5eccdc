"""Text files as a dataset of Ray whose rows know the number of their line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dtg.errors import FileError, InputError, MissingExtraError
from dtg.io.text_files import check_is_file, unzipped
from dtg.tables.items import decoded

if TYPE_CHECKING:
    from ray.data import Dataset

ID = "sentence_id"


def read_lines(paths: str | Path | Sequence[str | Path], *, lines: int = 10_000) -> Dataset:
    """A dataset of the lines of text files that are not empty: `file`, `sentence_id` (the line's number) and `text`.

    Args:
        paths: the files, in UTF-8, which every machine sees. They are looked through once for line ends. A compressed file
            (.gz, .xz) is read by one worker.
        lines: that are read together.
    """
    check_ray()
    import ray.data

    several = [paths] if isinstance(paths, str | Path) else list(paths)
    pieces = [piece for path in several for piece in pieces_of(Path(path), lines)]
    if not pieces:
        raise InputError(f"{several[0] if several else 'the list of files'} has no lines.")
    return ray.data.from_items(pieces, override_num_blocks=len(pieces)).flat_map(lines_of, num_cpus=0)


def pieces_of(path: Path, lines: int) -> Iterator[dict[str, Any]]:
    """Where in a file every chunk of this many lines begins; a compressed file is one chunk."""
    check_is_file(path)
    with path.open("rb") as file:
        if unzipped(file) is not file:
            yield {"file": str(path), "start": 0, "line": 1, "lines": -1}
            return
        number = 1
        while True:
            start, count = file.tell(), sum(1 for _ in islice(iter(file.readline, b""), lines))
            if not count:
                return
            yield {"file": str(path), "start": start, "line": number, "lines": count}
            number += count


def lines_of(piece: dict[str, Any]) -> list[dict[str, Any]]:
    """The lines of a piece."""
    path, first, count = Path(piece["file"]), int(piece["line"]), int(piece["lines"])
    if not path.is_file():
        raise FileError(f"cannot read {path} on this machine; the files must be where every machine sees them.")
    with path.open("rb") as file:
        file.seek(piece["start"])
        source = unzipped(file) if count < 0 else file
        numbered = enumerate(islice(source, None if count < 0 else count), start=first)
        found = ((number, decoded(line, number, str(path))) for number, line in numbered)
        return [{"file": str(path), ID: number, "text": text} for number, text in found if text.strip()]


def check_ray() -> None:
    """Raise unless Ray Data is installed."""
    try:
        import ray.data  # noqa: F401
    except ImportError:
        raise MissingExtraError("ray", "ray", "sharing work on a cluster of Ray") from None
