"""What a corpus is made of: the treebanks and texts of each split in, where they lie and what identifies them out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dtg.errors import InputError
from dtg.text.arrays import file_hash
from dtg.trees import Skipped

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True, slots=True)
class ParsedText:
    """The treebank that the text of a split became, and what of the text was left out."""

    treebank: Path
    skipped: Sequence[Skipped]


@dataclass(frozen=True, slots=True)
class PlainText:
    """Text by split. `parse` makes treebanks of it, and is called only if they are needed; `settings` decide its trees.

    If `held_out`, no dev is given, and `parse` keeps a part of the training text for it.
    """

    files: Mapping[str, Sequence[Path]]
    settings: Mapping[str, Any]
    held_out: bool
    parse: Callable[[], Mapping[str, ParsedText]]


def describe_inputs(
    files: Mapping[str, Sequence[str | Path]], text: PlainText | None
) -> dict[str, list[dict[str, Any]]]:
    """Where the files of each split lie, treebanks before text, and their hashes; none, where dev is held out."""
    if unknown := sorted(set(files) - set(SPLITS)):
        raise InputError(f"there is no split called {unknown[0]!r}. Known: {', '.join(SPLITS)}.")
    texts = text.files if text else {}
    given = {split: [*files.get(split, ()), *texts.get(split, ())] for split in SPLITS}
    for split in ("train", "dev"):
        if not given[split] and not (split == "dev" and text and text.held_out):
            raise InputError(f"a corpus needs at least one file for {split}; give it with --{split} FILE.")
    paths = {split: [Path(path) for path in given[split]] for split in SPLITS if given[split] or split == "dev"}
    for path in (path for split in paths.values() for path in split):
        if not path.is_file():
            raise InputError(f"cannot read {path}: there is no such file.")
    return {
        split: [{"path": str(path), "bytes": path.stat().st_size, "sha256": file_hash(path)} for path in several]
        for split, several in paths.items()
    }
