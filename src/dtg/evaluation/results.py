"""Folders of results: numbers, tables and pictures of one evaluation in, files out; and back, to compare others with them.

    FOLDER/results.json    everything that a report needs
    FOLDER/results.md      the same for people
    FOLDER/*.csv           rows for one's own analysis
    FOLDER/*.svg, *.png    pictures, where matplotlib is there

The same results make the same files, byte by byte: there is no date in them, and no speed. What was computed on the way is kept
beside them (work.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dtg.errors import InputError, MissingExtraError
from dtg.evaluation.work import SETTINGS
from dtg.io.atomic import replacing
from dtg.io.json_files import FORMAT_VERSION
from dtg.tables.columns import Column, Row
from dtg.tables.formats import Encoder, format_of

RESULTS = "results.json"


def results_content(
    kind: str, settings: Mapping[str, Any], given: Mapping[str, Any], numbers: Mapping[str, Any]
) -> dict[str, Any]:
    """What results.json holds. `settings` decide the numbers; `given` says where things were and what they are called."""
    return {
        "format_version": FORMAT_VERSION,
        "kind": kind,
        "settings": dict(settings),
        "given": dict(given),
        "seconds": None,  # not known here: a run may be many runs, and the file is the same for all of them
        **numbers,
    }


def write_results(folder: Path, content: Mapping[str, Any]) -> None:
    """Write results.json. It comes last, and makes the folder a finished one."""
    write_text(folder / RESULTS, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a file whole, or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_rows(path: Path, columns: Sequence[Column], rows: Iterable[Row]) -> None:
    """Write a table, in the format that its name says."""
    encoder = Encoder(format_of(path), columns)
    with replacing(path) as temporary:
        temporary.write_bytes(encoder.header() + encoder.encode(list(rows)))


def draw_picture(folder: Path, name: str, draw: Callable[[Path], None]) -> bool:
    """Draw NAME.svg and NAME.png; false if matplotlib, which is an extra, is not there."""
    try:
        for suffix in (".svg", ".png"):
            draw(folder / f"{name}{suffix}")
    except MissingExtraError:
        return False
    return True


def read_results(folder: Path, kind: str) -> dict[str, Any]:
    """The numbers of a finished evaluation of this kind."""
    path = folder / RESULTS
    if not path.is_file():
        if (folder / SETTINGS).is_file():
            raise InputError(f"the results in {folder} are not finished: there is no {RESULTS} yet. Finish them first.")
        raise InputError(
            f"there are no results in {folder}: a folder that dtg evaluate {kind} --out has made is expected."
        )
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"cannot read {path}: {error}. Make it anew with dtg evaluate {kind}.") from None
    if not isinstance(content, dict) or content.get("format_version") != FORMAT_VERSION:
        raise InputError(f"{path} is not a file of results that this dtg reads (format_version {FORMAT_VERSION}).")
    if content.get("kind") != kind:
        raise InputError(f"{path} has results of dtg evaluate {content.get('kind')}, not of dtg evaluate {kind}.")
    return content
